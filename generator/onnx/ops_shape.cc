// Operators that rename, move, cut, join and repeat elements at little or no cost. Shapes, axes and bounds must be known while
// generating; sizes in them may be Variables.
#include <algorithm>
#include <limits>
#include <set>

#include "ir/lazyop.h"
#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

using Ints = std::vector<std::int64_t>;

/// The integers of attribute `name` (before opset `since_input`) or of input `i`; nothing if neither is there.
std::optional<Ints> attribute_or_input(NodeContext& node, const std::string& name, int i, int since_input) {
  if (node.opset() < since_input) {
    if (!node.has_attribute(name)) return std::nullopt;
    return node.attribute_ints(name);
  }
  if (!node.has_input(i)) return std::nullopt;
  return node.require_constant(i, name).ints();
}

Tensor int64_vector(LazyGraph& graph, const Ints& values) {
  return Tensor::constant(graph, Array::of_ints(DType::Int64, {static_cast<std::int64_t>(values.size())}, values));
}

}  // namespace

Outputs identity(NodeContext& node) { return {node.input(0)}; }

Outputs dropout(NodeContext& node) {
  const Tensor x = node.input(0);
  node.acknowledge("ratio");  // nothing is dropped in inference, whatever the ratio
  node.acknowledge("seed");
  if (node.has_input(2)) {
    const bool trains = constant_number(node, 2, "training_mode").as_int() != 0;  // else the ratio does not matter
    if (trains && (!node.has_input(1) || constant_number(node, 1, "ratio").as_double() != 0))
      node.fail("training_mode is true, inference is supported", "export the model in evaluation mode");
  }
  const Tensor mask = Tensor::full(node.graph(), x.shape(), Scalar::of_int(node.opset() < 10 ? x.dtype() : DType::Bool, 1));
  return {x, mask};
}

Outputs transpose(NodeContext& node) {
  const Tensor x = node.input(0);
  Ints perm = node.attribute_ints("perm", Ints{});
  if (!node.has_attribute("perm")) {
    for (int axis = x.rank() - 1; axis >= 0; axis--) perm.push_back(axis);
  }
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool valid = static_cast<int>(perm.size()) == x.rank();
  for (std::size_t i = 0; i < sorted.size(); i++) valid = valid && sorted[i] == static_cast<std::int64_t>(i);
  if (!valid) node.fail("attribute perm is " + list_text(perm) + ", an order of the " + std::to_string(x.rank()) + " axes is expected");
  return {x.permute({perm.begin(), perm.end()})};
}

Outputs reshape(NodeContext& node) {
  const Tensor x = node.input(0);
  Shape shape = node.require_dims(1, "shape");
  const bool allow_zero = node.opset() >= 14 && node.attribute_int("allowzero", 0) != 0;
  int unknown = -1;
  Sint rest = 1;
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis].is_int(0) && !allow_zero) {
      if (static_cast<int>(axis) >= x.rank())
        node.fail("its shape has 0 (keep the size) at axis " + std::to_string(axis) + ", the input has " + std::to_string(x.rank()) +
                  " axes");
      shape[axis] = x.dim(static_cast<int>(axis));
    }
    if (shape[axis].max() < 0) {
      if (!shape[axis].is_int(-1) || unknown >= 0) node.fail("its shape is " + shape_text(shape) + ", sizes are >= 0 and one may be -1");
      unknown = static_cast<int>(axis);
    } else {
      rest = rest * shape[axis];
    }
  }
  if (unknown < 0) {
    require_sane_shape(shape, node);
    return {x.reshape(shape)};
  }
  if (rest.is_int(0)) node.fail("its shape is " + shape_text(shape) + ", -1 beside 0 elements has no meaning");
  // -1: the remaining size. It is divided explicitly here, so that symbolic sizes cancel.
  const bool divides = rest.min() > 0 && floormod(x.size(), rest).is_int(0);
  if (!divides) {
    node.fail("input of shape " + shape_text(x.shape()) + " can't be reshaped to " + shape_text(shape),
              "the number of elements must stay the same");
  }
  shape[static_cast<std::size_t>(unknown)] = floordiv(x.size(), rest);
  return {x.reshape(shape)};
}

