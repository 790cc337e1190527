// Operators of integer arithmetic: shifts, bits, remainders; and Pow, whose exponent has a type of its own.
#include <cmath>

#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

Outputs bitwise(NodeContext& node, Op op) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  return {Tensor::binary(op, node.input(0), node.input(1))};
}

/// Integers: products modulo 2^bits. Six bits of the exponent are enough: 64 and more overflow for every base but -1, 0
/// and 1, whose powers depend on the lowest bit only. A negative exponent gives 0, but for the bases 1 and -1.
Tensor integer_power(const Tensor& x, const Tensor& exponent) {
  const DType dtype = x.dtype();
  const Tensor one = integer(exponent, 1), large = integer(exponent, 64);
  const Tensor odd = Tensor::binary(Op::And, exponent, one);
  const Tensor small = exponent < large;
  Tensor bits = small.where(exponent, odd + integer(exponent, 62));
  Tensor negative;
  if (!is_unsigned(exponent.dtype())) {
    negative = exponent < integer(exponent, 0);
    bits = negative.where(odd, bits);
  }
  Tensor result = integer(x, 1), square = x;
  for (int bit = 0; bit < 6; bit++) {
    const Tensor set = integer(exponent, 0) < Tensor::binary(Op::And, bits, integer(exponent, std::int64_t{1} << bit));
    result = result * set.where(square, integer(x, 1));
    if (bit < 5) square = square * square;
  }
  if (!negative) return result;
  Tensor unit = x.equal(integer(x, 1));
  if (!is_unsigned(dtype)) unit = Tensor::binary(Op::Or, unit, x.equal(integer(x, -1)));
  return Tensor::binary(Op::And, negative, unit.logical_not()).where(integer(x, 0), result);
}

/// The exponent if it is one constant number that does not widen the shape of x.
std::optional<double> constant_exponent(NodeContext& node, const Tensor& x) {
  const Tensor exponent = node.input(1);
  if (exponent.rank() > x.rank() || !exponent.size().is_int(1)) return std::nullopt;
  const std::optional<Array> value = node.constant(1);
  return value ? std::optional(value->double_at(0)) : std::nullopt;
}

}  // namespace

Outputs bitwise_and(NodeContext& node) { return bitwise(node, Op::And); }
Outputs bitwise_or(NodeContext& node) { return bitwise(node, Op::Or); }
Outputs bitwise_xor(NodeContext& node) { return bitwise(node, Op::Xor); }
Outputs bitwise_not(NodeContext& node) { return {node.input(0).bitwise_not()}; }

/// A left shift fills with zeros, a right shift with copies of the sign. From opset 28 on signed integers are allowed; a negative amount
/// then shifts everything out.
Outputs bit_shift(NodeContext& node) {
  const std::string direction = node.attribute_string("direction");
  if (direction != "LEFT" && direction != "RIGHT") node.fail("attribute direction is '" + direction + "'", "accepted are LEFT and RIGHT");
  return bitwise(node, direction == "LEFT" ? Op::Shl : Op::Shr);
}

/// fmod = 1: the remainder has the sign of the dividend (C); fmod = 0: of the divisor (Python), for floats from opset 28 on.
Outputs mod(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  const Tensor a = node.input(0), b = node.input(1);
  const std::int64_t fmod = node.attribute_int("fmod", 0);
  if (fmod != 0 && fmod != 1) node.fail("attribute fmod is " + std::to_string(fmod), "it is 0 or 1");
  if (is_float(a.dtype()) && fmod == 0 && node.opset() < 28)
    node.fail("attribute fmod is 0 with " + std::string(name_of(a.dtype())), "ONNX wants fmod = 1 for floats before opset 28");
  const Tensor rest = Tensor::binary(Op::Mod, a, b);
  if (fmod == 1 || is_unsigned(a.dtype())) return {rest};
  const Tensor zero = is_float(a.dtype()) ? number(rest, 0) : integer(rest, 0);
  const Tensor other_sign = Tensor::binary(Op::Xor, rest < zero, b < zero);
  const Tensor adjust = Tensor::binary(Op::And, rest.equal(zero).logical_not(), other_sign);
  const Tensor result = adjust.where(rest + b, rest);
  if (!is_float(a.dtype())) return {result};
  return {rest.equal(zero).where((b < zero).where(number(b, -0.0), zero), result)};  // a zero result has the divisor's sign too
}

Outputs pow(NodeContext& node) {
  require_inputs(node, 2, 2);
  const Tensor x = node.input(0), exponent = node.input(1);
  if (exponent.dtype() == DType::Bool) node.fail("the exponent is bool, accepted are integers and floats", "insert a Cast before the node");
  const std::optional<double> value = constant_exponent(node, x);
  if (is_float(x.dtype())) return {x.pow(value ? number(x, *value) : exponent.cast(x.dtype()))};
  if (value && *value == std::trunc(*value) && *value >= 0 && *value < 64) return {x.pow(number(x, *value))};
  if (is_int(exponent.dtype())) return {integer_power(x, exponent)};
  // An integer to a fractional power: in float64, which holds every int32; the result's fraction is cut off.
  return {x.cast(DType::Float64).pow(exponent.cast(DType::Float64)).cast(x.dtype())};
}

Outputs cast_like(NodeContext& node) {
  require_inputs(node, 2, 2);
  for (const char* name : {"saturate", "round_mode"}) node.acknowledge(name);  // only for float8, which is not supported
  return {node.input(0).cast(node.input(1).dtype())};
}

}  // namespace etch::operators
