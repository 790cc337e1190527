// The large networks on every backend, also where CUDA runs on the processor: with ./dev test --full.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/tempdir.h"
#include "support/real_models.h"

namespace etch {
namespace {

class LargeModel : public testing::TestWithParam<const char*> {};

TEST_P(LargeModel, IsRightOnEveryBackend) {
  const auto folder = downloaded_model(GetParam());
  if (!folder) GTEST_SKIP() << GetParam() << " is not there: set ETCH_MODELS to a folder of models that has it";
  EXPECT_TRUE(test::validated(*folder / "model.onnx", {"--backends", "all", "--data", folder->string()}).at("ok"));
}

INSTANTIATE_TEST_SUITE_P(Downloaded, LargeModel,
                         testing::Values("light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_shufflenet",
                                         "light_squeezenet", "light_vgg19", "light_zfnet512"),
                         [](const auto& row) { return std::string(row.param); });

// Networks of integers: every bit of outputs that were computed elsewhere.
class IntegerModel : public testing::TestWithParam<const char*> {};

TEST_P(IntegerModel, IsTheSameOnEveryBackend) { test::expect_every_bit(GetParam(), "all"); }

INSTANTIATE_TEST_SUITE_P(Downloaded, IntegerModel,
                         testing::Values("kws_int8", "kws_int8_floatio", "kws_int8_qop", "kws_uint8", "vww_int8", "vww_int8_qop"),
                         [](const auto& row) { return std::string(row.param); });

// With weights of their own; those of ShuffleNet and SqueezeNet are among the slow tests.
struct DenseCase {
  const char* name;
  std::vector<std::string> options;
};
void PrintTo(const DenseCase& row, std::ostream* out) { *out << row.name; }

class DenseModel : public testing::TestWithParam<DenseCase> {};

TEST_P(DenseModel, AgreesWithItsExpectedOutputs) {
  const DenseCase& row = GetParam();
  const auto folder = downloaded_model(row.name);
  if (!folder) GTEST_SKIP() << row.name << " is not there: set ETCH_MODELS to a folder of models that has it";
  const bool is_wide = std::ranges::find(row.options, "x86-64-v4") != row.options.end();
  if (const std::string why = is_wide ? test::why_no_avx512() : ""; !why.empty()) GTEST_SKIP() << why;
  const TempDir work("etch-models");
  std::vector<std::string> options{"--data", (*folder / "lcg").string()};
  options.insert(options.end(), row.options.begin(), row.options.end());
  const auto json = test::validated(test::dense_model(*folder, work.path()), options);
  ASSERT_TRUE(json.at("ok"));
  EXPECT_EQ(json.contains("target"), is_wide);
}

const std::vector<const char*> kDense{"light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_vgg19", "light_zfnet512"};

/// All of them with these options.
std::vector<DenseCase> dense_with(const std::vector<std::string>& options) {
  std::vector<DenseCase> rows;
  for (const char* name : kDense) rows.push_back({name, options});
  return rows;
}
std::string name_of_dense(const testing::TestParamInfo<DenseCase>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Downloaded, DenseModel, testing::ValuesIn(dense_with({"--backends", "interp,c,llvm"})), name_of_dense);
INSTANTIATE_TEST_SUITE_P(DownloadedWithAvx512, DenseModel, testing::ValuesIn(dense_with({"--backends", "c,llvm", "--target", "x86-64-v4"})),
                         name_of_dense);
INSTANTIATE_TEST_SUITE_P(DownloadedForWorkers, DenseModel,
                         testing::Values(DenseCase{"light_resnet50", {"--backends", "c,llvm", "--workers", "2"}}), name_of_dense);

}  // namespace
}  // namespace etch
