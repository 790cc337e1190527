// Real networks with their expected outputs, if they are available: the environment variable ETCH_MODELS names the folder.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/evaluate.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

class RealModel : public testing::TestWithParam<const char*> {};

TEST_P(RealModel, GivesItsExpectedOutputs) {
  const auto found = downloaded_model(GetParam());
  if (!found) GTEST_SKIP() << GetParam() << " is not there: set ETCH_MODELS to a folder of models that has it";
  const fs::path& folder = *found;
  const ImportedModel model = import_onnx({.path = folder / "model.onnx"});
  int sets = 0;
  for (; fs::exists(folder / ("test_data_set_" + std::to_string(sets))); sets++) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(sets));
    const std::vector<NamedArray> inputs = test::read_data_set(data, "input"), wanted = test::read_data_set(data, "output");
    std::map<std::string, Array> values;
    for (std::size_t i = 0; i < model.inputs.size(); i++) values[model.inputs[i].name] = inputs.at(i).array;
    const std::vector<Array> got = test::evaluate_model(model, values);
    ASSERT_EQ(got.size(), wanted.size()) << data;
    for (std::size_t i = 0; i < wanted.size(); i++) EXPECT_EQ(test::difference(got[i], wanted[i].array, 1e-3, 1e-5), "") << data;
  }
  EXPECT_GT(sets, 0);
}

INSTANTIATE_TEST_SUITE_P(Small, RealModel, testing::Values("mnist_cntk", "mnist_pytorch", "kws_f32", "kws_f32_bn", "vww_f32"));
}  // namespace
}  // namespace etch
