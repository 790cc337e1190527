// What several tests use is made once: each test is a process of its own, so it lies in the build folder. Nothing in it may be changed.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/tool.h"

namespace etch::test {

/// tests/made/`name` of the build folder, written by `make` unless it is as new as the programs that it comes from.
inline std::filesystem::path made_once(const std::string& name, const std::function<ProcessResult(const std::filesystem::path&)>& make) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(ETCH_BUILD_DIR) / "tests/made", result = folder / name, unfinished = folder / ("unfinished_" + name);
  fs::create_directories(folder);
  const fs::path lock_file = folder / ("." + name + ".lock");  // of its own: tests that want something else do not wait
  const int lock = open(lock_file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) throw std::runtime_error(lock_file.string() + " can't be locked");
  const auto is_new = [&] {
    if (!fs::exists(result)) return false;
    const auto made = fs::last_write_time(result);
    return made > fs::last_write_time(ETCH_BUILD_DIR "/etch") && made > fs::last_write_time(ETCH_BUILD_DIR "/etch-zoo");
  };
  std::string problem;
  if (!is_new()) {
    fs::remove_all(result);
    fs::remove_all(unfinished);
    const ProcessResult made = make(unfinished);
    if (made.ok())
      fs::rename(unfinished, result);
    else
      problem = describe(made) + ": " + made.err;
  }
  close(lock);
  if (!problem.empty()) throw std::runtime_error(name + ": " + problem);
  return result;
}

/// A model of models/ as a file.
inline std::filesystem::path zoo_model(const std::string& name) {
  return made_once(name + ".onnx", [&](const auto& path) { return zoo_tool({name, path.string()}); });
}

/// The same in int8.
inline std::filesystem::path quantised_zoo_model(const std::string& name) {
  return made_once(name + "_int8.onnx", [&](const auto& path) { return zoo_tool({"quantised", name, path.string()}); });
}

/// The project of a model of models/ for `target`, compiled with further options.
inline std::filesystem::path zoo_project(const std::string& name, const std::string& target, const std::vector<std::string>& options = {}) {
  const std::string model = zoo_model(name).string();
  std::string folder = name + "_" + target;
  for (const std::string& option : options) folder += "_" + option;
  return made_once(folder, [&](const auto& path) {
    std::vector<std::string> args{"compile", model, "--name", name, "--target", target, "-o", path.string()};
    args.insert(args.end(), options.begin(), options.end());
    return etch_tool(args);
  });
}

}  // namespace etch::test
