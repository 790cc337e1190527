// Integer networks on cores without instructions for them: what they need on the stack beside the arena.
#include "base/tempdir.h"
#include "boards.h"

namespace etch {
namespace {

struct StackCase {
  const char *target, *model, *optimize;
};
void PrintTo(const StackCase& row, std::ostream* out) { *out << row.target << " " << row.model << " " << row.optimize; }

class StackOnBoard : public testing::TestWithParam<StackCase> {};

TEST_P(StackOnBoard, IsBelow512Bytes) {
  const StackCase& row = GetParam();
  if (const std::string why = test::missing_tools(test::board_target(row.target)); !why.empty()) GTEST_SKIP() << why;
  const auto folder = downloaded_model(row.model);
  if (!folder) GTEST_SKIP() << row.model << " is not there: set ETCH_MODELS to a folder of models that has it";
  const TempDir work("etch-stack");
  const ProcessResult result =
      etch_tool({"validate", (*folder / "model.onnx").string(), "--data", first_data_set(*folder, work.path()).string(), "--target",
                 row.target, "--optimize", row.optimize, "--backends", "interp", "--json"});
  ASSERT_TRUE(result.ok()) << describe(result) << "\n" << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json.at("ok"));
  EXPECT_LT(json.at("target").at("stack_bytes").get<std::int64_t>(), 512) << json.at("target").dump();
}

// Of each target the cases with the largest frames.
constexpr StackCase kStacks[] = {
    {"cortex-m0plus", "kws_int8", "speed"}, {"cortex-m0plus", "kws_int8", "flash"}, {"cortex-m0plus", "vww_int8", "flash"},
    {"cortex-m0plus", "vww_int8", "ram"},   {"rv32imc", "kws_int8", "flash"},       {"rv32imc", "vww_int8", "flash"},
    {"cortex-a55", "vww_int8", "speed"},
};
INSTANTIATE_TEST_SUITE_P(Bundled, StackOnBoard, testing::ValuesIn(kStacks), [](const auto& row) {
  std::string name = row.param.target + std::string("_") + row.param.model + "_" + row.param.optimize;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace etch
