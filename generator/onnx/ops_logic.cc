// Operators whose result or condition is bool: logic, comparisons, Where, tests of floats.
#include <limits>

#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

Outputs logic(NodeContext& node, Op op) {
  require_inputs(node, 2, 2);
  require_type(node, 0, {DType::Bool});
  require_type(node, 1, {DType::Bool});
  return {Tensor::binary(op, node.input(0), node.input(1))};
}

struct Pair {
  Tensor a, b;
};

Pair compared(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  return {node.input(0), node.input(1)};
}

}  // namespace

Outputs logical_and(NodeContext& node) { return logic(node, Op::And); }
Outputs logical_or(NodeContext& node) { return logic(node, Op::Or); }
Outputs logical_xor(NodeContext& node) { return logic(node, Op::Xor); }
Outputs logical_not(NodeContext& node) { return {node.input(0).logical_not()}; }

Outputs equal(NodeContext& node) {
  const auto [a, b] = compared(node);
  return {a.equal(b)};
}

Outputs less(NodeContext& node) {
  const auto [a, b] = compared(node);
  return {a < b};
}

Outputs greater(NodeContext& node) {
  const auto [a, b] = compared(node);
  return {b < a};
}

// Not computed as "not greater", because a comparison with NaN must be false.
Outputs less_or_equal(NodeContext& node) {
  const auto [a, b] = compared(node);
  return {is_float(a.dtype()) ? Tensor::binary(Op::Or, a < b, a.equal(b)) : (b < a).logical_not()};
}

Outputs greater_or_equal(NodeContext& node) {
  const auto [a, b] = compared(node);
  return {is_float(a.dtype()) ? Tensor::binary(Op::Or, b < a, a.equal(b)) : (a < b).logical_not()};
}

Outputs where(NodeContext& node) {
  require_inputs(node, 3, 3);
  require_type(node, 0, {DType::Bool});
  require_same_type(node, 1, 2);
  return {node.input(0).where(node.input(1), node.input(2))};
}

Outputs is_nan(NodeContext& node) { return {is_nan(node.input(0))}; }

Outputs is_inf(NodeContext& node) {
  const Tensor x = node.input(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool negative = node.attribute_int("detect_negative", 1) != 0, positive = node.attribute_int("detect_positive", 1) != 0;
  const Tensor below = x.equal(number(x, -infinity)), above = x.equal(number(x, infinity));
  if (negative && positive) return {Tensor::binary(Op::Or, below, above)};
  if (negative) return {below};
  if (positive) return {above};
  return {Tensor::full(x.graph(), x.shape(), Scalar::of_int(DType::Bool, 0))};
}

}  // namespace etch::operators
