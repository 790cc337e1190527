// A network that a function on tensors describes, as a model: what import_onnx makes of a file, without a file.
//
//   const TracedNetwork network{"xor", {{"x", DType::Float32, {1, 2}}}, {{"w", w}, {"b", b}},
//                               [](const std::vector<Tensor>& in, const std::vector<Tensor>& weights) {
//                                 return in[0].linear(weights[0], weights[1]).tanh();
//                               }};
//   const Frontend frontend = schedule_model(traced_model(network), options);
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace etch {

struct TracedInput {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
};

struct TracedWeight {
  std::string name;
  Array values;  // for weights of layers: Session::values of their members()
};

struct TracedNetwork {
  std::string name;  // of the project: a C identifier
  std::vector<TracedInput> inputs;
  std::vector<TracedWeight> weights;
  std::function<Tensor(const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights)> function;
  std::string output = "output";  // the result's name
};

/// The weights are constants or, with `training`, those that it names (unless it names some: all) are states that require gradients.
/// UserError for a name that is no weight or no tensor of floats, for TrainingImport::last_layers (a function has no layers), and where
/// the function throws a ShapeError.
ImportedModel traced_model(const TracedNetwork& network, const std::optional<TrainingImport>& training = std::nullopt);

}  // namespace etch
