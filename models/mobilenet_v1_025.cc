// MobileNetV1 with a quarter of the channels, for 96x96 images: the shape of MLPerf Tiny's person detection.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

struct Block {
  std::int64_t inputs, outputs, stride;
};
constexpr Block kBlocks[] = {{8, 16, 1},    {16, 32, 2},   {32, 32, 1},   {32, 64, 2},   {64, 64, 1},   {64, 128, 2}, {128, 128, 1},
                             {128, 128, 1}, {128, 128, 1}, {128, 128, 1}, {128, 128, 1}, {128, 256, 2}, {256, 256, 1}};

}  // namespace

std::string build_mobilenet_v1_025(GraphBuilder& graph, const std::string& input) {
  const auto block = [&](const std::string& x, const std::string& name, std::int64_t channels) {
    return graph.relu(graph.batch_norm(x, name + ".bn", channels));
  };
  std::string x = block(graph.conv(input, "conv0", 3, 8, {3, 3}, {2, 2}, {0, 0, 1, 1}, 1, false), "conv0", 8);
  int number = 0;
  for (const Block& b : kBlocks) {
    const std::string depthwise = "dw" + std::to_string(++number), pointwise = "pw" + std::to_string(number);
    const std::int64_t before = layers::same_padding_before(b.stride);
    x = block(graph.conv(x, depthwise, b.inputs, b.inputs, {3, 3}, {b.stride, b.stride}, {before, before, 1, 1}, b.inputs, false),
              depthwise, b.inputs);
    x = block(graph.conv(x, pointwise, b.inputs, b.outputs, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false), pointwise, b.outputs);
  }
  x = graph.node("GlobalAveragePool", {x}, {}, "pool");
  x = graph.node("Flatten", {x}, {{"axis", 1}}, "flatten");
  return graph.node("Softmax", {graph.dense(x, "fc", 256, 2)}, {{"axis", 1}}, "softmax");
}

Tensor tensor_mobilenet_v1_025(const Tensor& input) {
  const auto block = [](const Tensor& x, const std::string& name) { return layers::batch_norm(x, name + ".bn").relu(); };
  Tensor x = block(layers::conv(input, "conv0", 8, {.kernel = {3, 3}, .stride = {2, 2}, .pads = {{0, 1}, {0, 1}}}, 1, false), "conv0");
  int number = 0;
  for (const Block& b : kBlocks) {
    const std::string depthwise = "dw" + std::to_string(++number), pointwise = "pw" + std::to_string(number);
    const std::int64_t before = layers::same_padding_before(b.stride);
    const Window window{.kernel = {3, 3}, .stride = {b.stride, b.stride}, .pads = {{before, 1}, {before, 1}}};
    x = block(layers::conv(x, depthwise, b.inputs, window, b.inputs, false), depthwise);
    x = block(layers::conv(x, pointwise, b.outputs, {.kernel = {1, 1}}, 1, false), pointwise);
  }
  return layers::dense(x.mean({2, 3}), "fc", 2).softmax(1);
}

}  // namespace etch
