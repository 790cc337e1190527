#include "onnx/imported_node.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "lazy/graph.h"
#include "onnx/freeze.h"
#include "onnx/import.h"
#include "onnx/order.h"
#include "onnx/tensor_proto.h"

namespace etch {

using onnx::AttributeProto;

namespace {

constexpr std::int64_t kMaxConstant = 1 << 26;
constexpr std::int64_t kMaxAttribute = 1 << 24;

/// Attributes that may hold any number: bounds that are clamped, and values.
bool may_be_large(const std::string& attribute) {
  for (const char* name : {"start", "end", "starts", "ends", "value_int", "value_ints"}) {
    if (attribute == name) return true;
  }
  return false;
}

std::string type_name(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::FLOAT:
      return "float";
    case AttributeProto::INT:
      return "int";
    case AttributeProto::STRING:
      return "string";
    case AttributeProto::TENSOR:
      return "tensor";
    case AttributeProto::GRAPH:
      return "graph";
    case AttributeProto::SPARSE_TENSOR:
      return "sparse tensor";
    case AttributeProto::TYPE_PROTO:
      return "type";
    case AttributeProto::FLOATS:
      return "list of floats";
    case AttributeProto::INTS:
      return "list of ints";
    case AttributeProto::STRINGS:
      return "list of strings";
    case AttributeProto::TENSORS:
      return "list of tensors";
    case AttributeProto::GRAPHS:
      return "list of graphs";
    case AttributeProto::SPARSE_TENSORS:
      return "list of sparse tensors";
    case AttributeProto::TYPE_PROTOS:
      return "list of types";
    case AttributeProto::UNDEFINED:
      return "undefined";
  }
  return "unknown";
}

/// Whether the attribute has no value: an empty list of any type.
bool is_empty(const AttributeProto& a) {
  return !a.has_f() && !a.has_i() && !a.has_s() && !a.has_t() && !a.has_g() && a.floats_size() == 0 && a.ints_size() == 0 &&
         a.strings_size() == 0;
}

/// Whether the attribute has that type. Old exporters leave the type out; then the field that is set decides.
bool is(const AttributeProto& a, AttributeProto::AttributeType type) {
  if (a.has_type() && a.type() != AttributeProto::UNDEFINED) return a.type() == type;
  switch (type) {
    case AttributeProto::FLOAT:
      return a.has_f();
    case AttributeProto::INT:
      return a.has_i();
    case AttributeProto::STRING:
      return a.has_s();
    case AttributeProto::TENSOR:
      return a.has_t();
    case AttributeProto::FLOATS:
      return a.floats_size() > 0 || is_empty(a);
    case AttributeProto::INTS:
      return a.ints_size() > 0 || is_empty(a);
    case AttributeProto::STRINGS:
      return a.strings_size() > 0 || is_empty(a);
    case AttributeProto::GRAPH:
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::TYPE_PROTO:
    case AttributeProto::TENSORS:
    case AttributeProto::GRAPHS:
    case AttributeProto::SPARSE_TENSORS:
    case AttributeProto::TYPE_PROTOS:
    case AttributeProto::UNDEFINED:
      return false;
  }
  return false;
}

/// Whether gradients go through the value: its numbers alone would not do.
bool is_watched(const Value& value) { return value.tensor && value.tensor.requires_grad() == RequiresGrad::Yes; }

}  // namespace

ImportedNode::ImportedNode(const onnx::NodeProto& node, std::string place, int opset, LazyGraph& graph, std::vector<const Value*> inputs,
                           std::filesystem::path folder, const std::vector<ImportedDim>& dims)
    : node_(node),
      place_(std::move(place)),
      name_(display_name(node)),
      opset_(opset),
      graph_(graph),
      inputs_(std::move(inputs)),
      folder_(std::move(folder)),
      dims_(dims) {
  while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
}

ImportedNode ImportedNode::with_inputs(std::vector<const Value*> inputs) const {
  ImportedNode node(node_, place_, opset_, graph_, std::move(inputs), folder_, dims_);
  node.set_recompute(recompute_);
  node.set_target(target_);
  return node;
}

