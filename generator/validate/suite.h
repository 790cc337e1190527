// Runs many models with test data: every folder that has model.onnx and test_data_set_N.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "driver/compile.h"
#include "validate/compare.h"

namespace etch {

struct SuiteCase {
  std::string name;  // folder, relative to the suite's
  enum class Verdict { Passed, Failed, Skipped } verdict = Verdict::Passed;
  std::string text;   // why it failed; what is not supported
  std::string error;  // of a model that is not supported: the whole message, with the place and what to do
};

struct SuiteResult {
  std::vector<SuiteCase> cases;  // sorted by name
  int passed = 0, failed = 0, skipped = 0;
};

/// Imports, lowers and runs each model on each device and compares with its expected outputs. A model with an operator or type
/// that is not supported is skipped; any other error is a failure. Throws UserError if `dir` holds no such folder.
SuiteResult run_suite(const std::filesystem::path& dir, const std::vector<std::unique_ptr<Device>>& devices, const CompileOptions& options,
                      const Tolerance& tolerance);

/// What is not supported, each with its number of models, then the failures.
std::string to_text(const SuiteResult& result);

}  // namespace etch
