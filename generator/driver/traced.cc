#include "driver/traced.h"

#include <algorithm>

#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"
#include "lazy/graph.h"

namespace etch {
namespace {

ImportedTensor imported(const std::string& name, const Tensor& tensor, CNames& names) {
  return {name, names.add(name), tensor.dtype(), tensor.shape(), tensor};
}

void require_weights(const TracedNetwork& network, const TrainingImport& training) {
  if (training.last_layers > 0)
    throw UserError(network.name, "a traced function has no layers, of which the last could be trained",
                    "name weights: parameters=NAME+NAME");
  std::vector<std::string> floats;
  for (const TracedWeight& w : network.weights)
    if (is_float(w.values.dtype())) floats.push_back(w.name);
  for (const std::string& name : training.parameters)
    if (std::ranges::find(floats, name) == floats.end())
      throw UserError(network.name, "parameter '" + name + "' is no weight of floats", "there are " + nearest_text(name, floats));
  if (floats.empty()) throw UserError(network.name, "it has no weights of floats: there is nothing to train", "pass them as weights");
}

bool is_trained(const TracedWeight& weight, const std::optional<TrainingImport>& training) {
  if (!training || !is_float(weight.values.dtype())) return false;
  return training->parameters.empty() || std::ranges::find(training->parameters, weight.name) != training->parameters.end();
}

}  // namespace

ImportedModel traced_model(const TracedNetwork& network, const std::optional<TrainingImport>& training) {
  if (training) require_weights(network, *training);
  ImportedModel model;
  model.name = network.name;
  model.graph = LazyGraph::create();
  CNames names(network.name);
  try {
    std::vector<Tensor> inputs, weights;
    for (const TracedInput& input : network.inputs) {
      inputs.push_back(Tensor::input(*model.graph, input.name, input.dtype, Shape(input.shape.begin(), input.shape.end())));
      model.inputs.push_back(imported(input.name, inputs.back(), names));
    }
    for (const TracedWeight& w : network.weights) {
      if (!is_trained(w, training)) {
        weights.push_back(Tensor::constant(*model.graph, w.values, w.name));
        continue;
      }
      const Shape shape(w.values.shape().begin(), w.values.shape().end());
      weights.push_back(Tensor::state(*model.graph, w.name, w.values.dtype(), shape, w.values).requires_grad(true));
      model.parameters.push_back({imported(w.name, weights.back(), names), weights.back()});
    }
    model.outputs.push_back(imported(network.output, network.function(inputs, weights), names));
  } catch (const ShapeError& error) {
    throw UserError(network.name, error.what());
  }
  return model;
}

}  // namespace etch
