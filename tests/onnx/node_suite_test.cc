// The ONNX backend's node tests: every folder is imported and interpreted. A model that is not accepted must give a UserError; a
// wrong result is always a failure.
#include "support/node_suite.h"

#include <gtest/gtest.h>

#include "support/needs.h"

namespace etch {
namespace {

TEST(NodeSuite, NothingFailsAndNoneMoreIsRefused) {
  const auto folders = test::node_suite_folders();
  if (const std::string why = test::missing_package("libonnx-testdata", test::kNodeSuite); !why.empty()) GTEST_SKIP() << why;
  const int passed = test::run_node_cases(folders, std::filesystem::path(ETCH_BUILD_DIR) / "node_suite.txt");
  if (folders.size() == test::kNodeSuiteFolders)
    EXPECT_EQ(passed, test::kNodeSuitePassed) << "node_suite.txt in the build folder says which";
  else
    EXPECT_GE(passed, 800) << "of another version of the package";
}

}  // namespace
}  // namespace etch
