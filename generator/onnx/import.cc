#include "onnx/import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/naming.h"
#include "lazy/graph.h"
#include "onnx/custom.h"
#include "onnx/freeze.h"
#include "onnx/header.h"
#include "onnx/input_sizes.h"
#include "onnx/limits.h"
#include "onnx/node_importer.h"
#include "onnx/order.h"
#include "onnx/parameters.h"
#include "onnx/problems.h"
#include "onnx/protobuf_file.h"
#include "onnx/states.h"
#include "onnx/tensor_proto.h"
#include "onnx/types.h"
#include "shape/open_sizes.h"

namespace etch {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

/// One import, step by step; what is imported so far is in `result_` and `values_`.
class Importer {
 public:
  /// With `trial`, sizes that are not given get InputAxis::example with that choice.
  Importer(const ImportOptions& options, ModelProto& model, std::optional<int> trial = std::nullopt)
      : options_(options), model_(model), graph_proto_(*model.mutable_graph()), nodes_(options, model, result_, dims_), trial_(trial) {
    place_ = options.path.empty() ? "model" : options.path.string();
    folder_ = options.path.parent_path();
    result_.graph = LazyGraph::create();
  }

  /// Continues after a problem, so that all problems are found in one run. A value that could not be made is unknown; a node that
  /// reads one is checked as far as possible without it, and its outputs are unknown too.
  ImportedModel run() {
    read_header(model_, options_, place_, result_);
    names_ = CNames(result_.name);
    collect([&] { read_opset(model_, place_, result_); });
    collect([&] { refuse_sparse(); });
    const std::vector<int> order = order_of_nodes();
    if (options_.training) collect([&] { trained_ = trained_initializers(graph_proto_, order, *options_.training, place_); });
    read_initializers();
    sizes_.emplace(options_, graph_proto_, initializers_, place_);
    freeze_inputs();
    for (const ValueInfoProto& info : graph_proto_.input()) {
      if (values_.find(info.name()) != nullptr) continue;  // an initializer, or frozen
      define(info.name(), {});
      collect([&] { read_input(info); });
      input_number_++;
    }
    for (int i : order) {
      for (const std::string& output : graph_proto_.node(i).output())
        if (!output.empty()) define(output, {});
      collect([&] { import_node(graph_proto_.node(i)); });
    }
    read_outputs();
    for (const std::string& op : unused_customs(options_.customs, graph_proto_))
      result_.warnings.push_back("--custom " + op + ": no node of the model is of this operator");
    return std::move(result_);
  }

 private:
  /// Runs `step` and adds a UserError that it throws to the problems.
  template <class Step>
  void collect(Step step) {
    using enum ImportProblem::Kind;
    try {
      step();
    } catch (const UnsupportedError& error) {
      result_.problems.push_back({Unsupported, error.where(), error.problem(), error.help(), error.subject(), "", ""});
    } catch (const UserError& error) {
      const ImportProblem problem{Wrong, error.where(), error.problem(), error.help(), "", "", ""};
      if (!contains(result_.problems, problem)) result_.problems.push_back(problem);
    }
  }

  /// The order of the nodes. If the graph has none (a cycle, a value that is never made), all nodes are only checked by themselves.
  std::vector<int> order_of_nodes() {
    std::vector<int> order;
    for (int i = 0; i < graph_proto_.node_size(); i++) order.push_back(i);
    collect([&] { order = node_order(graph_proto_, place_); });
    return order;
  }

  void refuse_sparse() const {
    for (const auto& tensor : graph_proto_.sparse_initializer()) {
      throw UnsupportedError(place_ + ": initializer '" + tensor.values().name() + "'", "it is sparse, dense initializers are accepted",
                             "convert it to a dense tensor when exporting", "sparse initializers");
    }
  }

  // --- values

  std::string value_place(const std::string& kind, const std::string& name) const { return place_ + ": " + kind + " '" + name + "'"; }

  void define(const std::string& name, Value value) { values_.define(name, std::move(value)); }

