#include "onnx/node_importer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "lazy/graph.h"
#include "onnx/custom.h"
#include "onnx/header.h"
#include "onnx/limits.h"
#include "onnx/order.h"
#include "onnx/require_operator.h"
#include "onnx/run_operator.h"
#include "onnx/schema.h"
#include "onnx/shape_arithmetic.h"
#include "onnx/subgraph.h"

namespace etch {
namespace {

using onnx::NodeProto;

// Gradients of gradients double the nodes with each level: far beyond what anybody takes, and far below what would not end.
constexpr int kMostLevels = 8, kMostRecomputed = 100'000;

void require_first_type(const ImportedNode& node, const OperatorRow& row, DType dtype, const std::string& what) {
  if (accepts(row, dtype)) return;
  node.fail("its " + what + " is " + std::string(name_of(dtype)) + ", accepted are: " + types_text(row),
            "insert a Cast, or export the model with another type");
}

class Level {
 public:
  explicit Level(int& depth) : depth_(depth) { depth_++; }
  ~Level() { depth_--; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  int& depth_;
};

}  // namespace

const Value* Values::find(const std::string& name) const {
  for (const Values* here = this; here != nullptr; here = here->behind_)
    if (const auto found = here->values_.find(name); found != here->values_.end()) return &found->second;
  return nullptr;
}

NodeImporter::NodeImporter(const ImportOptions& options, const onnx::ModelProto& model, const ImportedModel& result,
                           const std::map<std::string, Sint>& dims)
    : options_(options),
      model_(model),
      result_(result),
      dims_(dims),
      place_(options.path.empty() ? "model" : options.path.string()),
      folder_(options.path.parent_path()),
      target_(options.target) {
  // A Gradient imports a part of the graph once more, in which no sums are cut: what is equal in both is computed once.
  if (std::ranges::any_of(model.graph().node(), [](const NodeProto& node) { return !gradient_target(node).empty(); }))
    target_.long_sums = {};
}

std::optional<std::vector<Value>> NodeImporter::outputs(const NodeProto& proto, const std::string& name, const Values& values) {
  names_.emplace(&proto, name);
  const CustomOperator* custom = find_custom(options_.customs, proto);
  const OperatorRow* row = nullptr;
  if (custom == nullptr) {
    require_known_domain(proto, model_, place_);
    // Known, but it may mean something else in this opset.
    if (is_main_domain(proto.domain()) && !is_accepted_opset(result_.opset) && oldest_opset_of(proto.op_type())) return std::nullopt;
    row = &require_operator(proto, version_for(proto), place_);
  }
  bool known = true;
  std::vector<const Value*> inputs = inputs_of(proto, values, known);
  ImportedNode node(proto, node_place(place_, proto), version_for(proto), *result_.graph, std::move(inputs), folder_, result_.dims);
  node.set_target(target_);
  const OriginScope origin(*result_.graph, name, proto.op_type());
  if (custom == nullptr) require_schema(node, proto);
  if (!known) return std::nullopt;
  if (custom != nullptr) return run_custom(proto, node, *custom);
  if (node.has_input(0)) require_first_type(node, *row, node.input_type(0), "input 0");
  require_types(node);
  node.set_recompute([&](const ImportedNode& at, const std::string& target, const std::vector<std::pair<std::string, Tensor>>& instead) {
    return recomputed(at, values, target, instead);
  });
  std::vector<Value> made = run(node, *row);
  node.require_all_asked();
  return named(proto, node, *row, std::move(made));
}

/// The values of the node's inputs; clears `known` if one of them is not, or what a Gradient differentiates.
std::vector<const Value*> NodeImporter::inputs_of(const NodeProto& proto, const Values& values, bool& known) const {
  static const Value kUnknown;
  std::vector<const Value*> inputs;
  for (const std::string& name : proto.input()) {
    const Value* value = values.find(name);
    inputs.push_back(name.empty() ? nullptr : value == nullptr ? &kUnknown : value);
    known = known && (name.empty() || inputs.back()->known());
  }
  if (const std::string target = gradient_target(proto); has_value(model_.graph(), target)) {
    const Value* value = values.find(target);
    known = known && value != nullptr && value->known();
  }
  return inputs;
}

int NodeImporter::version_for(const NodeProto& proto) const {
  return proto.domain() == kTrainingDomain ? version_of_domain(model_, kTrainingDomain) : result_.opset;
}

std::vector<Value> NodeImporter::run(ImportedNode& node, const OperatorRow& row) const {
  try {
    if (auto values = shape_arithmetic(node, row)) return std::move(*values);
    std::vector<Value> made;
    for (const Tensor& tensor : run_operator(node, row)) made.push_back({tensor, std::nullopt});
    return made;
  } catch (const ShapeError& error) {
    node.fail(error);
  } catch (const NotProved& error) {
    node.fail("it can't be shown for every size (" + ranges_text(error.sizes(), names_of(result_.dims)) + ") that " + error.rule(),
              node.size_help(error.sizes()));
  } catch (const IndexOverflow&) {
    node.fail("the sizes that it asks for do not fit into 64 bits", "check its shapes and numbers; the file may be damaged");
  }
}

/// What the operator `made`, as the outputs that the node lists.
std::vector<Value> NodeImporter::named(const NodeProto& proto, const ImportedNode& node, const OperatorRow& row,
                                       std::vector<Value> made) const {
  made.resize(std::max(made.size(), static_cast<std::size_t>(proto.output_size())));
  for (int i = 0; i < proto.output_size(); i++) {
    Value& value = made[static_cast<std::size_t>(i)];
    if (proto.output(i).empty()) {
      value = {};
    } else if (!value.known()) {
      node.fail("its output " + std::to_string(i) + " ('" + proto.output(i) + "') is not supported",
                "export the model without this output");
    } else if (value.tensor) {
      require_sane_shape(value.tensor.shape(), node.place() + ": output '" + proto.output(i) + "'");
      if (i == 0 && !node.has_input(0)) require_first_type(node, row, value.tensor.dtype(), "output 0");
    }
  }
  made.resize(static_cast<std::size_t>(proto.output_size()));
  return made;
}

std::vector<Value> NodeImporter::run_custom(const NodeProto& proto, const ImportedNode& node, const CustomOperator& custom) const {
  try {
    std::vector<Value> made;
    for (const Tensor& output : call_custom(custom, node, proto, model_.graph(), dims_)) {
      require_sane_shape(output.shape(), node.place() + ": output '" + proto.output(static_cast<int>(made.size())) + "'");
      made.push_back({output, std::nullopt});
    }
    return made;
  } catch (const ShapeError& error) {
    node.fail(error);
  }
}

Tensor NodeImporter::recomputed(const ImportedNode& node, const Values& values, const std::string& name,
                                const std::vector<std::pair<std::string, Tensor>>& instead) {
  std::vector<std::string> from;
  Values part(&values);
  for (const auto& [replaced, tensor] : instead) {
    from.push_back(replaced);
    part.define(replaced, {tensor, std::nullopt});
  }
  const Subgraph between = subgraph_between(model_.graph(), from, name);
  if (!between.unknown.empty())
    node.fail("it names '" + between.unknown + "', which is no value of the graph", "name inputs, initializers and outputs of nodes");
  if (!between.derived.empty())
    node.fail("'" + between.derived + "' is computed from '" + between.from_other + "', ONNX wants values that do not depend on each other",
              "leave one of them out of xs and zs");
  if (!between.unused.empty())
    node.fail("'" + name + "' is not computed from '" + between.unused + "', ONNX wants in xs and zs only what y is computed from",
              "leave it out; its gradient is 0");
  const Level level(depth_);
  recomputed_nodes_ += static_cast<int>(between.nodes.size());
  if (depth_ > kMostLevels || recomputed_nodes_ > kMostRecomputed)
    node.fail(
        "gradients of gradients are " + std::to_string(depth_) + " levels deep and take " + std::to_string(recomputed_nodes_) + " nodes",
        "at most " + std::to_string(kMostLevels) + " levels and " + std::to_string(kMostRecomputed) + " nodes are accepted");
  for (const NodeProto* proto : between.nodes) {
    const auto named = names_.find(proto);
    auto made = outputs(*proto, named == names_.end() ? display_name(*proto) : named->second, part);
    check(made.has_value(), "what a Gradient differentiates was imported before it");
    for (int i = 0; i < proto->output_size(); i++)
      if (!proto->output(i).empty()) part.define(proto->output(i), std::move((*made)[static_cast<std::size_t>(i)]));
  }
  const Value& value = *part.find(name);
  if (value.tensor) return value.tensor;
  node.fail("'" + name + "' is computed from the sizes of tensors alone", "differentiate a float");
}

}  // namespace etch
