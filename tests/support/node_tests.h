// The operator tests that the Python package onnx makes, of its newest opsets: 1884 folders of onnx 1.23.2.
#pragma once

#include <filesystem>
#include <string>

#include "base/process.h"

namespace etch::test {

/// Writes them to `dir`/node. Not empty: why they can't be had (the test is to be skipped) or what went wrong.
struct NodeTests {
  std::filesystem::path dir;
  std::string skipped, error;
};
inline NodeTests make_node_tests(const std::filesystem::path& dir) {
  ProcessOptions options;
  options.timeout_s = 600;
  const ProcessResult made = run_process({ETCH_SOURCE_DIR "/tests/fuzz/in_venv", "../onnx/node_tests.py", dir.string()}, options);
  if (made.exit_code == 77) return {dir / "node", made.out, ""};
  return {dir / "node", "", made.ok() ? "" : "node_tests.py: " + describe(made) + ": " + made.err};
}

}  // namespace etch::test