  /// Converts one initializer after the other and frees the file's copy, so that not all weights are in memory twice.
  void read_initializers() {
    for (const ValueInfoProto& input : graph_proto_.input()) declared_.emplace(input.name(), &input);
    for (auto& tensor : *graph_proto_.mutable_initializer()) {
      const std::string name = tensor.name();
      initializers_.insert(name);
      define(name, {});
      collect([&] {
        const Array array = array_of_proto(tensor, value_place("initializer", name), folder_);
        require_declared_like(name, array);
        tensor.Clear();
        tensor.set_name(name);
        count_parameters(array.dtype(), array.size());
        if (trained_.contains(name))
          train(name, array);
        else
          define(name, {Tensor::constant(*result_.graph, array, name), std::nullopt});
      });
    }
  }

  void train(const std::string& name, const Array& array) {
    const Shape shape(array.shape().begin(), array.shape().end());
    Tensor state;
    try {
      state = Tensor::state(*result_.graph, name, array.dtype(), shape, array).requires_grad(true);
    } catch (const ShapeError& error) {
      throw UserError(value_place("initializer", name), error.what());
    }
    define(name, {state, std::nullopt});
    result_.parameters.push_back({{name, names_.add(name), array.dtype(), shape, state}, state});
  }

  /// An initializer that is also an input (always in IR 3) must have the type and shape that the input declares.
  void require_declared_like(const std::string& name, const Array& array) const {
    for (auto [input, end] = declared_.equal_range(name); input != end; input++) {
      if (!input->second->type().has_tensor_type()) continue;
      const auto& type = input->second->type().tensor_type();
      bool same = dtype_of_onnx(type.elem_type()) == array.dtype();
      if (type.has_shape()) {
        same = same && type.shape().dim_size() == static_cast<int>(array.shape().size());
        for (int i = 0; same && i < type.shape().dim_size(); i++) {
          same = !type.shape().dim(i).has_dim_value() || type.shape().dim(i).dim_value() == array.shape()[static_cast<std::size_t>(i)];
        }
      }
      if (same) continue;
      const Shape shape(array.shape().begin(), array.shape().end());
      throw UserError(
          value_place("initializer", name),
          "it is " + std::string(name_of(array.dtype())) + " " + shape_text(shape) + ", the graph input of the same name says otherwise",
          "the file is damaged or was edited wrongly; export the model again");
    }
  }

  void count_parameters(DType dtype, std::int64_t count) {
    if (dtype != DType::Int64) result_.parameter_count += count;  // int64 tensors are shapes and axes
  }

  /// Frozen inputs are read before the others, as they give sizes that the model leaves open.
  void freeze_inputs() {
    std::vector<const ValueInfoProto*> inputs;
    std::vector<std::string> names;
    for (const ValueInfoProto& info : graph_proto_.input()) {
      if (initializers_.contains(info.name())) continue;
      inputs.push_back(&info);
      names.push_back(info.name());
    }
    const auto files = freeze_files(options_.freeze, names, initializers_);
    inputs_left_ = names.size() - files.size();
    for (std::size_t i = 0; i < inputs.size(); i++) {
      const auto file = files.find(names[i]);
      if (file != files.end()) freeze(*inputs[i], file->second, i);
    }
  }

  void freeze(const ValueInfoProto& info, const std::filesystem::path& file, std::size_t position) {
    const std::string& name = info.name();
    const std::string place = value_place("graph input", name);
    const DType dtype = require_dtype(require_tensor_type(info, place).elem_type(), place);
    const std::vector<InputAxis>& axes = require_axes(name, place);
    std::vector<std::int64_t> sizes;
    for (const InputAxis& axis : axes) sizes.push_back(size_to_freeze(axis, place));
    const Array value = read_frozen(name, file, dtype, sizes);
    require_sane_shape(value.shape(), "--freeze " + name + "=" + file.string());
    for (const InputAxis& axis : axes) {
      const std::int64_t size = value.shape()[static_cast<std::size_t>(axis.axis)];
      if (axis.fixed) continue;
      const Sint known = dims_.emplace(axis.dim, size).first->second;
      if (known == Sint(size)) continue;
      throw UserError("--freeze " + name + "=" + file.string(),
                      "sizes called '" + axis.dim + "' are " + to_text(known) + " and " + std::to_string(size),
                      "give a tensor whose sizes agree");
    }
    count_parameters(dtype, value.size());
    define(name, {Tensor::constant(*result_.graph, value, name), std::nullopt});
    result_.frozen.push_back({name, file, value, position});
    frozen_.push_back(position);
  }