const std::string& ImportedNode::op_type() const { return node_.op_type(); }

int ImportedNode::output_count() const {
  int count = node_.output_size();
  while (count > 0 && node_.output(count - 1).empty()) count--;
  return count;
}

bool ImportedNode::has_output(int i) const { return i < node_.output_size() && !node_.output(i).empty(); }

const Value& ImportedNode::require_value(int i) const {
  if (!has_input(i)) fail("it has " + std::to_string(input_count()) + " inputs, input " + std::to_string(i) + " is missing");
  return *inputs_[static_cast<std::size_t>(i)];
}

Tensor ImportedNode::input(int i) const {
  const Value& value = require_value(i);
  if (value.tensor) return value.tensor;
  if (auto tensor = tensor_of(graph_, *value.symbolic)) return *tensor;
  fail("its input " + std::to_string(i) + " is computed from a variable dimension and may be negative", size_help(value.symbolic->values));
}

DType ImportedNode::input_type(int i) const { return require_value(i).dtype(); }

std::optional<Array> ImportedNode::constant(int i) const {
  const Value& value = require_value(i);
  if (is_watched(value)) return std::nullopt;
  // A constant that is larger than any table of numbers stays a tensor: a damaged file may ask for terabytes.
  const bool small = value.tensor && value.tensor.size().max() <= kMaxConstant;
  return small ? value.tensor.evaluate() : std::nullopt;
}

Array ImportedNode::require_constant(int i, const std::string& what) const {
  const Value& value = require_value(i);
  if (auto array = constant(i)) return *array;
  if (is_watched(value)) {
    fail("its " + what + " (input " + std::to_string(i) + ") is to be differentiated, it must be known while generating",
         "leave it, and what it is computed from, out of the attribute xs of a Gradient");
  }
  if (value.symbolic) {
    fail("its " + what + " (input " + std::to_string(i) + ") depends on a variable dimension, a constant is needed",
         size_help(value.symbolic->values));
  }
  if (value.tensor.size().max() > kMaxConstant)
    fail("its " + what + " (input " + std::to_string(i) + ") has more than " + std::to_string(kMaxConstant) + " elements");
  fail("its " + what + " (input " + std::to_string(i) + ") is computed when the model runs, it must be known while generating",
       constant_help(i));
}

std::string ImportedNode::constant_help(int i) const {
  const Tensor& tensor = require_value(i).tensor;
  std::vector<const LazyBuffer*> inputs;
  if (tensor) {
    for (const LazyBuffer* base : toposort_bases({tensor.buffer()})) {
      if (base->kind == LazyKind::Input) inputs.push_back(base);
    }
  }
  const auto all = std::ranges::count(graph_.buffers(), LazyKind::Input, &LazyBuffer::kind);
  const bool itself = inputs.size() == 1 && inputs[0] == tensor.buffer();
  // A value that depends on all inputs depends on the data, which can't be frozen.
  if (inputs.empty() || (!itself && static_cast<std::ptrdiff_t>(inputs.size()) == all))
    return "make it a constant or an initializer of the model";
  std::string text =
      itself ? "it is a graph input, which can be made a constant:" : "it depends on graph inputs that can be made constants:";
  for (const LazyBuffer* input : inputs) text += " --freeze " + freeze_argument(input->name);
  return text + " (.npy, TensorProto .pb or raw elements)";
}

std::vector<Sint> ImportedNode::require_dims(int i, const std::string& what) const {
  const Value& value = require_value(i);
  if (value.symbolic) return value.symbolic->values;
  const Array array = require_constant(i, what);
  if (is_float(array.dtype()))
    fail("its " + what + " (input " + std::to_string(i) + ") is " + std::string(name_of(array.dtype())) + ", integers are needed");
  std::vector<Sint> dims;
  for (std::int64_t v : array.ints()) dims.push_back(v);
  return dims;
}

