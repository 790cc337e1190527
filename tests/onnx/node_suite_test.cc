// The ONNX backend's node tests: every folder is imported and interpreted. What is refused must be refused by a UserError;
// nothing may come out wrong.
#include "support/node_suite.h"

#include <gtest/gtest.h>

#include <iostream>

namespace etch {
namespace {

struct Outcome {
  enum Kind { Passed, Refused, Failed } kind;
  std::string text;
};

Outcome run_folder(const std::filesystem::path& folder) {
  try {
    const test::NodeCase c = test::import_node_case(folder);
    for (std::size_t set = 0; set < c.inputs.size(); ++set) {
      const std::string difference = test::node_case_difference(test::evaluate_model(c.model, c.inputs[set]), c.wanted[set]);
      if (!difference.empty()) return {Outcome::Failed, difference};
    }
    return {Outcome::Passed, ""};
  } catch (const UserError& error) {
    return {Outcome::Refused, error.problem()};
  } catch (const std::exception& error) {
    return {Outcome::Failed, error.what()};
  }
}

TEST(NodeSuite, NothingFailsAndMostPass) {
  const auto folders = test::node_suite_folders();
  if (folders.empty()) GTEST_SKIP() << "package libonnx-testdata is not installed";
  std::ofstream table(std::filesystem::path(ETCH_BUILD_DIR) / "node_suite.txt");  // all outcomes, for reading
  int passed = 0, refused = 0;
  for (const std::filesystem::path& folder : folders) {
    const Outcome outcome = run_folder(folder);
    const char* names[] = {"passed", "refused", "FAILED"};
    table << names[outcome.kind] << " " << folder.filename().string() << ": " << outcome.text << std::endl;
    passed += outcome.kind == Outcome::Passed;
    refused += outcome.kind == Outcome::Refused;
    if (outcome.kind == Outcome::Failed) ADD_FAILURE() << folder.filename().string() << ": " << outcome.text;
  }
  std::cout << passed << " passed, " << refused << " refused, of " << folders.size() << "\n";
  EXPECT_GE(passed, 820);
}

}  // namespace
}  // namespace etch