  /// The size that an axis of a frozen input must have; -1: any size of its file.
  std::int64_t size_to_freeze(const InputAxis& axis, const std::string& place) {
    if (axis.fixed) return *axis.fixed;
    open_dims_.insert(axis.dim);
    const auto known = dims_.find(axis.dim);
    if (known != dims_.end()) return known->second.as_int();
    const auto bound = sizes_->binding(axis);
    if (!bound) return -1;
    if (bound->min == bound->max) return bound->min;
    throw UserError(place,
                    "its size '" + axis.dim + "' is to stay variable, from " + std::to_string(bound->min) + " to " +
                        std::to_string(bound->max) + ": what is frozen has one size",
                    "give the dimension one value, --dim " + axis.dim + "=VALUE, or leave the input out of --freeze");
  }

  const std::vector<InputAxis>& require_axes(const std::string& input, const std::string& place) const {
    const auto* axes = sizes_->axes(input);
    if (axes == nullptr)
      throw UserError(place, "it has no shape",
                      "give one, for example --shape " + input + "=1,3,224,224, or export the model with input shapes");
    return *axes;
  }

  void read_input(const ValueInfoProto& info) {
    const std::string place = value_place("graph input", info.name());
    const auto& type = require_tensor_type(info, place);
    const DType dtype = require_dtype(type.elem_type(), place);
    const std::vector<InputAxis>& axes = require_axes(info.name(), place);
    Shape shape;
    for (const InputAxis& axis : axes)
      if (const auto size = read_axis(axis, static_cast<int>(axes.size()), place)) shape.push_back(*size);
    if (shape.size() < axes.size()) return;
    require_sane_shape(shape, place);
    const Tensor tensor = Tensor::input(*result_.graph, info.name(), dtype, shape);
    result_.inputs.push_back({info.name(), names_.add(info.name()), dtype, shape, tensor});
    define(info.name(), {tensor, std::nullopt});
  }

  /// A size, or a Variable with the range that was bound or that test data have; nullopt if the size is open, which is then recorded.
  std::optional<Sint> read_axis(const InputAxis& axis, int rank, const std::string& place) {
    if (axis.fixed && *axis.fixed > 0) return *axis.fixed;
    if (const auto known = dims_.find(axis.dim); known != dims_.end()) return known->second;
    if (const auto bound = sizes_->binding(axis)) return dims_[axis.dim] = bind(*bound);
    if (axis.fixed) return *axis.fixed;
    open_dims_.insert(axis.dim);
    if (const auto seen = size_in_examples(axis.axis)) {
      if (seen->max == 0) return dims_[axis.dim] = 0;
      return dims_[axis.dim] = bind({axis.dim, seen->min, seen->max});
    }
    if (trial_) return dims_[axis.dim] = axis.example(rank, *trial_);
    note_open(axis, rank, place);
    return std::nullopt;
  }

  void note_open(const InputAxis& axis, int rank, const std::string& place) {
    if (std::ranges::find(result_.problems, axis.dim, &ImportProblem::dim) != result_.problems.end()) return;
    const std::string how = axis.declared.empty()       ? ""
                            : axis.declared == axis.dim ? ": it is called '" + axis.dim + "'"
                                                        : ": it is given as " + axis.declared;
    result_.problems.push_back({ImportProblem::Kind::OpenSize, place,
                                "its size at axis " + std::to_string(axis.axis) + " is not fixed" + how,
                                "pass --dim " + axis.dim + "=VALUE, or --dim " + axis.dim + "=MIN..MAX to keep it variable", "", axis.dim,
                                dim_option(axis.dim, std::to_string(axis.example(rank)))});
  }

  /// The sizes in test data at an axis of the input that is being read; nullopt if there is no data of its rank.
  std::optional<DimBinding> size_in_examples(int axis) const {
    std::optional<DimBinding> seen;
    for (const auto& shapes : options_.examples) {
      const std::size_t number = data_number(input_number_, shapes.size(), inputs_left_, frozen_);
      if (number >= shapes.size()) continue;
      const std::vector<std::int64_t>& shape = shapes[number];
      if (static_cast<std::size_t>(axis) >= shape.size()) continue;
      const std::int64_t size = shape[static_cast<std::size_t>(axis)];
      if (!seen) seen = DimBinding{"", size, size};
      seen->min = std::min(seen->min, size);
      seen->max = std::max(seen->max, size);
    }
    return seen;
  }

