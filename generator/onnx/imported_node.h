// NodeContext over an ONNX NodeProto: what the importer hands to operator functions.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/node.h"
#include "onnx/value.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace etch {

struct ImportedDim;

class ImportedNode final : public NodeContext {
 public:
  /// `inputs` has an entry for each input that the node lists (nullptr: an empty name); every error begins with `place`. `dims` are the
  /// model's open dimensions and must outlive the node.
  ImportedNode(const onnx::NodeProto& node, std::string place, int opset, LazyGraph& graph, std::vector<const Value*> inputs,
               std::filesystem::path folder, const std::vector<ImportedDim>& dims);

  const std::string& name() const override { return name_; }
  const std::string& op_type() const override;
  int opset() const override { return opset_; }
  LazyGraph& graph() const override { return graph_; }
  const TargetTraits& target() const override { return target_; }

  int input_count() const override { return static_cast<int>(inputs_.size()); }
  int output_count() const override;
  bool has_output(int i) const override;
  bool has_input(int i) const override { return i < input_count() && inputs_[static_cast<std::size_t>(i)] != nullptr; }
  Tensor input(int i) const override;
  /// The type of input `i`, also if the input is only a SymbolicArray.
  DType input_type(int i) const;
  std::optional<Array> constant(int i) const override;
  Array require_constant(int i, const std::string& what) const override;
  std::string constant_help(int i) const override;
  std::vector<Sint> require_dims(int i, const std::string& what) const override;

  bool has_attribute(const std::string& name) override;
  std::int64_t attribute_int(const std::string& name, std::optional<std::int64_t> fallback = std::nullopt) override;
  double attribute_float(const std::string& name, std::optional<double> fallback) override;
  std::string attribute_string(const std::string& name, std::optional<std::string> fallback) override;
  std::vector<std::int64_t> attribute_ints(const std::string& name, std::optional<std::vector<std::int64_t>> fallback) override;
  std::vector<double> attribute_floats(const std::string& name, std::optional<std::vector<double>> fallback) override;
  std::vector<std::string> attribute_strings(const std::string& name, std::optional<std::vector<std::string>> fallback) override;
  Array attribute_tensor(const std::string& name) override;
  void acknowledge(const std::string& name) override { asked_.insert(name); }

  using Recompute =
      std::function<Tensor(const ImportedNode& node, const std::string& name, const std::vector<std::pair<std::string, Tensor>>& instead)>;
  /// What `recomputed` does.
  void set_recompute(Recompute recompute) { recompute_ = std::move(recompute); }
  Tensor recomputed(const std::string& name, const std::vector<std::pair<std::string, Tensor>>& instead) const override {
    return recompute_(*this, name, instead);
  }

  void set_target(const TargetTraits& target) { target_ = target; }

  std::string size_help(const std::vector<Sint>& sizes) const override;
  [[noreturn]] void fail(const std::string& what, const std::string& help = "") const override;
  /// Throws the UserError for an error of a Tensor method; if some of its sizes are open, the help says what to do about that.
  [[noreturn]] void fail(const ShapeError& error) const;

  /// The values of the inputs, as the constructor got them.
  const std::vector<const Value*>& inputs() const { return inputs_; }
  /// The same node with other inputs.
  ImportedNode with_inputs(std::vector<const Value*> inputs) const;
  const std::string& place() const { return place_; }
  /// Counts the attributes that `other` was asked for as asked here too.
  void acknowledge_all(const ImportedNode& other) { asked_.insert(other.asked_.begin(), other.asked_.end()); }
  /// UserError if the node has an attribute that the operator never asked for.
  void require_all_asked() const;
  [[noreturn]] void fail_unsupported_attribute(const std::string& name) const;

 private:
  const onnx::AttributeProto* find(const std::string& name);
  const onnx::AttributeProto& require(const std::string& name);
  [[noreturn]] void fail_type(const onnx::AttributeProto& attribute, const std::string& accepted) const;
  const Value& require_value(int i) const;
  void require_sane(const std::string& name, std::int64_t value) const;

  const onnx::NodeProto& node_;
  std::string place_;
  std::string name_;
  int opset_;
  LazyGraph& graph_;
  std::vector<const Value*> inputs_;
  std::filesystem::path folder_;
  const std::vector<ImportedDim>& dims_;
  std::set<std::string> asked_;
  Recompute recompute_;
  TargetTraits target_;
};

}  // namespace etch
