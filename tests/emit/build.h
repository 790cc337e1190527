// Building emitted projects with the compilers of this machine.
#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "emit/emit.h"
#include "emit/write.h"

namespace etch::test {

namespace fs = std::filesystem;

inline void put(const fs::path& dir, const std::vector<EmittedFile>& files) {
  fs::create_directories(dir);
  for (const EmittedFile& f : files) write_file(dir / f.name, f.text);
}

inline std::vector<std::string> split(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Runs a command in the folder.
inline ProcessResult run_in(const fs::path& dir, const std::string& command, const std::vector<std::string>& more = {},
                            const std::vector<EnvVar>& env = {}) {
  std::vector<std::string> argv = split(command);
  argv.insert(argv.end(), more.begin(), more.end());
  if (argv[0].find('/') != std::string::npos) argv[0] = (dir / argv[0]).string();
  ProcessOptions options;
  options.cwd = dir;
  options.env = env;
  return run_process(argv, options);
}

/// The names of the files with this extension, sorted.
inline std::vector<std::string> files_with(const fs::path& dir, const std::string& extension) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == extension) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> c_files(const fs::path& dir) { return files_with(dir, ".c"); }

/// Those that a C compiler gets: with the assembler file of the weights, if there is one.
inline std::vector<std::string> c_sources(const fs::path& dir) {
  std::vector<std::string> names = c_files(dir);
  for (std::string& name : files_with(dir, ".S")) names.push_back(std::move(name));
  return names;
}

}  // namespace etch::test
