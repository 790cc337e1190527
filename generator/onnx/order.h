// The nodes of an ONNX graph in an order in which each stands after what it reads. ONNX demands it of files, but damaged or
// hand-made ones do not keep to it: unsorted nodes are sorted, cycles and values from nowhere are errors.
#pragma once

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// What errors call a node: its name, or its first output's if it has none.
std::string display_name(const onnx::NodeProto& node);
/// "model.onnx: node 'conv2' (Conv)"
std::string node_place(const std::string& model, const onnx::NodeProto& node);

/// The indices of graph.node(), sources first, as near to the file's order as possible. UserErrors: a value that two nodes
/// (or a node and an input or initializer) make, a value that nobody makes, a cycle.
std::vector<int> node_order(const onnx::GraphProto& graph, const std::string& model);

}  // namespace etch
