// Internal to onnx/: one node of a graph, from the values of its inputs to those of its outputs; and, for a Gradient, a part of the graph
// once more, with other values at its beginning.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/import.h"
#include "onnx/imported_node.h"
#include "onnx/operators.h"
#include "onnx/value.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// Values by name. Those of a part that is computed once more lie before those of the graph.
class Values {
 public:
  explicit Values(const Values* behind = nullptr) : behind_(behind) {}
  void define(const std::string& name, Value value) { values_.insert_or_assign(name, std::move(value)); }
  /// nullptr: there is none of that name.
  const Value* find(const std::string& name) const;

 private:
  const Values* behind_;
  std::map<std::string, Value> values_;
};

class NodeImporter {
 public:
  /// All of them must outlive it. `dims` are the model's named sizes; of `result` it takes the graph, the opset and the open dimensions.
  NodeImporter(const ImportOptions& options, const onnx::ModelProto& model, const ImportedModel& result,
               const std::map<std::string, Sint>& dims);

  /// The node's outputs in its order, of which those without a name are unknown. nullopt if an input is unknown; the node is then checked
  /// as far as possible without it. `name` is its name among the model's nodes. Throws a UserError.
  std::optional<std::vector<Value>> outputs(const onnx::NodeProto& proto, const std::string& name, const Values& values);

 private:
  std::vector<const Value*> inputs_of(const onnx::NodeProto& proto, const Values& values, bool& known) const;
  int version_for(const onnx::NodeProto& proto) const;
  std::vector<Value> run(ImportedNode& node, const OperatorRow& row) const;
  std::vector<Value> named(const onnx::NodeProto& proto, const ImportedNode& node, const OperatorRow& row, std::vector<Value> made) const;
  std::vector<Value> run_custom(const onnx::NodeProto& proto, const ImportedNode& node, const CustomOperator& custom) const;
  Tensor recomputed(const ImportedNode& node, const Values& values, const std::string& name,
                    const std::vector<std::pair<std::string, Tensor>>& instead);

  const ImportOptions& options_;
  const onnx::ModelProto& model_;
  const ImportedModel& result_;
  const std::map<std::string, Sint>& dims_;
  std::string place_;
  std::filesystem::path folder_;
  TargetTraits target_;
  std::map<const onnx::NodeProto*, std::string> names_;  // of nodes of the graph, look-up only
  int depth_ = 0, recomputed_nodes_ = 0;
};

}  // namespace etch
