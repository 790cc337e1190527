// Running the tool as a user does, and finding the downloaded models that some tests use.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"

namespace etch {

/// Runs build/etch with these arguments.
inline ProcessResult etch_tool(std::vector<std::string> args, double timeout_s = 600) {
  args.insert(args.begin(), ETCH_BUILD_DIR "/etch");
  ProcessOptions options;
  options.timeout_s = timeout_s;
  return run_process(args, options);
}

/// Runs build/etch-zoo: writes a model of models/, or a dense version of a light one.
inline ProcessResult zoo_tool(std::vector<std::string> args) {
  args.insert(args.begin(), ETCH_BUILD_DIR "/etch-zoo");
  return run_process(args);
}

/// The folder of downloaded models ($ETCH_MODELS), if it is there and holds `name`.
inline std::optional<std::filesystem::path> downloaded_model(const std::string& name) {
  const char* dir = std::getenv("ETCH_MODELS");
  if (dir == nullptr || !std::filesystem::exists(std::filesystem::path(dir) / name / "model.onnx")) return std::nullopt;
  return std::filesystem::path(dir) / name;
}

/// A folder below `work` that holds only the first data set of `model`, for what does not depend on the numbers: a project is compiled,
/// built and run anew for each set.
inline std::filesystem::path first_data_set(const std::filesystem::path& model, const std::filesystem::path& work) {
  const std::filesystem::path folder = work / "first_data_set";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink(model / "test_data_set_0", folder / "test_data_set_0");
  return folder;
}

}  // namespace etch
