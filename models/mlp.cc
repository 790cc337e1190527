// A perceptron: the smallest network that says something.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {

std::string build_mlp(GraphBuilder& graph, const std::string& input) {
  std::string x = graph.relu(graph.dense(input, "fc1", 784, 128));
  x = graph.relu(graph.dense(x, "fc2", 128, 64));
  return graph.node("Softmax", {graph.dense(x, "fc3", 64, 10)}, {{"axis", 1}}, "softmax");
}

Tensor tensor_mlp(const Tensor& input) {
  const Tensor hidden = layers::dense(layers::dense(input, "fc1", 128).relu(), "fc2", 64).relu();
  return layers::dense(hidden, "fc3", 10).softmax(1);
}

}  // namespace etch
