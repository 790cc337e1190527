#include "onnx/custom.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/naming.h"
#include "lazy/graph.h"
#include "onnx/header.h"
#include "onnx/imported_node.h"
#include "onnx/limits.h"

namespace etch {
namespace {

using onnx::AttributeProto;

/// Of another size elsewhere, or of another sign.
constexpr std::array<std::string_view, 8> kNotTheSameEverywhere = {"char",      "long",     "unsigned long", "size_t",
                                                                   "ptrdiff_t", "intptr_t", "long double",   "wchar_t"};

bool is_same_everywhere(const CType& type) { return std::ranges::find(kNotTheSameEverywhere, type.number) == kNotTheSameEverywhere.end(); }

/// Whether what a pointer of that type points to is an element of `dtype` in memory.
bool points_to(const CType& type, DType dtype) {
  using enum CType::Kind;
  const CType::Kind kinds[] = {Bool, Signed, Unsigned, Float};
  const DTypeKind wanted = bytes_of(dtype) == 2 && is_float(dtype) ? DTypeKind::Unsigned : info(dtype).kind;
  return type.pointer && is_same_everywhere(type) && type.bytes == bytes_of(dtype) && type.kind == kinds[static_cast<int>(wanted)];
}

/// Whether the number may be passed for a parameter of that type, on every machine.
bool holds(const CType& type, std::int64_t low, std::int64_t high) {
  using enum CType::Kind;
  if (type.pointer) return false;
  if (type.kind == Bool) return low >= 0 && high <= 1;
  if (type.kind != Signed && type.kind != Unsigned) return false;
  if (type.kind == Unsigned && low < 0) return false;
  const int bytes = is_same_everywhere(type) ? type.bytes : std::min(type.bytes, 4);
  const int bits = 8 * bytes - (type.kind == Signed ? 1 : 0);
  if (bits >= 63) return true;
  const std::int64_t most = (std::int64_t{1} << bits) - 1;
  return high <= most && low >= -most - 1;
}

std::string integer_literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
  const bool is_small = value >= -std::numeric_limits<std::int32_t>::max() && value <= std::numeric_limits<std::int32_t>::max();
  return is_small ? fmt::format("{}", value) : fmt::format("INT64_C({})", value);
}

std::string float_literal(float value, bool as_double) {
  std::string text = as_double ? fmt::format("{}", static_cast<double>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (as_double ? "" : "f");
}

/// What the model says about a value: only that tells what a function in C makes.
ExternalOutput declared_output(const ImportedNode& node, const onnx::GraphProto& graph, const std::string& value,
                               const std::map<std::string, Sint>& dims) {
  const onnx::ValueInfoProto* info = nullptr;
  for (const auto* list : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto& v : *list)
      if (v.name() == value && v.type().has_tensor_type() && v.type().tensor_type().has_shape()) info = &v;
  if (info == nullptr)
    node.fail("the model does not declare the type and shape of its output '" + value + "', which no rule gives here",
              "declare it in the model (value_info): onnx.helper.make_tensor_value_info(\"" + value + "\", TYPE, SHAPE)");
  const auto& type = info->type().tensor_type();
  ExternalOutput declared{require_dtype(type.elem_type(), node.place() + ": output '" + value + "'"), {}};
  for (int axis = 0; axis < type.shape().dim_size(); axis++) {
    const auto& dim = type.shape().dim(axis);
    const auto known = dims.find(dim.dim_param());
    if (dim.has_dim_value())
      declared.shape.emplace_back(dim.dim_value());
    else if (known != dims.end())
      declared.shape.push_back(known->second);
    else
      node.fail(fmt::format("the model declares the size at axis {} of its output '{}' as {}", axis, value,
                            dim.dim_param().empty() ? "unknown" : "'" + dim.dim_param() + "', which no input has"),
                "declare it as a number, or by the name of a dimension of an input");
  }
  require_sane_shape(declared.shape, node.place() + ": output '" + value + "'");
  return declared;
}

/// One comparison of a prototype with a node. Both signatures are made on the way: what is right is taken over.
class Match {
 public:
  Match(const CustomOperator& custom, const ImportedNode& node, const onnx::NodeProto& proto, std::vector<ExternalOutput> outputs)
      : custom_(custom), found_(custom.prototype), node_(node), proto_(proto), outputs_(std::move(outputs)) {
    for (std::size_t k = 0; k < outputs_.size(); k++)
      tensors_.push_back({outputs_[k].dtype, outputs_[k].shape, proto.output(static_cast<int>(k))});
    for (int i = 0; i < node.input_count(); i++) {
      inputs_.push_back(node.input(i));
      tensors_.push_back({inputs_.back().dtype(), inputs_.back().shape(), proto.input(i)});
    }
  }

  ExternalKernel run() {
    if (!found_.not_callable.empty()) wrong(found_.not_callable);
    if (found_.variadic) wrong("it takes a variable number of arguments");
    if (found_.result.kind != CType::Kind::Void || found_.result.pointer) wrong("it returns " + found_.result.text + ", not void");
    match_pointers();
    match_scalars();
    add_missing_attributes();
    add_missing_sizes();
    const std::string expected = fmt::format("void {}({})", found_.function, fmt::join(expected_, ", "));
    if (!problems_.empty()) fail(expected);
    return {custom_.name(), found_.function, found_.file, expected, std::move(outputs_), std::move(scalars_), custom_.files};
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  struct Argument {
    DType dtype;
    Shape shape;
    std::string value;      // in the model
    std::string name = {};  // of the parameter
  };

  void wrong(const std::string& what) { problems_.push_back(what); }

  /// A parameter's text with its place: "parameter 2, 'float *x',".
  std::string parameter(std::size_t i) const {
    const CParameter& p = found_.parameters[i];
    return fmt::format("parameter {} '{}{}{}'", i + 1, p.type.text, p.type.text.ends_with('*') ? "" : " ", p.name);
  }

  void match_pointers() {
    CNames names;
    for (const CParameter& p : found_.parameters)
      if (!p.name.empty()) names.add(p.name);
    std::size_t given = 0;
    while (given < found_.parameters.size() && found_.parameters[given].type.pointer) given++;
    for (std::size_t i = 0; i < tensors_.size(); i++) {
      Argument& t = tensors_[i];
      const bool reads = i >= outputs_.size();
      const bool is_there = i < given;
      t.name = is_there ? found_.parameters[i].name : "";
      if (t.name.empty()) t.name = names.add(t.value);
      const std::string type = std::string(reads ? "const " : "") + std::string(info(t.dtype).c_type) + " *";
      expected_.push_back(type + t.name);
      if (!is_there) continue;
      const CType& found = found_.parameters[i].type;
      const std::string role = fmt::format("{} ('{}', {})", role_of(i), t.value, name_of(t.dtype));
      if (!points_to(found, t.dtype))
        wrong(fmt::format("{} is for {}, a pointer to {} is expected", parameter(i), role, info(t.dtype).c_type));
      else if (found.constant != reads)
        wrong(fmt::format("{} is for {}, which it {}", parameter(i), role,
                          reads ? "only reads: const is missing" : "writes: it can't be const"));
    }
    if (given != tensors_.size())
      wrong(fmt::format("it begins with {}, the node has {} and {}", counted(given, "pointer"), counted(outputs_.size(), "output"),
                        counted(inputs_.size(), "input")));
    next_ = given;
  }

  std::string role_of(std::size_t i) const {
    if (i >= outputs_.size()) return fmt::format("input {}", i - outputs_.size());
    return outputs_.size() == 1 ? "the output" : fmt::format("output {}", i);
  }

  static std::string counted(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

  void match_scalars() {
    for (std::size_t i = next_; i < found_.parameters.size(); i++) {
      const CParameter& p = found_.parameters[i];
      const auto attribute = std::ranges::find(proto_.attribute(), p.name, [](const AttributeProto& a) { return a.name(); });
      if (attribute != proto_.attribute().end())
        match_attribute(i, *attribute);
      else if (const auto size = size_called(p.name))
        match_size(i, *size);
      else
        wrong(parameter(i) + (p.name.empty() ? " has no name" : " is called like no attribute and no size"));
    }
  }

  void take(const CParameter& p, ExternalScalar scalar) {
    expected_.push_back(p.type.number + " " + p.name);
    scalars_.push_back(std::move(scalar));
    taken_.push_back(p.name);
  }

  void match_attribute(std::size_t i, const AttributeProto& a) {
    const CParameter& p = found_.parameters[i];
    if (a.type() == AttributeProto::FLOAT && p.type.kind == CType::Kind::Float && !p.type.pointer)
      return take(p, {p.name, p.type.number, 0, float_literal(a.f(), p.type.bytes == 8)});
    if (a.type() == AttributeProto::INT && holds(p.type, a.i(), a.i())) return take(p, {p.name, p.type.number, 0, integer_literal(a.i())});
    wrong(fmt::format("{} is for the attribute {}, {}", parameter(i), a.name(), value_text(a)));
  }

  static std::string value_text(const AttributeProto& a) {
    if (a.type() == AttributeProto::FLOAT) return fmt::format("the float {}", a.f());
    return fmt::format("the integer {}", a.i());
  }

  struct Size {
    Sint value;
    std::string what;
  };

  /// The size behind a name: x_count, x_dim0.
  std::optional<Size> size_called(const std::string& name) const {
    for (const Argument& t : tensors_) {
      if (name == t.name + "_count") return Size{product(t.shape), "the number of elements of " + t.name};
      for (std::size_t axis = 0; axis < t.shape.size(); axis++)
        if (name == fmt::format("{}_dim{}", t.name, axis))
          return Size{t.shape[axis], fmt::format("the size of axis {} of {}", axis, t.name)};
    }
    return std::nullopt;
  }

  void match_size(std::size_t i, const Size& size) {
    const CParameter& p = found_.parameters[i];
    if (!holds(p.type, 0, size.value.max()))
      return wrong(fmt::format("{} is for {}, an integer up to {}", parameter(i), size.what, size.value.max()));
    for (const Node* v : variables(size.value)) told_.push_back(v);
    take(p, {p.name, p.type.number, size.value, ""});
  }

  bool is_taken(const std::string& name) const { return std::ranges::find(taken_, name) != taken_.end(); }

  bool is_wrong_parameter(const std::string& name) const {
    return std::ranges::any_of(found_.parameters, [&](const CParameter& p) { return p.name == name; });
  }

  void add_missing_attributes() {
    std::vector<const AttributeProto*> attributes;
    for (const AttributeProto& a : proto_.attribute()) attributes.push_back(&a);
    std::ranges::sort(attributes, {}, [](const AttributeProto* a) { return a->name(); });
    for (const AttributeProto* a : attributes) {
      if (is_taken(a->name())) continue;
      const bool fits_32 = a->i() >= -std::numeric_limits<std::int32_t>::max() && a->i() <= std::numeric_limits<std::int32_t>::max();
      expected_.push_back((a->type() == AttributeProto::FLOAT ? "float " : fits_32 ? "int32_t " : "int64_t ") + a->name());
      if (!is_wrong_parameter(a->name())) wrong(fmt::format("the attribute {}, {}, is missing", a->name(), value_text(*a)));
    }
  }

  void add_missing_sizes() {
    for (const Argument& t : tensors_)
      for (std::size_t axis = 0; axis < t.shape.size(); axis++)
        for (const Node* v : variables(t.shape[axis])) {
          if (std::ranges::find(told_, v) != told_.end()) continue;
          told_.push_back(v);
          const std::string name = fmt::format("{}_dim{}", t.name, axis);
          expected_.push_back("int32_t " + name);
          if (!is_wrong_parameter(name)) wrong(fmt::format("the open size {} of axis {} of {} is missing", v->name, axis, t.name));
        }
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string first = tensors_.back().name;
    throw UserError(
        node_.place(),
        fmt::format("the custom function {} does not fit the node: {}\n  expected: {}\n  found:    {}   ({}:{})", found_.function,
                    fmt::join(problems_, "; "), expected, found_.text, found_.file, found_.line),
        fmt::format(
            "correct {}: pointers first, to the outputs, then to the inputs; then, in any order, a number for each attribute, called "
            "like it, and the sizes it wants: int32_t {}_count, the elements of {}, int32_t {}_dim0, its first axis",
            found_.file, first, first, first));
  }

  const CustomOperator& custom_;
  const Prototype& found_;
  const ImportedNode& node_;
  const onnx::NodeProto& proto_;
  std::vector<ExternalOutput> outputs_;
  std::vector<Tensor> inputs_;
  std::vector<Argument> tensors_;  // the outputs, then the inputs
  std::size_t next_ = 0;           // the first parameter that is no pointer
  std::vector<ExternalScalar> scalars_;
  std::vector<std::string> taken_;  // names of parameters that are right
  std::vector<const Node*> told_;   // open sizes that the function gets
  std::vector<std::string> expected_, problems_;
};

void require_simple(const ImportedNode& node, const onnx::NodeProto& proto) {
  if (node.output_count() == 0) node.fail("it has no output, a custom function writes at least one", "remove the node");
  for (int i = 0; i < proto.output_size(); i++)
    if (proto.output(i).empty()) node.fail(fmt::format("its output {} is left out, a custom function writes all", i), "give it a name");
  for (int i = 0; i < node.input_count(); i++)
    if (!node.has_input(i)) node.fail(fmt::format("its input {} is left out, a custom function gets all", i), "give it a tensor");
  for (const AttributeProto& a : proto.attribute()) {
    const bool is_number = a.type() == AttributeProto::FLOAT || a.type() == AttributeProto::INT;
    if (!is_number)
      node.fail("attribute " + a.name() + " is no float and no integer, which a custom function takes as numbers",
                "export the node with numbers alone, or with the values as an input");
    if (a.type() == AttributeProto::FLOAT && !std::isfinite(a.f()))
      node.fail(fmt::format("attribute {} is {}, a custom function gets finite numbers", a.name(), a.f()));
    if (c_identifier(a.name()) != a.name())
      node.fail("attribute " + a.name() + " can't be the name of a parameter in C", "export it under another name");
  }
}

}  // namespace

const CustomOperator* find_custom(const std::vector<CustomOperator>& customs, const onnx::NodeProto& node) {
  const std::string domain = is_main_domain(node.domain()) ? "" : node.domain();
  const auto found = std::ranges::find_if(customs, [&](const CustomOperator& c) { return c.domain == domain && c.op == node.op_type(); });
  return found == customs.end() ? nullptr : &*found;
}

std::vector<std::string> unused_customs(const std::vector<CustomOperator>& customs, const onnx::GraphProto& graph) {
  std::vector<std::string> unused;
  for (const CustomOperator& custom : customs) {
    const auto is_used = [&](const onnx::NodeProto& node) { return find_custom(customs, node) == &custom; };
    if (std::ranges::none_of(graph.node(), is_used)) unused.push_back(custom.name());
  }
  return unused;
}

std::vector<Tensor> call_custom(const CustomOperator& custom, const ImportedNode& node, const onnx::NodeProto& proto,
                                const onnx::GraphProto& graph, const std::map<std::string, Sint>& dims) {
  require_simple(node, proto);
  std::vector<ExternalOutput> outputs;
  for (const std::string& output : proto.output()) outputs.push_back(declared_output(node, graph, output, dims));
  Match match(custom, node, proto, std::move(outputs));
  return Tensor::external(node.graph(), std::make_shared<const ExternalKernel>(match.run()), match.inputs());
}

}  // namespace etch
