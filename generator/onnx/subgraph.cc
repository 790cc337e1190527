#include "onnx/subgraph.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/toposort.h"
#include "onnx/operators.h"

namespace etch {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

class Parts {
 public:
  Parts(const GraphProto& graph, const std::vector<std::string>& from) : from_(from.begin(), from.end()) {
    for (const NodeProto& node : graph.node())
      for (const std::string& output : node.output())
        if (!output.empty()) maker_.emplace(output, &node);
  }

  bool is_from(const std::string& value) const { return from_.contains(value); }

  const NodeProto* maker(const std::string& value) const {
    const auto found = maker_.find(value);
    return found == maker_.end() ? nullptr : found->second;
  }

  /// All nodes that `values` are computed by, sources first; with `cut`, none that only make a value of `from`.
  std::vector<const NodeProto*> behind(const std::vector<std::string>& values, bool cut) const {
    const auto makers = [&](const std::vector<std::string>& names) {
      std::vector<const NodeProto*> nodes;
      for (const std::string& name : names)
        if (!cut || !is_from(name)) nodes.push_back(maker(name));
      return nodes;
    };
    std::vector<const NodeProto*> roots = makers(values);
    std::erase(roots, nullptr);
    return toposort<NodeProto>(roots, [&](const NodeProto* node) { return makers(reads_of(*node)); });
  }

  /// A value of `from` that the node is computed from, by way of nodes before it that were asked for; empty: none.
  std::string source_of(const NodeProto& node) {
    std::string source;
    for (const std::string& name : reads_of(node)) {
      if (is_from(name)) read_.insert(name);
      const auto before = sources_.find(maker(name));
      if (source.empty()) source = is_from(name) ? name : before == sources_.end() ? "" : before->second;
    }
    return sources_[&node] = source;
  }

  /// The values of `from` that nodes read which were asked for.
  const std::set<std::string>& read() const { return read_; }

 private:
  std::set<std::string> from_, read_;
  std::map<std::string, const NodeProto*> maker_;
  std::map<const NodeProto*, std::string> sources_;  // look-up only
};

}  // namespace

std::string gradient_target(const NodeProto& node) {
  if (node.op_type() != "Gradient" || node.domain() != kTrainingDomain) return "";
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "y") return attribute.s();
  return "";
}

std::vector<std::string> reads_of(const NodeProto& node) {
  std::vector<std::string> names(node.input().begin(), node.input().end());
  names.push_back(gradient_target(node));
  return names;
}

bool has_value(const GraphProto& graph, const std::string& name) {
  const auto is_named = [&](const auto& value) { return value.name() == name; };
  const auto makes = [&](const NodeProto& node) { return std::ranges::find(node.output(), name) != node.output().end(); };
  return !name.empty() && (std::ranges::any_of(graph.input(), is_named) || std::ranges::any_of(graph.initializer(), is_named) ||
                           std::ranges::any_of(graph.node(), makes));
}

Subgraph subgraph_between(const GraphProto& graph, const std::vector<std::string>& from, const std::string& to) {
  Subgraph result;
  std::vector<std::string> named = from;
  named.push_back(to);
  const auto unknown = std::ranges::find_if(named, [&](const std::string& name) { return !has_value(graph, name); });
  if (unknown != named.end()) {
    result.unknown = *unknown;
    return result;
  }
  Parts whole(graph, from), part(graph, from);
  for (const NodeProto* node : whole.behind(from, false)) whole.source_of(*node);
  for (const std::string& value : from) {
    const NodeProto* maker = whole.maker(value);
    const std::string source = maker == nullptr ? "" : whole.source_of(*maker);
    if (source.empty() || !result.derived.empty()) continue;
    result.derived = value;
    result.from_other = source;
  }
  for (const NodeProto* node : part.behind({to}, true))
    if (!part.source_of(*node).empty()) result.nodes.push_back(node);
  const auto unused = std::ranges::find_if(from, [&](const std::string& name) { return name != to && !part.read().contains(name); });
  if (unused != from.end()) result.unused = *unused;
  return result;
}

}  // namespace etch
