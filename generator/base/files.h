// Reading and writing whole files, and recognizing Git LFS pointers.
#pragma once

#include <filesystem>
#include <string>

namespace etch {

/// The bytes of the file. UserError if it can't be read to its end, also if it is a folder.
std::string read_file(const std::filesystem::path& path);

/// Writes the file, in place of one that is there. UserError if that fails (no permission, a full disk).
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// The same, as a whole or not at all: if that fails, or is cut short, a file that is there stays as it is.
void replace_file(const std::filesystem::path& path, const std::string& bytes);

/// UserError if replace_file would fail now. Leaves nothing behind.
void require_replaceable(const std::filesystem::path& path, const std::string& bytes);

/// UserError at `where` if `file` is a Git LFS pointer: the three lines of text that stand in a repository for a large file whose
/// content was not fetched. Any other file is accepted, also one that does not exist.
void refuse_lfs_pointer(const std::filesystem::path& file, const std::string& where);

}  // namespace etch
