// For tests: networks from elsewhere with outputs computed elsewhere, through the tool as a user calls it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulator/processor.h"
#include "support/instructions.h"
#include "support/tool.h"

namespace etch::test {

/// Where weights of a "light" model are one value, no wrong index shows: this one has weights of its own. A file below `work`.
inline std::filesystem::path dense_model(const std::filesystem::path& folder, const std::filesystem::path& work) {
  const std::filesystem::path dense = work / (folder.filename().string() + ".onnx");
  const ProcessResult made = zoo_tool({"densify", (folder / "model.onnx").string(), dense.string()});
  EXPECT_TRUE(made.ok()) << describe(made) << "\n" << made.err;
  return dense;
}

/// What `etch validate MODEL --json` prints with these options; a failure, and an object whose "ok" is false, where it finds a difference.
inline nlohmann::json validated(const std::filesystem::path& model, const std::vector<std::string>& options) {
  std::vector<std::string> args{"validate", model.string(), "--json"};
  args.insert(args.end(), options.begin(), options.end());
  const ProcessResult result = etch_tool(args);
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err << "\n" << result.out;
  return result.ok() ? nlohmann::json::parse(result.out) : nlohmann::json{{"ok", false}};
}

/// For outputs of integers, or computed from these alone: every bit counts.
inline std::vector<std::string> exactly(std::vector<std::string> options) {
  options.insert(options.end(), {"--rtol", "0", "--atol", "0"});
  return options;
}

/// A network of integers on these backends: every bit of outputs that were computed elsewhere.
inline void expect_every_bit(const std::string& name, const std::string& backends) {
  const auto folder = downloaded_model(name);
  if (!folder) GTEST_SKIP() << name << " is not there: set ETCH_MODELS to a folder of models that has it";
  const auto json = validated(*folder / "model.onnx", exactly({"--backends", backends, "--data", folder->string()}));
  EXPECT_TRUE(json.at("ok"));
  EXPECT_GE(json.value("backends", nlohmann::json::array()).size(), 3u) << "INTERP, C and LLVM are always there";
}

/// Why code with vectors of 512 bits can't run here: one line; empty if it can.
inline std::string why_no_avx512() {
  std::string why;
  return can_run_here(target_named("x86-64-v4"), &why) ? "" : "target x86-64-v4: " + why;
}

}  // namespace etch::test
