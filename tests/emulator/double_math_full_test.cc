// The other boards' C libraries: with ./dev test --full.
#include "double_math.h"
#include "support/boards.h"

namespace etch {
namespace {

class DoubleMath : public testing::TestWithParam<test::BoardRow> {};

TEST_P(DoubleMath, IsAsTheTargetSays) {
  const Target target = test::board_target(GetParam().target);
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  test::expect_double_math_as_said(target);
}

INSTANTIATE_TEST_SUITE_P(Others, DoubleMath, testing::ValuesIn(test::other_boards()), test::BoardName());

}  // namespace
}  // namespace etch
