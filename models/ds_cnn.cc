// Depthwise separable CNN for keyword spotting, the shape of MLPerf Tiny's: one convolution, four separable blocks.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

constexpr std::int64_t kChannels = 64;
constexpr int kStages = 4;

}  // namespace

std::string build_ds_cnn(GraphBuilder& graph, const std::string& input) {
  const auto block = [&](const std::string& x, const std::string& name) {
    return graph.relu(graph.batch_norm(x, name + ".bn", kChannels));
  };
  std::string x = block(graph.conv(input, "conv0", 1, kChannels, {10, 4}, {2, 2}, {4, 1, 5, 1}, 1, false), "conv0");
  for (int i = 1; i <= kStages; i++) {
    const std::string depthwise = "dw" + std::to_string(i), pointwise = "pw" + std::to_string(i);
    x = block(graph.conv(x, depthwise, kChannels, kChannels, {3, 3}, {1, 1}, {1, 1, 1, 1}, kChannels, false), depthwise);
    x = block(graph.conv(x, pointwise, kChannels, kChannels, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false), pointwise);
  }
  x = graph.node("GlobalAveragePool", {x}, {}, "pool");
  x = graph.node("Flatten", {x}, {{"axis", 1}}, "flatten");
  return graph.node("Softmax", {graph.dense(x, "fc", kChannels, 12)}, {{"axis", 1}}, "softmax");
}

Tensor tensor_ds_cnn(const Tensor& input) {
  const auto block = [](const Tensor& x, const std::string& name) { return layers::batch_norm(x, name + ".bn").relu(); };
  Tensor x =
      block(layers::conv(input, "conv0", kChannels, {.kernel = {10, 4}, .stride = {2, 2}, .pads = {{4, 5}, {1, 1}}}, 1, false), "conv0");
  for (int i = 1; i <= kStages; i++) {
    const std::string depthwise = "dw" + std::to_string(i), pointwise = "pw" + std::to_string(i);
    x = block(layers::conv(x, depthwise, kChannels, {.kernel = {3, 3}, .pads = {{1, 1}, {1, 1}}}, kChannels, false), depthwise);
    x = block(layers::conv(x, pointwise, kChannels, {.kernel = {1, 1}}, 1, false), pointwise);
  }
  return layers::dense(x.mean({2, 3}), "fc", 12).softmax(1);
}

}  // namespace etch
