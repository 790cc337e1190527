// Networks from elsewhere, with outputs computed elsewhere: imported, lowered, run on every backend, the small ones on the
// emulated Cortex-M4F too, through the tool as a user calls it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/real_models.h"

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

// Of the large ones two run here, with weights of their own, where more goes wrong; all of them in real_models_full_test.cc.
// Arena limits: the two largest tensors that any order of these networks has to hold at once.
constexpr ModelCase kModels[] = {
    {"kws_f32", false, "", "cortex-m4f", 64000, 24 * 1024 - 1},
    {"kws_f32_bn", false, "", "", 64000},
    {"vww_f32", false, "", "cortex-m4f", 221184},
    {"mnist_cntk", false, "", "cortex-m4f", 0},
    {"mnist_pytorch", false, "", "cortex-m4f", 0},
    {"light_shufflenet", true, "lcg", "", 0},
    {"light_squeezenet", false, "", "", 0},
    {"light_squeezenet", true, "lcg", "", 0},
};

/// The report in `project`: what lies in the arena is near the lower bound, and below `limit` where there is one.
void expect_small_arena(const std::filesystem::path& project, std::int64_t limit) {
  std::ifstream file(project / "report.json");
  const auto report = nlohmann::json::parse(file);
  const auto arena = report.at("arena_bytes").get<std::int64_t>(), bound = report.at("arena_lower_bound_bytes").get<std::int64_t>();
  EXPECT_LE(static_cast<double>(arena), 1.05 * static_cast<double>(bound));
  if (limit > 0) {
    EXPECT_LE(arena, limit);
  }
  EXPECT_GT(report.at("indices_proved").get<std::int64_t>(), 0);
}

class RealModel : public testing::TestWithParam<ModelCase> {};

TEST_P(RealModel, agrees_with_its_expected_outputs) {
  const ModelCase& row = GetParam();
  const auto folder = downloaded_model(row.name);
  if (!folder) GTEST_SKIP() << row.name << " is not there: set ETCH_MODELS to a folder of models that has it";
  const TempDir work("etch-models");
  const std::filesystem::path model = row.densify ? test::dense_model(*folder, work.path()) : *folder / "model.onnx";
  // All backends on the large ones are among the long tests.
  const bool is_large = std::string_view(row.name).starts_with("light_");
  const char* some = row.densify ? "interp,c,llvm" : "interp,c,opencl";
  const std::string data = (*folder / row.data).string(), out = (work.path() / "out").string();
  std::vector<std::string> args{"--backends", is_large ? some : "all", "--data", data};
  if (*row.target == 0) args.insert(args.end(), {"-o", out});
  auto json = test::validated(model, args);
  ASSERT_TRUE(json.at("ok"));
  EXPECT_GE(json.at("backends").size(), 2u) << "INTERP and C are always there";
  for (const auto& backend : json.at("backends")) EXPECT_TRUE(backend.at("ok")) << backend.dump();
  if (*row.target != 0) {
    const std::string first = first_data_set(*folder, work.path()).string();
    json = test::validated(model, {"--backends", "interp", "--data", first, "--target", row.target, "-o", out});
    ASSERT_TRUE(json.at("ok"));
  }
  if (*row.target != 0 && find_program("arm-none-eabi-gcc") && find_program("qemu-system-arm")) {
    const auto& target = json.at("target");
    EXPECT_TRUE(target.at("ok")) << target.dump();
    EXPECT_TRUE(target.at("heap_symbols").empty()) << target.dump();
    EXPECT_TRUE(target.at("soft_double_symbols").empty()) << target.dump();
    EXPECT_LE(target.at("code_bytes").get<std::int64_t>(), row.code_max);
    ASSERT_FALSE(target.at("stack_bound_bytes").is_null()) << target.dump();
    EXPECT_LE(target.at("stack_bytes").get<std::int64_t>(), target.at("stack_bound_bytes").get<std::int64_t>());
  }
  expect_small_arena(out, row.arena_max);
}

INSTANTIATE_TEST_SUITE_P(Downloaded, RealModel, testing::ValuesIn(kModels),
                         [](const auto& row) { return std::string(row.param.name) + (row.param.densify ? "_dense" : ""); });