  Sint bind(const DimBinding& binding) {
    if (binding.min < 1 || binding.max < binding.min || binding.max > kMaxElements) {
      throw UserError("--dim " + binding.name + "=" + range_text({binding.min, binding.max}),
                      "a size from 1 to " + std::to_string(kMaxElements) + " is expected, or a range MIN..MAX of such");
    }
    if (binding.min == binding.max) return binding.min;
    ImportedDim dim{binding.name, names_.add(size_identifier(binding.name)), binding.min, binding.max, 0};
    dim.size = result_.graph->symbols().variable(dim.c_name, dim.min, dim.max);
    result_.dims.push_back(dim);
    return dim.size;
  }

  // --- nodes

  void import_node(const NodeProto& proto) {
    result_.operators.push_back(proto.op_type());
    const std::string name = node_names_.add(display_name(proto));
    std::optional<std::vector<Value>> outputs = nodes_.outputs(proto, name, values_);
    if (!outputs) return;
    for (int i = 0; i < proto.output_size(); i++) {
      Value& value = (*outputs)[static_cast<std::size_t>(i)];
      if (proto.output(i).empty()) continue;
      // Outside of a Gradient nothing is differentiated, unless all is: for a training step.
      const bool noted = value.tensor && value.tensor.requires_grad() == RequiresGrad::Yes;
      if (noted && !options_.training) value.tensor = value.tensor.detach();
      if (value.tensor && (proto.op_type() == "Constant" || proto.op_type() == "ConstantOfShape")) count_constant(value.tensor);
      define(proto.output(i), std::move(value));
    }
    note_logits(proto);
    result_.node_count++;
    result_.node_names.push_back(name);
  }

  /// A loss of probabilities is computed from what made them, which loses no digits.
  void note_logits(const NodeProto& proto) {
    static const std::set<std::string> kGivesOn{"Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Cast"};
    const std::string& op = proto.op_type();
    if (!options_.training) return;
    if (kGivesOn.contains(op)) {
      if (const auto known = made_of_.find(proto.input(0)); known != made_of_.end()) made_of_[proto.output(0)] = known->second;
      return;
    }
    const bool sigmoid = op == "Sigmoid";
    if (!sigmoid && op != "Softmax" && op != "LogSoftmax") return;
    const Tensor input = values_.find(proto.input(0))->tensor;  // the node was computed
    if (!input || !variables(input.shape()).empty()) return;
    if (sigmoid) {
      made_of_[proto.output(0)] = {input, 0};
      return;
    }
    std::int64_t axis = proto.attribute_size() > 0 ? proto.attribute(0).i() : result_.opset < 13 ? 1 : -1;
    if (axis < 0) axis += input.rank();
    if (axis >= input.rank()) return;
    for (int k = static_cast<int>(axis) + 1; k < input.rank(); k++)
      if (!input.dim(k).is_int(1)) return;
    made_of_[proto.output(0)] = {input, input.dim(static_cast<int>(axis)).as_int()};
  }

  void count_constant(const Tensor& tensor) {
    if (tensor.size().is_int()) count_parameters(tensor.dtype(), tensor.size().as_int());
  }

  // --- outputs

  void read_outputs() {
    collect([&] {
      if (graph_proto_.output_size() == 0) throw UserError(place_, "the graph has no outputs", "mark at least one value as an output");
    });
    for (const ValueInfoProto& info : graph_proto_.output()) collect([&] { read_output(info); });
  }

