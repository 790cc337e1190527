// The operator tests of the newest opsets, which the Python package onnx generates: 1884 folders with onnx 1.23.2.
#pragma once

#include <filesystem>
#include <string>

#include "base/process.h"

namespace etch::test {

struct NodeTests {
  std::filesystem::path dir;
  std::string skipped, error;  // why the tests are not available (the test is to be skipped); what went wrong
};
/// Writes the tests to `dir`/node.
inline NodeTests make_node_tests(const std::filesystem::path& dir) {
  ProcessOptions options;
  options.timeout_s = 600;
  const ProcessResult made = run_process({ETCH_SOURCE_DIR "/tests/fuzz/in_venv", "../onnx/node_tests.py", dir.string()}, options);
  if (made.exit_code == 77) return {dir / "node", made.out, ""};
  return {dir / "node", "", made.ok() ? "" : "node_tests.py: " + describe(made) + ": " + made.err};
}

}  // namespace etch::test
