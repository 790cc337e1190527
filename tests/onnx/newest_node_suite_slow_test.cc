// The operator tests of the newest opsets, interpreted: as they are or, if an operator needs constants, with their inputs frozen.
#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "support/node_suite.h"
#include "support/node_tests.h"

namespace etch {
namespace {

TEST(NewestNodeSuite, NothingFailsAndNoneMoreIsRefused) {
  const TempDir work("etch-node-tests");
  const test::NodeTests tests = test::make_node_tests(work.path());
  if (!tests.skipped.empty()) GTEST_SKIP() << tests.skipped;
  ASSERT_EQ(tests.error, "");
  const auto folders = test::node_suite_folders(tests.dir);
  EXPECT_EQ(folders.size(), 1884u);
  EXPECT_EQ(test::run_node_cases(folders, std::filesystem::path(ETCH_BUILD_DIR) / "newest_node_suite.txt", 2), 1386);
}

}  // namespace
}  // namespace etch
