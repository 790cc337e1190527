// Autoencoder for anomaly detection, the shape of MLPerf Tiny's: 640 features through a bottleneck of 8.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

constexpr std::int64_t kFeatures = 640;
constexpr std::int64_t kHidden[] = {128, 128, 128, 128, 8, 128, 128, 128, 128};

}  // namespace

std::string build_autoencoder(GraphBuilder& graph, const std::string& input) {
  std::string x = input;
  std::int64_t inputs = kFeatures;
  int number = 0;
  for (std::int64_t outputs : kHidden) {
    const std::string name = "fc" + std::to_string(++number);
    x = graph.relu(graph.batch_norm(graph.dense(x, name, inputs, outputs), name + ".bn", outputs));
    inputs = outputs;
  }
  return graph.dense(x, "fc10", inputs, kFeatures);
}

Tensor tensor_autoencoder(const Tensor& input) {
  Tensor x = input;
  int number = 0;
  for (std::int64_t outputs : kHidden) {
    const std::string name = "fc" + std::to_string(++number);
    x = layers::batch_norm(layers::dense(x, name, outputs), name + ".bn").relu();
  }
  return layers::dense(x, "fc10", kFeatures);
}

}  // namespace etch
