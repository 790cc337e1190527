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

// A script that finds every program but QEMU.
TEST(Targets, WithoutQemuNoProgramIsRunByIt) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  const auto emulator = [&](const std::string& path) {
    std::ofstream(temp.path() / "find.cmake") << "function(find_program name)\n  set(${name} ${name}-NOTFOUND PARENT_SCOPE)\n"
                                                 "  if(name STREQUAL ETCH_QEMU)\n    set(${name} " +
                                                     path +
                                                     " PARENT_SCOPE)\n  endif()\nendfunction()\n"
                                                     "include(" +
                                                     (kSource / "toolchains/clang-aarch64-linux-gnu.cmake").string() +
                                                     ")\n"
                                                     "message(\"runs by '${CMAKE_CROSSCOMPILING_EMULATOR}'\")\n";
    const ProcessResult ran = run_in(temp.path(), {"cmake", "-P", "find.cmake"});
    EXPECT_TRUE(ran.ok()) << ran.err;
    return ran.err;
  };
  EXPECT_EQ(emulator("ETCH_QEMU-NOTFOUND"), "runs by ''\n");
  EXPECT_EQ(emulator("/opt/qemu-aarch64"), "runs by '/opt/qemu-aarch64;-cpu;cortex-a76'\n");
}

}  // namespace
}  // namespace etch
