// Parts of an ONNX graph: what a node reads, and the nodes that lead from some values to another one. A Gradient names such a part.
#pragma once

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// The value that a Gradient differentiates, its attribute y; empty for every other node.
std::string gradient_target(const onnx::NodeProto& node);
/// The node's inputs, and that value. Some may be empty.
std::vector<std::string> reads_of(const onnx::NodeProto& node);
/// Whether an input, an initializer or an output of a node has that name.
bool has_value(const onnx::GraphProto& graph, const std::string& name);

struct Subgraph {
  std::vector<const onnx::NodeProto*> nodes;  // those between, sources first
  // What is wrong with it; each is empty, or names the first value of which it is true.
  std::string unknown;              // the graph does not have it
  std::string derived, from_other;  // `derived` is computed from `from_other`, and `from` names both
  std::string unused;               // `to` is not computed from it
};

/// The nodes that compute the value `to` from the values `from`, which may be in the middle of the graph: what is behind them is left
/// out, and so is what depends on none of them. The graph has no cycle.
///   c = Add(a, b); d = Mul(c, k); e = Exp(k); f = Sub(d, e)     from {c}, to f:  Mul, Sub
Subgraph subgraph_between(const onnx::GraphProto& graph, const std::vector<std::string>& from, const std::string& to);

}  // namespace etch
