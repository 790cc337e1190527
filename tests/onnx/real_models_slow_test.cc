// Real networks with their expected outputs, where they are: cmake -DETCH_MODELS=FOLDER names the folder.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/evaluate.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

#ifdef ETCH_MODELS
constexpr const char* kModels = ETCH_MODELS;
#else
constexpr const char* kModels = "";
#endif

class RealModel : public testing::TestWithParam<const char*> {};

TEST_P(RealModel, GivesItsExpectedOutputs) {
  const fs::path folder = fs::path(kModels) / GetParam();
  if (!fs::exists(folder / "model.onnx")) GTEST_SKIP() << "there is no model " << GetParam() << " (cmake -DETCH_MODELS=FOLDER)";
  const ImportedModel model = import_onnx({.path = folder / "model.onnx"});
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    const std::vector<NamedArray> inputs = test::read_data_set(data, "input"), wanted = test::read_data_set(data, "output");
    std::map<std::string, Array> values;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) values[model.inputs[i].name] = inputs.at(i).array;
    const std::vector<Array> got = test::evaluate_model(model, values);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(test::difference(got.at(i), wanted[i].array, 1e-3, 1e-5), "") << data;
  }
}

INSTANTIATE_TEST_SUITE_P(Large, RealModel,
                         testing::Values("light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_shufflenet",
                                         "light_squeezenet", "light_vgg19", "light_zfnet512"));

}  // namespace
}  // namespace etch
