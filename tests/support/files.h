// For tests: the content of files and folders.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace etch::test {

/// All bytes of the file; empty if it can't be read.
inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The files of `dir` by name.
inline std::map<std::string, std::string> folder_content(const std::filesystem::path& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) files[entry.path().filename().string()] = content(entry.path());
  return files;
}

}  // namespace etch::test
