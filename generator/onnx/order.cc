#include "onnx/order.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "base/error.h"
#include "onnx/subgraph.h"

namespace etch {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

/// The producer of each value: a node's index, or -1 for inputs and initializers.
std::map<std::string, int> producers_of(const GraphProto& graph, const std::string& model) {
  std::map<std::string, int> producer;
  for (const auto& input : graph.input()) {
    if (!producer.emplace(input.name(), -1).second) {
      throw UserError(model, "two graph inputs are called '" + input.name() + "'", "give each value a name of its own");
    }
  }
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) {
    if (!initializers.insert(tensor.name()).second) {
      throw UserError(model, "two initializers are called '" + tensor.name() + "'", "give each value a name of its own");
    }
    producer.emplace(tensor.name(), -1);
  }
  for (const auto& tensor : graph.sparse_initializer()) producer.emplace(tensor.values().name(), -1);  // refused elsewhere
  for (int i = 0; i < graph.node_size(); i++) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;
      const auto [entry, inserted] = producer.emplace(output, i);
      if (inserted) continue;
      const std::string other =
          entry->second < 0 ? "a graph input or initializer" : "node '" + display_name(graph.node(entry->second)) + "'";
      throw UserError(node_place(model, graph.node(i)), "its output '" + output + "' is also made by " + other,
                      "give each value a name of its own");
    }
  }
  return producer;
}

/// Follows sources among the nodes that are not in the order, until one of them repeats, and throws a UserError with that cycle.
[[noreturn]] void fail_cycle(const GraphProto& graph, const std::string& model, const std::vector<int>& missing,
                             const std::map<std::string, int>& producer) {
  std::vector<int> path;
  std::set<int> seen;
  int node = 0;
  while (missing[static_cast<std::size_t>(node)] == 0) node++;
  while (seen.insert(node).second) {
    path.push_back(node);
    for (const std::string& input : reads_of(graph.node(node))) {
      const auto from = producer.find(input);
      if (input.empty() || from == producer.end() || from->second < 0 || missing[static_cast<std::size_t>(from->second)] == 0) continue;
      node = from->second;
      break;
    }
  }
  std::string text = display_name(graph.node(node));
  for (auto it = path.rbegin(); it != path.rend(); it++) {
    text += " -> " + display_name(graph.node(*it));
    if (*it == node) break;
  }
  throw UserError(node_place(model, graph.node(node)), "the graph has a cycle: " + text,
                  "a network has no cycles; state goes through inputs and outputs, and a Gradient comes after what it differentiates");
}

}  // namespace

std::string display_name(const NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return "unnamed";
}

std::string node_place(const std::string& model, const NodeProto& node) {
  return model + ": node '" + display_name(node) + "' (" + node.op_type() + ")";
}

std::vector<int> node_order(const GraphProto& graph, const std::string& model) {
  const std::map<std::string, int> producer = producers_of(graph, model);
  const std::size_t count = static_cast<std::size_t>(graph.node_size());
  std::vector<int> missing(count, 0);              // number of sources that are not yet in the order
  std::vector<std::vector<int>> consumers(count);  // one entry for each such source
  for (int i = 0; i < graph.node_size(); i++) {
    for (const std::string& input : reads_of(graph.node(i))) {
      if (input.empty()) continue;
      const auto from = producer.find(input);
      if (from == producer.end()) {
        if (std::ranges::find(graph.node(i).input(), input) == graph.node(i).input().end()) continue;  // the operator refuses it
        throw UserError(node_place(model, graph.node(i)), "its input '" + input + "' is made by no node, graph input or initializer",
                        "the file is damaged, or its weights were not saved with it");
      }
      if (from->second < 0) continue;
      missing[static_cast<std::size_t>(i)]++;
      consumers[static_cast<std::size_t>(from->second)].push_back(i);
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;  // the first in the file first
  for (int i = 0; i < graph.node_size(); i++) {
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int consumer : consumers[static_cast<std::size_t>(node)]) {
      if (--missing[static_cast<std::size_t>(consumer)] == 0) ready.push(consumer);
    }
  }
  if (order.size() != count) fail_cycle(graph, model, missing, producer);
  return order;
}

}  // namespace etch
