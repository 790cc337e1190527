// Whole files at once.
#pragma once

#include <filesystem>
#include <string>

namespace etch {

/// Writes one file whole; a UserError if that fails (no right, a full disk).
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// A UserError at `where` if `file` is a Git LFS pointer: the three lines of text that stand in a repository for a large file
/// whose content was not fetched. Nothing else is said about the file, nor that it is not there.
void refuse_lfs_pointer(const std::filesystem::path& file, const std::string& where);

}  // namespace etch
