// The zoo's largest network: imported from its ONNX bytes and written with the Tensor API, the same outputs.
#include <gtest/gtest.h>

#include "models/zoo.h"
#include "onnx/seeded.h"
#include "support/evaluate.h"

namespace etch {
namespace {

TEST(Detector, OnnxAndTensorApiGiveTheSameOutputs) {
  const ZooModel& model = zoo_model("detector");
  const ImportedModel imported = import_onnx({.bytes = zoo_bytes(model), .name = model.name});
  const Array input = seeded_array("input of the test", model.input_shape, 1.0f);
  const auto graph = LazyGraph::create();
  const Tensor output = model.tensor(Tensor::input(*graph, "x", DType::Float32, Shape(input.shape().begin(), input.shape().end())));
  const Array wanted = test::evaluate_tensors({output}, {{"x", input}})[0];
  const Array got = test::evaluate_model(imported, {{"input", input}}, {})[0];
  EXPECT_EQ(test::difference(got, wanted, 1e-4, 1e-4), "");
  EXPECT_EQ(got.shape(), model.output_shape);
  // Distances are means of 16 bins, classes probabilities; neither is the same everywhere.
  double low = 1e9, high = -1e9;
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double v = got.double_at(i);
    const bool is_class = i >= 4 * 2100;
    ASSERT_TRUE(v >= 0 && v <= (is_class ? 1 : 15)) << i << ": " << v;
    if (is_class) low = std::min(low, v), high = std::max(high, v);
  }
  EXPECT_GT(high - low, 0.1);
}

}  // namespace
}  // namespace etch
