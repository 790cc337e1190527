// LeCun's network for digits, with ReLU and max pooling.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

std::string features(GraphBuilder& graph, const std::string& input) {
  const auto pool = [&](const std::string& x, const std::string& name) {
    return graph.node("MaxPool", {x}, {{"kernel_shape", GraphBuilder::Ints{2, 2}}, {"strides", GraphBuilder::Ints{2, 2}}}, name);
  };
  const std::string x = pool(graph.relu(graph.conv(input, "conv1", 1, 6, {5, 5}, {1, 1}, {2, 2, 2, 2})), "pool1");
  return pool(graph.relu(graph.conv(x, "conv2", 6, 16, {5, 5}, {1, 1}, {0, 0, 0, 0})), "pool2");
}

std::string classifier(GraphBuilder& graph, const std::string& rows) {
  std::string x = graph.relu(graph.dense(rows, "fc1", 400, 120));
  x = graph.relu(graph.dense(x, "fc2", 120, 84));
  return graph.node("Softmax", {graph.dense(x, "fc3", 84, 10)}, {{"axis", 1}}, "softmax");
}

}  // namespace

std::string build_lenet(GraphBuilder& graph, const std::string& input) {
  return classifier(graph, graph.node("Flatten", {features(graph, input)}, {{"axis", 1}}, "flatten"));
}

/// Flattens as exporters write x.view(x.size(0), -1): the new shape is computed from the input's.
std::string build_lenet_batch(GraphBuilder& graph, const std::string& input) {
  const std::string x = features(graph, input);
  const std::string shape = graph.node("Shape", {x}, {}, "shape");
  const std::string zero = graph.initializer("zero", Array::scalar(Scalar::of_int(DType::Int64, 0)));
  const std::string batch = graph.node(
      "Unsqueeze", {graph.node("Gather", {shape, zero}, {{"axis", 0}}, "batch_size"), graph.ints("axis0", {0})}, {}, "batch_row");
  const std::string wanted = graph.node("Concat", {batch, graph.ints("rest", {-1})}, {{"axis", 0}}, "wanted_shape");
  return classifier(graph, graph.node("Reshape", {x, wanted}, {}, "flatten"));
}

Tensor tensor_lenet(const Tensor& input) {
  const Window pool{.kernel = {2, 2}, .stride = {2, 2}};
  Tensor x = layers::conv(input, "conv1", 6, {.kernel = {5, 5}, .pads = {{2, 2}, {2, 2}}}).relu().max_pool(pool);
  x = layers::conv(x, "conv2", 16, {.kernel = {5, 5}}).relu().max_pool(pool).flatten(1);
  x = layers::dense(layers::dense(x, "fc1", 120).relu(), "fc2", 84).relu();
  return layers::dense(x, "fc3", 10).softmax(1);
}

}  // namespace etch
