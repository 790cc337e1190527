// The nodes of an ONNX graph in an order in which each comes after the nodes that make its inputs. ONNX demands this order of files,
// but damaged or hand-made files may lack it: unsorted nodes are sorted; cycles and values that no node makes are errors.
#pragma once

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// The name of a node in errors: its own, or its first output's if it has none.
std::string display_name(const onnx::NodeProto& node);
/// "model.onnx: node 'conv2' (Conv)"
std::string node_place(const std::string& model, const onnx::NodeProto& node);

/// The indices of graph.node(), sources first, as near to the file's order as possible. UserError for a value that two nodes (or a
/// node and an input or initializer) make, a value that is read but never made, and a cycle. A Gradient reads what it differentiates.
std::vector<int> node_order(const onnx::GraphProto& graph, const std::string& model);

}  // namespace etch