Outputs flatten(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::int64_t axis = node.attribute_int("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    node.fail("attribute axis is " + std::to_string(axis) + ", -" + std::to_string(x.rank()) + " to " + std::to_string(x.rank()) +
              " are accepted");
  const std::ptrdiff_t first = axis < 0 ? axis + x.rank() : axis;
  const Shape& shape = x.shape();
  return {x.reshape({product({shape.begin(), shape.begin() + first}), product({shape.begin() + first, shape.end()})})};
}

Outputs squeeze(NodeContext& node) {
  const Tensor x = node.input(0);
  std::vector<int> axes;
  if (const auto given = attribute_or_input(node, "axes", 1, 13)) {
    axes = axes_of(node, *given, x.rank());
  } else {
    for (int axis = 0; axis < x.rank(); axis++) {
      if (x.dim(axis).is_int(1)) axes.push_back(axis);
    }
  }
  Shape shape;
  for (int axis = 0; axis < x.rank(); axis++) {
    const bool dropped = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (dropped && !x.dim(axis).is_int(1))
      node.fail("axis " + std::to_string(axis) + " of its input " + shape_text(x.shape()) + " has not the size 1");
    if (!dropped) shape.push_back(x.dim(axis));
  }
  return {x.reshape(shape)};
}

Outputs unsqueeze(NodeContext& node) {
  const Tensor x = node.input(0);
  const auto given = attribute_or_input(node, "axes", 1, 13);
  if (!given) node.fail("axes are missing");
  const std::vector<int> axes = axes_of(node, *given, x.rank() + static_cast<int>(given->size()));
  Shape shape = x.shape();
  for (int axis : axes) shape.insert(shape.begin() + axis, Sint(1));
  return {x.reshape(shape)};
}

Outputs concat(NodeContext& node) {
  const Tensor first = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis"), first.rank());
  std::vector<Tensor> tensors;
  for (int i = 0; i < node.input_count(); i++) {
    require_same_type(node, 0, i);
    tensors.push_back(node.input(i));
  }
  return {Tensor::cat(tensors, axis)};
}

Outputs split(NodeContext& node) {
  const Tensor x = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis", 0), x.rank());
  std::optional<Ints> sizes = attribute_or_input(node, "split", 1, 13);
  std::int64_t parts = node.output_count();
  if (node.opset() >= 18 && node.has_attribute("num_outputs")) {
    if (sizes) node.fail("it has both the input split and the attribute num_outputs, one of them is expected");
    if (parts > node.attribute_int("num_outputs"))
      node.fail("it has " + std::to_string(parts) + " outputs, attribute num_outputs is " +
                std::to_string(node.attribute_int("num_outputs")));
    parts = node.attribute_int("num_outputs");
  }
  const std::int64_t size = fixed_dim(node, x, axis, "input");
  if (!sizes) {
    if (parts < 1)
      node.fail("it splits into " + std::to_string(parts) + " parts, at least one is expected", "remove the node, or name its outputs");
    if (node.opset() < 18 && size % parts != 0)
      node.fail("axis " + std::to_string(axis) + " of size " + std::to_string(size) + " does not split into " + std::to_string(parts) +
                " equal parts");
    const std::int64_t chunk = (size + parts - 1) / parts;  // opset 18: the last part is smaller
    sizes.emplace();
    for (std::int64_t i = 0; i < parts; i++) sizes->push_back(std::clamp<std::int64_t>(size - i * chunk, 0, chunk));
  }
  std::int64_t sum = 0;
  for (std::int64_t s : *sizes) {
    if (s < 0 || s > size - sum)
      node.fail("split is " + list_text(*sizes) + ", sizes are >= 0 and their sum is that of axis " + std::to_string(axis) + ": " +
                std::to_string(size));
    sum += s;
  }
  if (sum != size || static_cast<int>(sizes->size()) < node.output_count()) {
    node.fail("split is " + list_text(*sizes) + " for " + std::to_string(node.output_count()) + " outputs, axis " + std::to_string(axis) +
              " has the size " + std::to_string(size));
  }
  return x.split(axis, *sizes);
}

