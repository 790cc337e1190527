// Writing whole files, and recognizing Git LFS pointers.
#pragma once

#include <filesystem>
#include <string>

namespace etch {

/// Writes the file, in place of one that is there. UserError if that fails (no permission, a full disk).
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// UserError at `where` if `file` is a Git LFS pointer: the three lines of text that stand in a repository for a large file whose
/// content was not fetched. Any other file is accepted, also one that does not exist.
void refuse_lfs_pointer(const std::filesystem::path& file, const std::string& where);

}  // namespace etch
