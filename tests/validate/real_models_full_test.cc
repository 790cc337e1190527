// The large networks on every backend, also where CUDA runs on the processor: with ./dev test --full.
#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "support/tool.h"

namespace etch {
namespace {

class LargeModel : public testing::TestWithParam<const char*> {};

TEST_P(LargeModel, IsRightOnEveryBackend) {
  const auto folder = downloaded_model(GetParam());
  if (!folder) GTEST_SKIP() << GetParam() << " is not there: set ETCH_MODELS to a folder of models that has it";
  const ProcessResult result = etch_tool({"validate", (*folder / "model.onnx").string(), "--backends", "all", "--data", folder->string()});
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err << "\n" << result.out;
}

INSTANTIATE_TEST_SUITE_P(Downloaded, LargeModel,
                         testing::Values("light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_shufflenet",
                                         "light_squeezenet", "light_vgg19", "light_zfnet512"),
                         [](const auto& row) { return std::string(row.param); });

// With weights of their own; those of ShuffleNet and SqueezeNet are among the slow tests.
class DenseModel : public testing::TestWithParam<const char*> {};

TEST_P(DenseModel, AgreesWithItsExpectedOutputs) {
  const auto folder = downloaded_model(GetParam());
  if (!folder) GTEST_SKIP() << GetParam() << " is not there: set ETCH_MODELS to a folder of models that has it";
  const TempDir work("etch-models");
  const std::filesystem::path dense = work.path() / "dense.onnx";
  const ProcessResult made = zoo_tool({"densify", (*folder / "model.onnx").string(), dense.string()});
  ASSERT_TRUE(made.ok()) << describe(made) << "\n" << made.err;
  const ProcessResult result = etch_tool({"validate", dense.string(), "--backends", "interp,c,llvm", "--data", (*folder / "lcg").string()});
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err << "\n" << result.out;
}

INSTANTIATE_TEST_SUITE_P(Downloaded, DenseModel,
                         testing::Values("light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_vgg19", "light_zfnet512"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace etch