  void read_output(const ValueInfoProto& info) {
    const std::string place = value_place("graph output", info.name());
    const Value* value = values_.find(info.name());
    if (value == nullptr) {
      throw UserError(place, "it is made by no node, graph input or initializer", "the file is damaged; export the model again");
    }
    if (!output_names_.insert(info.name()).second) throw UserError(place, "it is listed twice among the outputs");
    if (!value->known()) return;
    Tensor tensor = value->tensor;
    if (!tensor) {
      const auto made = tensor_of(*result_.graph, *value->symbolic);
      if (!made)
        throw UserError(place, "it is computed from a variable dimension and may be negative", "bind the dimension: --dim NAME=VALUE");
      tensor = *made;
    }
    const bool bound = !options_.dims.empty() || !options_.shapes.empty() || !options_.freeze.empty() || !open_dims_.empty();
    if (const std::string differs = differs_from_declared(info, tensor, place, bound); !differs.empty())
      result_.warnings.push_back("graph output '" + info.name() + "': " + differs);
    const auto made_of = made_of_.find(info.name());
    result_.outputs.push_back({info.name(), names_.add(info.name()), tensor.dtype(), tensor.shape(), tensor});
    if (made_of == made_of_.end() || !variables(tensor.shape()).empty()) return;
    const auto& [input, classes] = made_of->second;
    ImportedTensor& output = result_.outputs.back();
    if (classes == 0) output.before_sigmoid = input.reshape(tensor.shape()).cast(tensor.dtype());
    if (classes > 0 && tensor.rank() == 2 && tensor.dim(1).is_int(classes)) output.before_softmax = input.reshape(tensor.shape());
  }

  const ImportOptions& options_;
  ModelProto& model_;
  GraphProto& graph_proto_;
  std::string place_;
  std::filesystem::path folder_;
  ImportedModel result_;
  CNames names_;
  Values values_;
  std::map<std::string, Sint> dims_;
  NodeImporter nodes_;
  std::vector<std::size_t> frozen_;  // positions of frozen inputs among all
  std::size_t inputs_left_ = 0;      // number of inputs that are not frozen
  std::optional<InputSizes> sizes_;
  std::optional<int> trial_;
  std::size_t input_number_ = 0;     // number of the input that is being read, among those
  std::set<std::string> open_dims_;  // dimensions to which neither the file nor the caller gives a size
  std::set<std::string> initializers_, output_names_;
  std::set<std::string> trained_;  // initializers that become states
  /// What a softmax over so many classes was given, or (0) a sigmoid, by the name of its result.
  std::map<std::string, std::pair<Tensor, std::int64_t>> made_of_;
  UniqueNames node_names_;
  std::unordered_multimap<std::string, const ValueInfoProto*> declared_;  // inputs of the graph by name
};

std::string place_of(const ImportOptions& options) { return options.path.empty() ? "model" : options.path.string(); }

ImportedModel run_import(const ImportOptions& options, std::optional<int> trial = std::nullopt) {
  ModelProto model;
  if (options.bytes.empty()) {
    read_message(options.path, "an ONNX model", model);
  } else {
    parse_message(options.bytes, place_of(options), "an ONNX model", model);
  }
  return Importer(options, model, trial).run();
}

/// The problems of nodes after an open size that do not depend on the size: those that are exactly equal for two different sizes.
std::vector<ImportProblem> problems_of_any_size(const ImportOptions& options) {
  std::vector<ImportProblem> common;
  try {
    const ImportedModel first = run_import(options, 0), second = run_import(options, 1);
    for (const ImportProblem& problem : first.problems)
      if (contains(second.problems, problem)) common.push_back(problem);
  } catch (const std::exception&) {  // the model does not accept the trial sizes, which is no problem of the model
    common.clear();
  }
  return common;
}

}  // namespace

SizeNames names_of(const std::vector<ImportedDim>& dims) {
  SizeNames names;
  for (const ImportedDim& dim : dims) names[dim.c_name] = dim.name;
  return names;
}

ImportedModel inspect_onnx(const ImportOptions& options) {
  ImportedModel model = run_import(options);
  if (model.problems.empty()) bind_states(model, options.states);
  if (std::ranges::find(model.problems, ImportProblem::Kind::OpenSize, &ImportProblem::kind) == model.problems.end()) return model;
  for (ImportProblem& problem : problems_of_any_size(options))
    if (!contains(model.problems, problem)) model.problems.push_back(std::move(problem));
  return model;
}

ImportedModel import_onnx(const ImportOptions& options) {
  ImportedModel model = inspect_onnx(options);
  if (!model.problems.empty()) throw_problems(model.problems, place_of(options));
  return model;
}

}  // namespace etch
