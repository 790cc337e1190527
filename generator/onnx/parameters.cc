#include "onnx/parameters.h"

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
      {"Add", {0, 1}},
      {"Mul", {0, 1}},
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

}  // namespace

std::set<std::string> trained_initializers(const onnx::GraphProto& graph, const std::vector<int>& order, const TrainingImport& training,
                                           const std::string& place) {
  std::vector<std::string> floats;
  std::map<std::string, const onnx::TensorProto*> by_name;
  for (const auto& tensor : graph.initializer()) {
    by_name[tensor.name()] = &tensor;
    const auto dtype = dtype_of_onnx(tensor.data_type());
    if (dtype && is_float(*dtype)) floats.push_back(tensor.name());
  }
  const auto is_trainable = [&](const std::string& name) { return std::ranges::find(floats, name) != floats.end(); };
  std::set<std::string> chosen;
  for (const std::string& name : training.parameters) {
    if (!by_name.contains(name))
      throw UserError(place, "parameter '" + name + "' is no initializer of the graph", "those of floats: " + nearest_text(name, floats));
    if (!is_trainable(name))
      throw UserError(place, "parameter '" + name + "' is no tensor of floats", "those of floats: " + nearest_text(name, floats));
    chosen.insert(name);
  }
  if (!training.parameters.empty()) return chosen;
  int layers = 0;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const auto& node = graph.node(*i);
    std::vector<std::string> own;
    for (int k = 0; k < node.input_size(); k++)
      if (is_learned(node.op_type(), k) && is_trainable(node.input(k)) && by_name[node.input(k)]->dims_size() > 0)
        own.push_back(node.input(k));
    if (own.empty()) continue;
    if (training.last_layers > 0 && layers == training.last_layers) break;
    layers++;
    chosen.insert(own.begin(), own.end());
  }
  if (chosen.empty())
    throw UserError(place, "no weight, bias or scale of a layer is an initializer of floats: there is nothing to train",
                    "name initializers: parameters=NAME+NAME");
  if (layers < training.last_layers)
    throw UserError(
        place,
        "--train-last " + std::to_string(training.last_layers) + ": only " + std::to_string(layers) + " layers have something to train",
        "pass at most that");
  return chosen;
}

}  // namespace etch
