// Emitted projects for the first of the boards; and descriptions of the user's own.
#include "projects.h"

namespace etch {
namespace {

INSTANTIATE_TEST_SUITE_P(First, Board, testing::ValuesIn(test::first_board()), test::BoardName());
INSTANTIATE_TEST_SUITE_P(First, BoardMemory, testing::ValuesIn(test::first_board()), test::BoardName());

TEST(Targets, OwnOnesAreListedBeforeTheBundledOnes) {
  const TempDir own;
  const std::string host = test::content(kSource / "targets/host.xml");
  std::ofstream(own.path() / "host.xml") << host;
  std::string board = host;
  board.replace(board.find("name=\"host\""), 11, "name=\"board\"");
  std::ofstream(own.path() / "board.xml") << board;
  const ProcessResult listed = etch_tool({"targets", "--targets-dir", own.path().string()});
  ASSERT_TRUE(listed.ok()) << listed.err;
  const std::size_t mine = listed.out.find("board "), bundled = listed.out.find("cortex-m4f ");
  EXPECT_LT(mine, bundled);
  EXPECT_NE(bundled, std::string::npos);
  EXPECT_NE(listed.out.find((own.path() / "host.xml").string() + " is used, "), std::string::npos) << listed.out;
  EXPECT_FALSE(etch_tool({"targets", "--targets-dir", (own.path() / "absent").string()}).ok());
}

}  // namespace
}  // namespace etch
