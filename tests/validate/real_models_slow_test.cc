// Networks from elsewhere, with outputs computed elsewhere: imported, lowered, run on every backend, the small ones on the
// emulated Cortex-M4F too, through the tool as a user calls it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/tool.h"

namespace etch {
namespace {

struct ModelCase {
  const char* name;
  bool densify;                       // a "light" model given pseudo-random weights
  const char* data;                   // folder of the test data, below the model's
  const char* target;                 // emulated target, or ""
  std::int64_t arena_max;             // bytes, without inputs and outputs; 0: no limit was set
  std::int64_t code_max = 64 * 1024;  // bytes of flash on the target, without weights and C library
};
void PrintTo(const ModelCase& row, std::ostream* out) { *out << row.name; }

// Most of the large ones run here only with weights of their own, where more goes wrong; as they are, and the two largest, in
// real_models_full_test.cc.
// Arena limits: the two largest tensors that any order of these networks has to hold at once.
constexpr ModelCase kModels[] = {
    {"kws_f32", false, "", "cortex-m4f", 64000, 24 * 1024 - 1},
    {"kws_f32_bn", false, "", "", 64000},
    {"vww_f32", false, "", "cortex-m4f", 221184},
    {"mnist_cntk", false, "", "cortex-m4f", 0},
    {"mnist_pytorch", false, "", "cortex-m4f", 0},
    {"light_bvlc_alexnet", true, "lcg", "", 0},
    {"light_inception_v1", true, "lcg", "", 0},
    {"light_resnet50", true, "lcg", "", 7300000},
    {"light_shufflenet", true, "lcg", "", 0},
    {"light_squeezenet", false, "", "", 0},
    {"light_squeezenet", true, "lcg", "", 0},
};

class RealModel : public testing::TestWithParam<ModelCase> {};

TEST_P(RealModel, agrees_with_its_expected_outputs) {
  const ModelCase& row = GetParam();
  const auto folder = downloaded_model(row.name);
  if (!folder) GTEST_SKIP() << row.name << " is not there: set ETCH_MODELS to a folder of models that has it";
  const TempDir work("etch-models");
  std::filesystem::path model = *folder / "model.onnx";
  if (row.densify) {
    const std::filesystem::path dense = work.path() / (std::string(row.name) + ".onnx");
    const ProcessResult made = zoo_tool({"densify", model.string(), dense.string()});
    ASSERT_TRUE(made.ok()) << describe(made) << "\n" << made.err;
    model = dense;
  }
  // All backends on the large ones are among the long tests.
  const bool is_large = std::string_view(row.name).starts_with("light_");
  const char* some = row.densify ? "interp,c,llvm" : "interp,c,opencl";
  std::vector<std::string> args{"validate",
                                model.string(),
                                "--backends",
                                is_large ? some : "all",
                                "--data",
                                (*folder / row.data).string(),
                                "--json",
                                "-o",
                                (work.path() / "out").string()};
  if (*row.target != 0) args.insert(args.end(), {"--target", row.target});
  const ProcessResult result = etch_tool(args);
  ASSERT_TRUE(result.ok()) << describe(result) << "\n" << result.err << "\n" << result.out;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json.at("ok"));
  EXPECT_GE(json.at("backends").size(), 2u) << "INTERP and C are always there";
  for (const auto& backend : json.at("backends")) EXPECT_TRUE(backend.at("ok")) << backend.dump();
  if (*row.target != 0 && find_program("arm-none-eabi-gcc") && find_program("qemu-system-arm")) {
    ASSERT_TRUE(json.contains("target")) << result.out;
    EXPECT_TRUE(json.at("target").at("ok")) << json.at("target").dump();
    EXPECT_TRUE(json.at("target").at("heap_symbols").empty()) << json.at("target").dump();
    EXPECT_TRUE(json.at("target").at("soft_double_symbols").empty()) << json.at("target").dump();
    EXPECT_LE(json.at("target").at("code_bytes").get<std::int64_t>(), row.code_max);
    ASSERT_FALSE(json.at("target").at("stack_bound_bytes").is_null()) << json.at("target").dump();
    EXPECT_LE(json.at("target").at("stack_bytes").get<std::int64_t>(), json.at("target").at("stack_bound_bytes").get<std::int64_t>());
  }
  std::ifstream file(work.path() / "out" / "report.json");
  const auto report = nlohmann::json::parse(file);
  const auto arena = report.at("arena_bytes").get<std::int64_t>(), bound = report.at("arena_lower_bound_bytes").get<std::int64_t>();
  EXPECT_LE(static_cast<double>(arena), 1.05 * static_cast<double>(bound));
  if (row.arena_max > 0) {
    EXPECT_LE(arena, row.arena_max);
  }
  EXPECT_GT(report.at("indices_proved").get<std::int64_t>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Downloaded, RealModel, testing::ValuesIn(kModels),
                         [](const auto& row) { return std::string(row.param.name) + (row.param.densify ? "_dense" : ""); });

}  // namespace
}  // namespace etch
