// The ONNX backend's node tests: every folder is imported and interpreted. What is refused must be refused by a UserError;
// nothing may come out wrong.
#include "support/node_suite.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(NodeSuite, NothingFailsAndMostPass) {
  const auto folders = test::node_suite_folders();
  if (folders.empty()) GTEST_SKIP() << "package libonnx-testdata is not installed";
  EXPECT_GE(test::run_node_cases(folders, std::filesystem::path(ETCH_BUILD_DIR) / "node_suite.txt"), 820);
}

}  // namespace
}  // namespace etch