Outputs expand(NodeContext& node) {
  const Tensor x = node.input(0);
  Shape shape = node.require_dims(1, "shape");
  Shape from = x.shape();
  if (from.size() < shape.size()) from.insert(from.begin(), shape.size() - from.size(), Sint(1));
  if (shape.size() < from.size()) shape.insert(shape.begin(), from.size() - shape.size(), Sint(1));
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis].is_int(1)) shape[axis] = from[axis];
    if (from[axis].is_int(1) || from[axis] == shape[axis]) continue;
    node.fail("input of shape " + shape_text(x.shape()) + " does not broadcast to " + shape_text(shape));
  }
  require_sane_shape(shape, node);
  return {x.reshape(from).expand(shape)};
}

Outputs tile(NodeContext& node) {
  const Tensor x = node.input(0);
  const Ints repeats = node.require_constant(1, "repeats").ints();
  if (static_cast<int>(repeats.size()) != x.rank())
    node.fail("repeats is " + list_text(repeats) + ", the input has " + std::to_string(x.rank()) + " axes");
  Shape result;
  for (std::size_t axis = 0; axis < repeats.size(); axis++) {
    if (repeats[axis] < 0 || repeats[axis] > kMaxElements)
      node.fail("repeats is " + list_text(repeats) + ", numbers from 0 to " + std::to_string(kMaxElements) + " are expected");
    result.push_back(x.dim(static_cast<int>(axis)) * repeats[axis]);
  }
  require_sane_shape(result, node);
  return {x.repeat(repeats)};
}

Outputs shape(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::int64_t rank = x.rank();
  const auto bound = [&](const std::string& name, std::int64_t fallback) {
    const std::int64_t value = node.opset() < 15 ? fallback : node.attribute_int(name, fallback);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  Ints sizes;
  for (std::int64_t axis = bound("start", 0), end = bound("end", rank); axis < end; axis++)
    sizes.push_back(fixed_dim(node, x, static_cast<int>(axis), "input"));
  return {int64_vector(node.graph(), sizes)};
}

Outputs size(NodeContext& node) {
  std::int64_t count = 1;
  for (std::int64_t d : fixed_shape(node, node.input(0), "input")) count *= d;
  return {Tensor::full(node.graph(), {}, Scalar::of_int(DType::Int64, count))};
}

Outputs constant(NodeContext& node) {
  LazyGraph& graph = node.graph();
  const auto vector = [&](const Array& array) { return Outputs{Tensor::constant(graph, array, node.name())}; };
  if (node.has_attribute("value")) return vector(node.attribute_tensor("value"));
  if (node.has_attribute("value_float"))
    return {Tensor::full(graph, {}, Scalar::of_double(DType::Float32, node.attribute_float("value_float")))};
  if (node.has_attribute("value_int")) return {Tensor::full(graph, {}, Scalar::of_int(DType::Int64, node.attribute_int("value_int")))};
  if (node.has_attribute("value_floats")) {
    const std::vector<double> values = node.attribute_floats("value_floats");
    return vector(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(values.size())}, values));
  }
  if (node.has_attribute("value_ints")) return {int64_vector(graph, node.attribute_ints("value_ints"))};
  for (const char* name : {"value_string", "value_strings", "sparse_value"}) {
    if (node.has_attribute(name))
      node.fail("its value is given by " + std::string(name) + ", accepted are value, value_float(s) and value_int(s)");
  }
  node.fail("it has no value", "give it the attribute value");
  return {};  // not reached, but gcc does not know that of a virtual function
}

Outputs constant_of_shape(NodeContext& node) {
  const Shape shape = node.require_dims(0, "shape");
  for (const Sint& d : shape) {
    if (d.min() < 0) node.fail("its shape is " + shape_text(shape) + ", sizes are >= 0");
  }
  require_sane_shape(shape, node);
  Scalar value = Scalar::of_double(DType::Float32, 0);
  if (node.has_attribute("value")) {
    const Array array = node.attribute_tensor("value");
    if (array.size() != 1) node.fail("attribute value has " + std::to_string(array.size()) + " elements, one is expected");
    value = array.at(0);
  }
  return {Tensor::full(node.graph(), shape, value)};
}

Outputs cast(NodeContext& node) {
  for (const char* name : {"saturate", "round_mode"}) node.acknowledge(name);  // only for float8, which is not supported
  return {node.input(0).cast(dtype_of_number(node, node.attribute_int("to"), "attribute to"))};
}

}  // namespace etch::operators
