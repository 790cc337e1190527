#include "onnx/parameters.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/nearest.h"
#include "onnx/types.h"

namespace etch {
namespace {

/// Inputs of operators that are learned. Statistics (means and variances of BatchNormalization), limits, axes and scales of other
/// operators are not.
struct LearnedInputs {
  const char* op;
  std::vector<int> inputs;
};
const std::vector<LearnedInputs>& learned() {
  static const std::vector<LearnedInputs> kRows{
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"Gemm", {1, 2}},
      {"MatMul", {0, 1}},
      {"Einsum", {0, 1}},
      {"PRelu", {1}},
      {"Gather", {0}},
      {"BatchNormalization", {1, 2}},
      {"InstanceNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"GroupNormalization", {1, 2}},
      {"RMSNormalization", {1}},
      {"RNN", {1, 2, 3}},
      {"GRU", {1, 2, 3}},
      {"LSTM", {1, 2, 3, 7}},
  };
  return kRows;
}

bool is_learned(const std::string& op, int input) {
  return std::ranges::any_of(learned(),
                             [&](const LearnedInputs& row) { return row.op == op && std::ranges::count(row.inputs, input) > 0; });
}

/// Nodes that give one of their inputs on as it is, or in another order or shape.
bool gives_on(const std::string& op) {
  return op == "Identity" || op == "Transpose" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze";
}

/// The layers of a graph that have something to train, each with the initializers of its nodes: a product or a convolution, and with it
/// what is added to its result and the normalisation of that.
class Layers {
 public:
  Layers(const onnx::GraphProto& graph, const std::vector<int>& order, std::set<std::string> trainable, const std::string& output)
      : graph_(graph), trainable_(std::move(trainable)) {
    const std::vector<bool> needed = nodes_behind(order, output);
    for (const int number : order)
      if (needed[static_cast<std::size_t>(number)]) add(graph.node(number));
  }

  /// Those of the last `count` layers; 0: of all.
  std::set<std::string> names(int count) const {
    std::set<std::string> names;
    const std::size_t first =
        count == 0 || static_cast<std::size_t>(count) > layers_.size() ? 0 : layers_.size() - static_cast<std::size_t>(count);
    for (std::size_t k = first; k < layers_.size(); k++) names.insert(layers_[k].begin(), layers_[k].end());
    return names;
  }
  int size() const { return static_cast<int>(layers_.size()); }

 private:
  std::vector<bool> nodes_behind(const std::vector<int>& order, const std::string& output) const {
    std::set<std::string> outputs, wanted{output};
    for (const auto& o : graph_.output()) outputs.insert(o.name());
    if (!outputs.contains(output)) wanted = outputs;
    std::vector<bool> needed(static_cast<std::size_t>(graph_.node_size()), false);
    for (auto i = order.rbegin(); i != order.rend(); i++) {
      const auto& node = graph_.node(*i);
      if (std::ranges::none_of(node.output(), [&](const std::string& name) { return wanted.contains(name); })) continue;
      needed[static_cast<std::size_t>(*i)] = true;
      wanted.insert(node.input().begin(), node.input().end());
    }
    return needed;
  }

  void add(const onnx::NodeProto& node) {
    if (node.input_size() > 0 && gives_on(node.op_type()) && !weight(node.input(0)).empty()) {
      weights_[node.output(0)] = weight(node.input(0));
      return;
    }
    if (node.op_type() == "Div") quotients_.insert(node.output(0));
    std::set<std::string> own;
    for (int k = 0; k < node.input_size(); k++)
      if (is_learned(node.op_type(), k) && !weight(node.input(k)).empty()) own.insert(weight(node.input(k)));
    int layer = node.op_type() == "BatchNormalization" ? layer_of(node.input(0)) : -1;
    if (node.op_type() == "Add" || node.op_type() == "Mul") layer = after_a_layer(node, own);
    if (own.empty()) return;
    if (layer < 0) {
      layer = size();
      layers_.emplace_back();
    }
    layers_[static_cast<std::size_t>(layer)].insert(own.begin(), own.end());
    for (const std::string& name : node.output()) layer_of_[name] = layer;
  }

  /// Of a sum the bias of a layer's result, of a product the scale of a normalisation that is written out: what else is added or
  /// multiplied (a mask, a half) is no weight.
  int after_a_layer(const onnx::NodeProto& node, std::set<std::string>& own) const {
    for (int k = 0; k < 2 && node.input_size() == 2; k++) {
      const std::string name = weight(node.input(k));
      if (name.empty()) continue;
      const std::string& other = node.input(1 - k);
      const int layer = layer_of(other);
      if (node.op_type() == "Add" ? layer < 0 : !quotients_.contains(other)) continue;
      own.insert(name);
      return layer;
    }
    return -1;
  }

  int layer_of(const std::string& value) const {
    const auto found = layer_of_.find(value);
    return found == layer_of_.end() ? -1 : found->second;
  }
  /// The initializer that a value is, in whatever shape; empty: it is none that can be trained.
  std::string weight(const std::string& value) const {
    const auto found = weights_.find(value);
    return found != weights_.end() ? found->second : trainable_.contains(value) ? value : "";
  }

  const onnx::GraphProto& graph_;
  std::set<std::string> trainable_, quotients_;
  std::map<std::string, std::string> weights_;  // initializers that nodes give on, by the name of what they give
  std::map<std::string, int> layer_of_;         // by the name of a node's result
  std::vector<std::set<std::string>> layers_;   // in the order of their first nodes
};

}  // namespace

std::set<std::string> trained_initializers(const onnx::GraphProto& graph, const std::vector<int>& order, const TrainingImport& training,
                                           const std::string& place) {
  std::vector<std::string> floats;
  std::set<std::string> all, with_axes;
  for (const auto& tensor : graph.initializer()) {
    all.insert(tensor.name());
    const auto dtype = dtype_of_onnx(tensor.data_type());
    if (!dtype || !is_float(*dtype)) continue;
    floats.push_back(tensor.name());
    if (tensor.dims_size() > 0) with_axes.insert(tensor.name());
  }
  for (const std::string& name : training.parameters) {
    if (!all.contains(name))
      throw UserError(place, "parameter '" + name + "' is no initializer of the graph", "those of floats: " + nearest_text(name, floats));
    if (std::ranges::find(floats, name) == floats.end())
      throw UserError(place, "parameter '" + name + "' is no tensor of floats", "those of floats: " + nearest_text(name, floats));
  }
  if (!training.parameters.empty()) return {training.parameters.begin(), training.parameters.end()};
  const Layers layers(graph, order, with_axes, training.output);
  if (layers.size() == 0)
    throw UserError(place, "no weight, bias or scale of a layer is an initializer of floats: there is nothing to train",
                    "name initializers: parameters=NAME+NAME; a quantised network is trained before it is quantised");
  if (layers.size() < training.last_layers)
    throw UserError(place, fmt::format("--train-last {}: only {} layers have something to train", training.last_layers, layers.size()),
                    "pass at most that");
  return layers.names(training.last_layers);
}

}  // namespace etch