// Networks of integers in the forms that exporters write: with float input and output, of operators that take integers, of unsigned bytes.
class IntegerModel : public testing::TestWithParam<const char*> {};

TEST_P(IntegerModel, equals_its_expected_outputs) { test::expect_every_bit(GetParam(), "interp,c,llvm"); }

INSTANTIATE_TEST_SUITE_P(Downloaded, IntegerModel, testing::Values("kws_int8_floatio", "kws_int8_qop", "kws_uint8"),
                         [](const auto& row) { return std::string(row.param); });

// Kernels for AVX-512, and the project that they are emitted in. The larger ones are among the long tests.
struct WideCase {
  const char* name;
  bool densify, is_exact;
};
void PrintTo(const WideCase& row, std::ostream* out) { *out << row.name; }

class RealModelOfWideVectors : public testing::TestWithParam<WideCase> {};

TEST_P(RealModelOfWideVectors, agrees_with_its_expected_outputs) {
  const WideCase& row = GetParam();
  const auto folder = downloaded_model(row.name);
  if (!folder) GTEST_SKIP() << row.name << " is not there: set ETCH_MODELS to a folder of models that has it";
  if (const std::string why = test::why_no_avx512(); !why.empty()) GTEST_SKIP() << why;
  const TempDir work("etch-models");
  const std::filesystem::path model = row.densify ? test::dense_model(*folder, work.path()) : *folder / "model.onnx";
  const std::filesystem::path data = row.densify ? *folder / "lcg" : first_data_set(*folder, work.path());
  const std::vector<std::string> options{"--backends", "c", "--target", "x86-64-v4", "--data", data.string()};
  const auto json = test::validated(model, row.is_exact ? test::exactly(options) : options);
  ASSERT_TRUE(json.at("ok"));
  EXPECT_TRUE(json.at("target").at("ok")) << json.at("target").dump();
}

constexpr WideCase kWide[] = {
    {"kws_f32", false, false},         {"vww_f32", false, false},         {"kws_int8_qop", false, true},
    {"light_shufflenet", true, false}, {"light_squeezenet", true, false},
};
INSTANTIATE_TEST_SUITE_P(Downloaded, RealModelOfWideVectors, testing::ValuesIn(kWide),
                         [](const auto& row) { return std::string(row.param.name); });

// Networks that are only compiled here: their memory where kernels have vectors. What they compute is among the long tests.
struct ArenaCase {
  const char* name;
  std::int64_t plain;  // bytes that they took without orders in memory, padded copies and kernels of several outputs
};
void PrintTo(const ArenaCase& row, std::ostream* out) { *out << row.name; }

class ArenaWithVectors : public testing::TestWithParam<ArenaCase> {};

/// What speed asks for may take a twentieth more; where RAM counts nothing takes more.
TEST_P(ArenaWithVectors, is_near_its_bound) {
  const auto folder = downloaded_model(GetParam().name);
  if (!folder) GTEST_SKIP() << GetParam().name << " is not there: set ETCH_MODELS to a folder of models that has it";
  const TempDir work("etch-models");
  const std::string model = (*folder / "model.onnx").string(), out = (work.path() / "out").string();
  for (const std::string first : {"speed", "ram"}) {
    SCOPED_TRACE(first);
    const ProcessResult result =
        etch_tool({"compile", model, "--target", "x86-64-v4", "--optimize", first, "--selftest", "checksum", "--no-measure", "-o", out});
    ASSERT_TRUE(result.ok()) << describe(result) << "\n" << result.err;
    expect_small_arena(out, first == "ram" ? GetParam().plain : GetParam().plain * 21 / 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Downloaded, ArenaWithVectors,
                         testing::Values(ArenaCase{"kws_f32", 64'000}, ArenaCase{"vww_f32", 221'184},
                                         ArenaCase{"light_bvlc_alexnet", 2'239'488}, ArenaCase{"light_inception_v1", 4'646'400},
                                         ArenaCase{"light_resnet50", 5'218'304}, ArenaCase{"light_shufflenet", 1'831'424},
                                         ArenaCase{"light_squeezenet", 3'928'576}, ArenaCase{"light_vgg19", 25'690'112},
                                         ArenaCase{"light_zfnet512", 9'124'608}, ArenaCase{"mnist_cntk", 31'360},
                                         ArenaCase{"mnist_pytorch", 512}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace etch