const AttributeProto* ImportedNode::find(const std::string& name) {
  asked_.insert(name);
  for (const AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() != name) continue;
    if (!attribute.ref_attr_name().empty()) {
      fail("attribute " + name + " refers to the attribute '" + attribute.ref_attr_name() + "' of a function, but the node is in none");
    }
    return &attribute;
  }
  return nullptr;
}

const AttributeProto& ImportedNode::require(const std::string& name) {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) fail("attribute " + name + " is missing");
  return *attribute;
}

void ImportedNode::fail_type(const AttributeProto& attribute, const std::string& accepted) const {
  fail("attribute " + attribute.name() + " is of type " + type_name(attribute.type()) + ", " + accepted + " is expected");
}

/// Sizes, counts and axes: products of a few of them must fit into 64 bits.
void ImportedNode::require_sane(const std::string& name, std::int64_t value) const {
  if ((value <= kMaxAttribute && value >= -kMaxAttribute) || may_be_large(name)) return;
  fail("attribute " + name + " holds " + std::to_string(value) + ", numbers from -" + std::to_string(kMaxAttribute) + " to " +
       std::to_string(kMaxAttribute) + " are accepted");
}

bool ImportedNode::has_attribute(const std::string& name) { return find(name) != nullptr; }

std::int64_t ImportedNode::attribute_int(const std::string& name, std::optional<std::int64_t> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::INT)) fail_type(attribute, "int");
  require_sane(name, attribute.i());
  return attribute.i();
}

double ImportedNode::attribute_float(const std::string& name, std::optional<double> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::FLOAT)) fail_type(attribute, "float");
  return static_cast<double>(attribute.f());
}

std::string ImportedNode::attribute_string(const std::string& name, std::optional<std::string> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::STRING)) fail_type(attribute, "string");
  return attribute.s();
}

std::vector<std::int64_t> ImportedNode::attribute_ints(const std::string& name, std::optional<std::vector<std::int64_t>> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::INTS)) fail_type(attribute, "list of ints");
  for (std::int64_t value : attribute.ints()) require_sane(name, value);
  return {attribute.ints().begin(), attribute.ints().end()};
}

std::vector<double> ImportedNode::attribute_floats(const std::string& name, std::optional<std::vector<double>> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::FLOATS)) fail_type(attribute, "list of floats");
  return {attribute.floats().begin(), attribute.floats().end()};
}

std::vector<std::string> ImportedNode::attribute_strings(const std::string& name, std::optional<std::vector<std::string>> fallback) {
  const AttributeProto* a = find(name);
  if (a == nullptr && fallback) return *fallback;
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::STRINGS)) fail_type(attribute, "list of strings");
  return {attribute.strings().begin(), attribute.strings().end()};
}

Array ImportedNode::attribute_tensor(const std::string& name) {
  const AttributeProto& attribute = require(name);
  if (!is(attribute, AttributeProto::TENSOR)) fail_type(attribute, "tensor");
  return array_of_proto(attribute.t(), place_ + ": attribute " + name, folder_);
}

std::string ImportedNode::size_help(const std::vector<Sint>& sizes) const { return etch::size_help(sizes, names_of(dims_)); }

void ImportedNode::fail(const ShapeError& error) const {
  std::vector<Sint> sizes;
  for (const Value* value : inputs_) {
    if (value == nullptr) continue;
    const std::vector<Sint>& more = value->tensor ? value->tensor.shape() : value->symbolic->values;
    sizes.insert(sizes.end(), more.begin(), more.end());
  }
  fail(error.what(), size_help(sizes));
}

void ImportedNode::fail(const std::string& what, const std::string& help) const {
  throw UnsupportedError(place_, what, help, op_type() + ": " + what);
}

void ImportedNode::require_all_asked() const {
  for (const AttributeProto& attribute : node_.attribute()) {
    if (asked_.contains(attribute.name())) continue;
    fail_unsupported_attribute(attribute.name());
  }
}

void ImportedNode::fail_unsupported_attribute(const std::string& name) const {
  fail("attribute " + name + " is not supported at opset " + std::to_string(opset_),
       "export the model without it, or with an opset that defines it");
}

}  // namespace etch
