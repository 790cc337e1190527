// Real networks on every emulated target, compared with outputs that come with them: with ./dev test --full.
#include "boards.h"

namespace etch {
namespace {

class RealModelOnBoard : public testing::TestWithParam<std::tuple<test::BoardRow, const char*>> {};

TEST_P(RealModelOnBoard, GivesTheOutputsThatComeWithIt) {
  const auto& [row, name] = GetParam();
  const Target target = test::board_target(row.target);
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const auto folder = downloaded_model(name);
  if (!folder) GTEST_SKIP() << name << " is not there: set ETCH_MODELS to a folder of models that has it";
  test::expect_valid_on(target, (*folder / "model.onnx").string(), folder->string());
}

INSTANTIATE_TEST_SUITE_P(Bundled, RealModelOnBoard,
                         testing::Combine(testing::ValuesIn(test::large_boards()), testing::Values("kws_f32", "kws_int8")),
                         [](const auto& row) {
                           std::string name = std::get<0>(row.param).target + std::string("_") + std::get<1>(row.param);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace etch
