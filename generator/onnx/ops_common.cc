#include "onnx/ops_common.h"

#include <algorithm>

#include "lazy/graph.h"
#include "onnx/types.h"

namespace etch::operators {

int axis_of(const NodeContext& node, std::int64_t axis, int rank, const std::string& what) {
  if (axis < -rank || axis >= rank) {
    node.fail(what + " is " + std::to_string(axis) + ", but the tensor has " + std::to_string(rank) + " axes",
              "an axis is from " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> axes_of(const NodeContext& node, const std::vector<std::int64_t>& axes, int rank, const std::string& what) {
  std::vector<int> result;
  for (std::int64_t axis : axes) result.push_back(axis_of(node, axis, rank, what));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    node.fail(what + " " + list_text(axes) + " names one axis twice", "name each axis once");
  }
  return result;
}

std::int64_t fixed_dim(const NodeContext& node, const Tensor& tensor, int axis, const std::string& what) {
  const Sint size = tensor.dim(axis);
  if (!size.is_int()) {
    node.fail("axis " + std::to_string(axis < 0 ? axis + tensor.rank() : axis) + " of the " + what + " has the open size " + to_text(size) +
                  ", this operator needs a fixed one",
              node.size_help({size}));
  }
  return size.as_int();
}

std::vector<std::int64_t> fixed_shape(const NodeContext& node, const Tensor& tensor, const std::string& what) {
  std::vector<std::int64_t> shape;
  for (int axis = 0; axis < tensor.rank(); axis++) shape.push_back(fixed_dim(node, tensor, axis, what));
  return shape;
}

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); i++) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

Tensor number(LazyGraph& graph, DType dtype, double value) { return Tensor::full(graph, {}, Scalar::of_double(dtype, value)); }
Tensor integer(LazyGraph& graph, DType dtype, std::int64_t value) { return Tensor::full(graph, {}, Scalar::of_int(dtype, value)); }
Tensor number(const Tensor& like, double value) { return number(like.graph(), like.dtype(), value); }
Tensor integer(const Tensor& like, std::int64_t value) { return integer(like.graph(), like.dtype(), value); }

Tensor index_constant(LazyGraph& graph, std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values) {
  const auto largest = std::max_element(values.begin(), values.end());
  const DType dtype = largest != values.end() && *largest > 0x7fffffff ? DType::Int64 : DType::Int32;  // int32 takes half the flash
  return Tensor::constant(graph, Array::of_ints(dtype, std::move(shape), values));
}

Tensor float_constant(LazyGraph& graph, DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  return Tensor::constant(graph, Array::of_doubles(dtype, std::move(shape), values));
}

Scalar constant_number(const NodeContext& node, int i, const std::string& what) {
  const Array array = node.require_constant(i, what);
  if (array.size() != 1) node.fail("its " + what + " has " + std::to_string(array.size()) + " elements, it must have 1");
  return array.at(0);
}

void require_same_type(const NodeContext& node, int a, int b) {
  const DType first = node.input(a).dtype(), second = node.input(b).dtype();
  if (first == second) return;
  node.fail("input " + std::to_string(a) + " is " + std::string(name_of(first)) + " and input " + std::to_string(b) + " is " +
                std::string(name_of(second)) + ", ONNX wants one type for both",
            "insert a Cast before the node");
}

void require_type(const NodeContext& node, int i, const std::vector<DType>& accepted) {
  const DType found = node.input(i).dtype();
  if (std::find(accepted.begin(), accepted.end(), found) != accepted.end()) return;
  std::string names;
  for (DType dtype : accepted) names += (names.empty() ? "" : ", ") + std::string(name_of(dtype));
  node.fail("input " + std::to_string(i) + " is " + std::string(name_of(found)) + ", accepted is " + names,
            "insert a Cast before the node");
}

void require_inputs(const NodeContext& node, int low, int high) {
  const int found = node.input_count();
  if (found >= low && found <= high) return;
  const std::string range = low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
  node.fail("the node has " + std::to_string(found) + " inputs, the operator takes " + range);
}

Tensor wrapped_index(const Tensor& x, const Sint& size) {
  const Tensor index = x.cast(DType::Int64);
  if (is_unsigned(x.dtype())) return index;
  const Tensor extent = Tensor::size_value(x.graph(), size, DType::Int64);
  return (index < integer(index, 0)).where(index + extent, index);
}

Tensor folded_index(const Tensor& x) {
  const std::optional<Array> value = x.evaluate();
  return value ? index_constant(x.graph(), value->shape(), value->ints()) : x;
}

Tensor positions(LazyGraph& graph, const Sint& size, int axis, int rank, DType dtype) {
  Shape shape(static_cast<std::size_t>(rank), Sint(1));
  shape[static_cast<std::size_t>(axis)] = size;
  return Tensor::arange(graph, size, dtype).reshape(shape);
}

Tensor move_axis(const Tensor& x, int from, int to) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); axis++) {
    if (axis != from) axes.push_back(axis);
  }
  axes.insert(axes.begin() + to, from);
  return x.permute(axes);
}

Tensor widened(const Tensor& x) { return x.dtype() == DType::Float16 || x.dtype() == DType::BFloat16 ? x.cast(DType::Float32) : x; }

bool is_given(const Tensor& x) {
  const LazyBuffer* base = x.buffer()->base;
  if (base->kind == LazyKind::Contiguous) base = base->src[0]->base;
  return base->kind == LazyKind::Data;
}

Tensor as_own_constant(const Tensor& part) { return is_given(part) && !shows_base(part.buffer()) ? part.contiguous() : part; }

Tensor is_nan(const Tensor& x) {
  if (!is_float(x.dtype())) return Tensor::full(x.graph(), x.shape(), Scalar::of_int(DType::Bool, 0));
  return Tensor::binary(Op::CmpNe, x, x);
}

DType dtype_of_number(const NodeContext& node, std::int64_t type, const std::string& what) {
  const std::optional<DType> dtype = dtype_of_onnx(static_cast<int>(type));
  if (!dtype) node.fail(what + " is " + onnx_type_name(static_cast<int>(type)), "accepted are " + accepted_types_text());
  return *dtype;
}

}  // namespace etch::operators
