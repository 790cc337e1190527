// Reductions over axes, positions of extremes, running sums.
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

/// The input and axes of a Reduce* operator. With `none` set nothing is reduced, but the steps before and after the reduction are done.
struct Reduction {
  Tensor x;
  std::vector<int> axes;
  bool keep = true, none = false;

  Tensor sum(const Tensor& of) const { return none ? of : of.sum(axes, keep).cast(of.dtype()); }
  Tensor reduce(Op op, const Tensor& of) const { return none ? of : of.reduce(op, axes, keep); }
};

/// `axes_input_since`: the opset in which axes became an input.
Reduction reduction(NodeContext& node, int axes_input_since) {
  Reduction r;
  r.x = node.input(0);
  r.keep = node.attribute_int("keepdims", 1) != 0;
  std::vector<std::int64_t> axes;
  bool noop = false;
  if (node.opset() >= axes_input_since) {
    require_inputs(node, 1, 2);
    noop = node.attribute_int("noop_with_empty_axes", 0) != 0;
    if (node.has_input(1)) axes = node.require_constant(1, "axes").ints();
  } else {
    require_inputs(node, 1, 1);
    axes = node.attribute_ints("axes", std::vector<std::int64_t>{});
  }
  r.axes = axes_of(node, axes, r.x.rank(), "axes");
  if (r.axes.empty()) {
    r.none = noop || r.x.rank() == 0;
    for (int axis = 0; axis < r.x.rank(); axis++) r.axes.push_back(axis);
  }
  return r;
}

/// Floats of 16 bits are summed in float32, integers that need a root or logarithm in float64; the result is cast back.
Tensor as_float(const Tensor& x) { return is_float(x.dtype()) ? widened(x) : x.cast(DType::Float64); }

}  // namespace

Outputs reduce_sum(NodeContext& node) {
  const Reduction r = reduction(node, 13);
  return {r.sum(r.x)};
}

Outputs reduce_mean(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  if (r.none) return {r.x};
  if (is_float(r.x.dtype())) return {r.x.mean(r.axes, r.keep)};
  // Integers: the exact sum, divided with truncation toward zero.
  const Tensor wide = r.x.cast(is_unsigned(r.x.dtype()) ? DType::UInt64 : DType::Int64);
  std::int64_t count = 1;
  for (int axis : r.axes) count *= fixed_dim(node, r.x, axis, "tensor");
  if (count == 0) node.fail("the mean of no integers is not defined", "reduce over an axis that is not empty");
  return {(r.sum(wide) / integer(wide, count)).cast(r.x.dtype())};
}

Outputs reduce_max(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  return {r.reduce(Op::ReduceMax, r.x)};
}

Outputs reduce_min(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  return {r.reduce(Op::ReduceMin, r.x)};
}

Outputs reduce_prod(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  return {r.reduce(Op::ReduceProd, widened(r.x)).cast(r.x.dtype())};
}

Outputs reduce_l1(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  const Tensor size = is_unsigned(r.x.dtype()) ? r.x : (r.x < integer(r.x, 0)).where(-r.x, r.x);
  return {r.sum(size)};
}

Outputs reduce_sum_square(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  const Tensor x = widened(r.x);
  return {r.sum(x * x).cast(r.x.dtype())};
}

Outputs reduce_l2(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  const Tensor x = as_float(r.x);
  return {r.sum(x * x).sqrt().cast(r.x.dtype())};
}

Outputs reduce_log_sum(NodeContext& node) {
  const Reduction r = reduction(node, 18);
  return {r.sum(as_float(r.x)).log().cast(r.x.dtype())};
}

/// Subtracts the largest element before exp, so that exp does not overflow, but 0 if the largest element is infinite.
Outputs reduce_log_sum_exp(NodeContext& node) {
  Reduction r = reduction(node, 18);
  if (r.none) return {r.x};
  const Tensor x = as_float(r.x);
  const Tensor largest = x.reduce(Op::ReduceMax, r.axes, true);
  const Tensor finite = (largest - largest).equal(number(x, 0));
  const Tensor shift = finite.where(largest, number(x, 0));
  const Tensor result = (x - shift).exp().sum(r.axes, true).log() + shift;
  return {(r.keep ? result : result.squeeze(r.axes)).cast(r.x.dtype())};
}

Outputs arg_max(NodeContext& node) {
  const Tensor x = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis", 0), x.rank());
  const bool last = node.opset() >= 12 && node.attribute_int("select_last_index", 0) != 0;
  return {x.argmax(axis, node.attribute_int("keepdims", 1) != 0, last).cast(DType::Int64)};
}

Outputs arg_min(NodeContext& node) {
  const Tensor x = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis", 0), x.rank());
  const bool last = node.opset() >= 12 && node.attribute_int("select_last_index", 0) != 0;
  return {x.argmin(axis, node.attribute_int("keepdims", 1) != 0, last).cast(DType::Int64)};
}

Outputs cumsum(NodeContext& node) {
  require_inputs(node, 2, 2);
  const Tensor x = node.input(0);
  const std::int64_t axis = constant_number(node, 1, "axis").as_int();
  const bool exclusive = node.attribute_int("exclusive", 0) != 0, reverse = node.attribute_int("reverse", 0) != 0;
  return {widened(x).cumsum(axis_of(node, axis, x.rank(), "input axis"), exclusive, reverse).cast(x.dtype())};
}

}  // namespace etch::operators
