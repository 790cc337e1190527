// A small network on every emulated target.
#include "boards.h"
#include "support/made_once.h"
#include "support/quantised_mlp.h"

namespace etch {
namespace {

class EveryBoard : public testing::TestWithParam<test::BoardRow> {};

TEST_P(EveryBoard, ASmallNetworkGivesItsOutputs) {
  const Target target = test::board_target(GetParam().target);
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  if (!GetParam().is_small) return test::expect_valid_on(target, test::zoo_model("mlp").string());
  const TempDir temp;
  const std::string model = test::quantised_mlp(temp.path());
  test::expect_valid_on(target, model, temp.path().string(), {"--rtol", "0", "--atol", "0"});
}

INSTANTIATE_TEST_SUITE_P(Bundled, EveryBoard, testing::ValuesIn(test::kBoards), test::BoardName());

// A target with an emulator has a row in the table.
TEST(Boards, AreAllTested) {
  std::vector<std::string> emulated, tested;
  for (const std::string& name : target_names(std::filesystem::path(ETCH_SOURCE_DIR) / "targets"))
    if (!test::board_target(name).is_host()) emulated.push_back(name);
  for (const test::BoardRow& row : test::kBoards) tested.emplace_back(row.target);
  std::ranges::sort(tested);
  EXPECT_EQ(emulated, tested);
}

}  // namespace
}  // namespace etch
