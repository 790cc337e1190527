// The densified light models, against the outputs of ONNX Runtime that are stored beside them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/densify.h"
#include "support/evaluate.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

#ifdef ETCH_MODELS
constexpr const char* kModels = ETCH_MODELS;
#else
constexpr const char* kModels = "";
#endif

class Densified : public testing::TestWithParam<const char*> {};

TEST_P(Densified, GivesItsExpectedOutputs) {
  const fs::path folder = fs::path(kModels) / GetParam();
  if (!fs::exists(folder / "model.onnx")) GTEST_SKIP() << "there is no model " << GetParam() << " (cmake -DETCH_MODELS=FOLDER)";
  std::ifstream file(folder / "model.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const ImportedModel model = import_onnx({.path = folder / "model.onnx", .bytes = densify(bytes, GetParam())});
  const fs::path data = folder / "lcg" / "test_data_set_0";
  const Array input = test::read_data_set(data, "input").at(0).array, wanted = test::read_data_set(data, "output").at(0).array;
  const Array got = test::evaluate_model(model, {{model.inputs.at(0).name, input}}).at(0);
  EXPECT_EQ(test::difference(got, wanted, 1e-3, 1e-5), "");
}

INSTANTIATE_TEST_SUITE_P(Light, Densified,
                         testing::Values("light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_shufflenet",
                                         "light_squeezenet", "light_vgg19", "light_zfnet512"));

}  // namespace
}  // namespace etch
