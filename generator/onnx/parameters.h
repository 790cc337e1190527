// Internal to onnx/: which initializers of a graph are trained.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace onnx {
class GraphProto;
}

namespace etch {

/// The names of those that `training` asks for. Unless it names them, they are the floats that the table in parameters.cc lists: the
/// weights, biases and scales of layers, of the last `last_layers` of them. Throws UserError for a name that is no initializer of floats,
/// and where there is nothing to train.
std::set<std::string> trained_initializers(const onnx::GraphProto& graph, const std::vector<int>& order, const TrainingImport& training,
                                           const std::string& place);

}  // namespace etch
