// ResNet-8 for 32x32 images, the shape of MLPerf Tiny's: three residual stacks of two convolutions.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

struct Stack {
  const char* name;
  std::int64_t inputs, outputs, stride;
};
constexpr Stack kStacks[] = {{"stack1", 16, 16, 1}, {"stack2", 16, 32, 2}, {"stack3", 32, 64, 2}};

std::string build_stack(GraphBuilder& graph, const std::string& x, const Stack& s) {
  const std::string name = s.name;
  const std::int64_t before = layers::same_padding_before(s.stride);
  std::string y = graph.conv(x, name + ".conv1", s.inputs, s.outputs, {3, 3}, {s.stride, s.stride}, {before, before, 1, 1});
  y = graph.relu(graph.batch_norm(y, name + ".bn1", s.outputs));
  y = graph.batch_norm(graph.conv(y, name + ".conv2", s.outputs, s.outputs, {3, 3}, {1, 1}, {1, 1, 1, 1}), name + ".bn2", s.outputs);
  const bool same = s.stride == 1;
  const std::string shortcut =
      same ? x : graph.conv(x, name + ".shortcut", s.inputs, s.outputs, {1, 1}, {s.stride, s.stride}, {0, 0, 0, 0});
  return graph.relu(graph.node("Add", {shortcut, y}, {}, name + ".add"));
}

Tensor tensor_stack(const Tensor& x, const Stack& s) {
  const std::string name = s.name;
  const std::int64_t before = layers::same_padding_before(s.stride);
  const Window first{.kernel = {3, 3}, .stride = {s.stride, s.stride}, .pads = {{before, 1}, {before, 1}}};
  Tensor y = layers::batch_norm(layers::conv(x, name + ".conv1", s.outputs, first), name + ".bn1").relu();
  y = layers::batch_norm(layers::conv(y, name + ".conv2", s.outputs, {.kernel = {3, 3}, .pads = {{1, 1}, {1, 1}}}), name + ".bn2");
  const Tensor shortcut =
      s.stride == 1 ? x : layers::conv(x, name + ".shortcut", s.outputs, {.kernel = {1, 1}, .stride = {s.stride, s.stride}});
  return (shortcut + y).relu();
}

}  // namespace

std::string build_resnet8(GraphBuilder& graph, const std::string& input) {
  std::string x = graph.relu(graph.batch_norm(graph.conv(input, "conv0", 3, 16, {3, 3}, {1, 1}, {1, 1, 1, 1}), "bn0", 16));
  for (const Stack& stack : kStacks) x = build_stack(graph, x, stack);
  x = graph.node("AveragePool", {x}, {{"kernel_shape", GraphBuilder::Ints{8, 8}}}, "pool");
  x = graph.node("Flatten", {x}, {{"axis", 1}}, "flatten");
  return graph.node("Softmax", {graph.dense(x, "fc", 64, 10)}, {{"axis", 1}}, "softmax");
}

Tensor tensor_resnet8(const Tensor& input) {
  Tensor x = layers::batch_norm(layers::conv(input, "conv0", 16, {.kernel = {3, 3}, .pads = {{1, 1}, {1, 1}}}), "bn0").relu();
  for (const Stack& stack : kStacks) x = tensor_stack(x, stack);
  x = x.average_pool({.kernel = {8, 8}}, false).flatten(1);
  return layers::dense(x, "fc", 10).softmax(1);
}

}  // namespace etch
