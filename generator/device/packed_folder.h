// The files of a folder as one text, so that a cache can keep them as one entry.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace etch {

/// Paths of all files below `dir`, relative to it.
std::set<std::string> files_below(const std::filesystem::path& dir);
/// These files of `dir` with their contents. One that is gone meanwhile is left out.
std::string pack_files(const std::filesystem::path& dir, const std::set<std::string>& files);
/// Writes them into `dir`. A file that is there stays as it is. What can't be written is left out, and so is all behind a text that
/// is not of pack_files.
void unpack_files(const std::string& packed, const std::filesystem::path& dir);

}  // namespace etch
