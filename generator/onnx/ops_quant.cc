// Quantisation, and operators on quantised tensors. Sums are exact integers; only the scaling is float.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/convolution.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"
#include "onnx/quantisation.h"

namespace etch::operators {
namespace {

const std::vector<DType> kQuantised = {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16};
const std::vector<DType> kBytes = {DType::Int8, DType::UInt8};

bool all_zero(const NodeContext& node, int input) {
  const std::optional<Array> value = node.constant(input);
  if (!value) return false;
  const std::vector<double> values = value->doubles();
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

/// A scale is a finite number above 0; one that is not a constant is not known yet.
void require_scale(const NodeContext& node, int input, const std::string& what) {
  const std::optional<Array> value = node.constant(input);
  if (!value || !is_float(value->dtype())) return;
  for (std::int64_t i = 0; i < value->size(); i++) {
    const double scale = value->at(i).as_double();
    if (std::isfinite(scale) && scale > 0) continue;
    node.fail(fmt::format("the {} is {}{}", what, scale, value->size() > 1 ? fmt::format(" at element {}", i) : ""),
              "a scale is a finite number above 0: quantise the model again, with data for which this tensor is not constant, or correct "
              "the scale");
  }
}

/// Each element of `parameter` (same rank as x) `block` times along `axis`, cut to the size of x.
Tensor blockwise(const NodeContext& node, const Tensor& parameter, const Tensor& x, int axis, std::int64_t block) {
  const std::int64_t size = fixed_dim(node, x, axis, "input");
  if (parameter.rank() != x.rank() || !parameter.dim(axis).is_int((size + block - 1) / block)) {
    node.fail("blocks of " + std::to_string(block) + " along axis " + std::to_string(axis) + " do not fit the shapes of input and scale",
              "the scale has the input's axes, with one element for each block");
  }
  Shape wide = parameter.shape(), joined = parameter.shape();
  wide.insert(wide.begin() + axis + 1, Sint(block));
  joined[static_cast<std::size_t>(axis)] = joined[static_cast<std::size_t>(axis)] * block;
  return parameter.unsqueeze(axis + 1).expand(wide).reshape(joined).slice(axis, 0, size);
}

Tensor parameter_along(const NodeContext& node, const Tensor& parameter, const Tensor& x, int axis, std::int64_t block,
                       const std::string& what) {
  if (block > 0) return blockwise(node, parameter, x, axis, block);
  if (parameter.size().is_int(1) && parameter.rank() <= 1) return parameter.reshape({});
  if (parameter.rank() != 1 || axis < 0 || !(parameter.dim(0) == x.dim(axis))) {
    node.fail("the " + what + " has the shape " + to_text(parameter.shape()) + ", what it belongs to " + to_text(x.shape()) +
                  " with axis " + std::to_string(axis),
              "give one number, or one for each element of the axis");
  }
  Shape shape(static_cast<std::size_t>(x.rank()), Sint(1));
  shape[static_cast<std::size_t>(axis)] = x.dim(axis);
  return parameter.reshape(shape);
}

Tensor one_number(const NodeContext& node, int input, const std::string& what) {
  const Tensor value = node.input(input);
  if (!value.size().is_int(1))
    node.fail("the " + what + " has the shape " + to_text(value.shape()) + ", one number is expected", "make it a tensor of one element");
  return value.reshape({});
}

struct QuantAttributes {
  int axis = 0;
  std::int64_t block = 0;
};

QuantAttributes quant_attributes(NodeContext& node, const Tensor& x) {
  QuantAttributes a;
  // A scalar has no axis, and before opset 13 there was no attribute.
  const std::int64_t axis = node.opset() >= 13 ? node.attribute_int("axis", 1) : 1;
  const bool needed = node.input(1).rank() > 0 && !node.input(1).size().is_int(1);
  a.block = node.opset() >= 21 ? node.attribute_int("block_size", 0) : 0;
  if (a.block < 0) node.fail("attribute block_size is " + std::to_string(a.block), "it is 0 or more");
  if (needed || a.block > 0) a.axis = axis_of(node, axis, x.rank());
  return a;
}

/// A type that opset 23 added as an attribute; 0 there stands for `fallback`.
DType float_attribute(NodeContext& node, const std::string& name, DType fallback) {
  const std::int64_t number = node.opset() >= 23 ? node.attribute_int(name, 0) : 0;
  if (number == 0) return fallback;
  const DType dtype = dtype_of_number(node, number, "attribute " + name);
  if (!is_float(dtype) || dtype == DType::Float64)
    node.fail("attribute " + name + " is " + std::string(name_of(dtype)), "accepted are float32, float16 and bfloat16");
  return dtype;
}

/// `zero`, made of input `input`; empty if that is constant and 0 everywhere.
Tensor unless_zero(const NodeContext& node, int input, const Tensor& zero) { return all_zero(node, input) ? Tensor() : zero; }

/// int32 matrix product of a and b minus their zero points.
Tensor integer_matmul(const NodeContext& node, int a, int b, int a_zero, int b_zero) {
  const Tensor left = node.input(a), right = node.input(b);
  const auto zero_of = [&](int input, const Tensor& operand, bool per_row) {
    return input < 0 || !node.has_input(input) ? Tensor() : unless_zero(node, input, matrix_parameter(node, input, operand, per_row));
  };
  const Tensor left_zero = zero_of(a_zero, left, true), right_zero = zero_of(b_zero, right, false);
  return centred(left, left_zero).matmul(centred(right, right_zero));
}

}  // namespace

QuantParameters quant_parameters(const NodeContext& node, const Tensor& x, int scale_input, int zero_input, int axis, std::int64_t block) {
  QuantParameters p;
  require_scale(node, scale_input, "scale");
  p.scale = parameter_along(node, node.input(scale_input), x, axis, block, "scale");
  if (!node.has_input(zero_input)) return p;
  p.zero = parameter_along(node, node.input(zero_input), x, axis, block, "zero point");
  p.zero_is_0 = all_zero(node, zero_input);
  return p;
}

Tensor matrix_parameter(const NodeContext& node, int input, const Tensor& operand, bool per_row) {
  const Tensor p = node.input(input);
  if (p.size().is_int(1)) return p.reshape({});
  const int axis = per_row ? operand.rank() - 2 : operand.rank() - 1;
  const bool vector = p.rank() == 1 && axis >= 0 && p.dim(0) == operand.dim(axis);
  const bool full = p.rank() == operand.rank() && p.dim(per_row ? -1 : -2).is_int(1);
  if (!vector && !full) {
    node.fail("input " + std::to_string(input) + " has the shape " + to_text(p.shape()) + ", its matrix " + to_text(operand.shape()),
              std::string("give one number or one for each ") + (per_row ? "row" : "column"));
  }
  return vector && per_row ? p.unsqueeze(1) : p;
}

Tensor centred(const Tensor& x, const Tensor& zero) {
  const Tensor wide = x.cast(DType::Int32);
  return zero ? wide - zero.cast(DType::Int32) : wide;
}

Tensor saturated(const Tensor& x, const Tensor& zero, DType dtype) {
  Tensor y = x.unary(Op::Rint);
  if (zero) y = y + zero.cast(y.dtype());
  const double low = static_cast<double>(int_min(dtype)), high = static_cast<double>(int_max(dtype));
  return y.maximum(number(y, low)).minimum(number(y, high)).cast(dtype);
}

Outputs quantize_linear(NodeContext& node) {
  require_inputs(node, 2, 3);
  const Tensor x = node.input(0);
  if (!is_float(x.dtype())) require_type(node, 0, {DType::Int32, DType::Float32});
  const QuantAttributes a = quant_attributes(node, x);
  if (node.opset() >= 19) node.acknowledge("saturate");  // only for float8, which is not supported
  DType dtype = DType::UInt8;
  if (node.opset() >= 21 && node.has_attribute("output_dtype") && node.attribute_int("output_dtype") != 0) {
    dtype = dtype_of_number(node, node.attribute_int("output_dtype"), "attribute output_dtype");
    if (node.has_input(2) && node.input(2).dtype() != dtype) node.fail("attribute output_dtype differs from the type of the zero point");
    if (std::find(kQuantised.begin(), kQuantised.end(), dtype) == kQuantised.end())
      node.fail("attribute output_dtype is " + std::string(name_of(dtype)), "accepted are int8, uint8, int16 and uint16");
  } else if (node.has_input(2)) {
    require_type(node, 2, kQuantised);
    dtype = node.input(2).dtype();
  }
  require_type(node, 1, {DType::Float32, DType::Float16, DType::BFloat16});
  const QuantParameters p = quant_parameters(node, x, 1, 2, a.axis, a.block);
  // What follows the division is exact in float32 for 16-bit results too.
  const DType precision = float_attribute(node, "precision", is_float(x.dtype()) && node.opset() < 23 ? x.dtype() : p.scale.dtype());
  const Tensor scaled = x.cast(precision) / p.scale.cast(precision);
  return {saturated(widened(scaled), p.zero_is_0 ? Tensor() : p.zero, dtype)};
}

Outputs dequantize_linear(NodeContext& node) {
  require_inputs(node, 2, 3);
  require_type(node, 0, {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
  const Tensor x = node.input(0);
  const QuantAttributes a = quant_attributes(node, x);
  if (node.has_input(2)) require_same_type(node, 0, 2);
  if (x.dtype() == DType::Int32 && node.has_input(2) && node.constant(2) && !all_zero(node, 2))
    node.fail("x is int32 and its zero point is not 0", "ONNX defines no other: subtract it from x, and leave the zero point out");
  const QuantParameters p = quant_parameters(node, x, 1, 2, a.axis, a.block);
  const DType dtype = float_attribute(node, "output_dtype", p.scale.dtype());
  const Tensor wide = widened(p.scale.cast(dtype));
  return {(centred(x, p.zero_is_0 ? Tensor() : p.zero).cast(wide.dtype()) * wide).cast(dtype)};
}

/// Scale and zero point from the extremes of x and 0, so that 0 is exact.
Outputs dynamic_quantize_linear(NodeContext& node) {
  require_type(node, 0, {DType::Float32});
  const Tensor x = node.input(0);
  const Tensor zero = number(x, 0), most = number(x, 255);
  const Tensor low = x.min().minimum(zero), high = x.max().maximum(zero);
  const Tensor scale = (high - low) / most;
  const Tensor safe = scale.equal(zero).where(number(x, 1), scale);  // if x is all zeros the scale is 0; avoids 0 / 0 below
  const Tensor point = (zero - low) / safe;
  const Tensor zero_point = point.maximum(zero).minimum(most).unary(Op::Rint).cast(DType::UInt8);
  return {saturated(x / safe, zero_point, DType::UInt8), scale, zero_point};
}

Outputs matmul_integer(NodeContext& node) {
  require_inputs(node, 2, 4);
  require_type(node, 0, kBytes);
  require_type(node, 1, kBytes);
  return {integer_matmul(node, 0, 1, 2, 3)};
}

/// Inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
Outputs qlinear_matmul(NodeContext& node) {
  require_inputs(node, 8, 8);
  require_type(node, 0, kBytes);
  require_type(node, 3, kBytes);
  require_type(node, 7, kBytes);
  for (const auto& [input, what] : {std::pair(1, "scale of a"), std::pair(4, "scale of b"), std::pair(6, "scale of y")})
    require_scale(node, input, what);
  const Tensor sum = integer_matmul(node, 0, 3, 2, 5);
  const Tensor a_scale = matrix_parameter(node, 1, node.input(0), true), b_scale = matrix_parameter(node, 4, node.input(3), false);
  const Tensor y_scale = matrix_parameter(node, 6, sum, true), y_zero = matrix_parameter(node, 7, sum, true);
  const Tensor factor = widened(a_scale) * widened(b_scale) / widened(y_scale);
  return {saturated(sum.cast(factor.dtype()) * factor, y_zero, node.input(7).dtype())};
}

/// Inputs: x, weight, x_zero, weight_zero (one number, or one per output channel).
Outputs conv_integer(NodeContext& node) {
  require_inputs(node, 2, 4);
  require_type(node, 0, kBytes);
  require_type(node, 1, kBytes);
  const Tensor x_zero = node.has_input(2) ? unless_zero(node, 2, one_number(node, 2, "zero point of x")) : Tensor();
  const Tensor zero =
      node.has_input(3) ? unless_zero(node, 3, parameter_along(node, node.input(3), node.input(1), 0, 0, "zero point of w")) : Tensor();
  const Tensor x = centred(node.input(0), x_zero), weight = centred(node.input(1), zero);
  return {convolution(node, x, weight, Tensor())};
}

/// Inputs: x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias in int32 scaled by x_scale * weight_scale.
Outputs qlinear_conv(NodeContext& node) {
  require_inputs(node, 8, 9);
  require_type(node, 0, kBytes);
  require_type(node, 3, kBytes);
  require_type(node, 7, kBytes);
  if (node.has_input(8)) require_type(node, 8, {DType::Int32});
  for (const auto& [input, what] : {std::pair(1, "scale of x"), std::pair(4, "scale of w"), std::pair(6, "scale of y")})
    require_scale(node, input, what);
  const Tensor weight = node.input(3);
  const Tensor x_zero = unless_zero(node, 2, one_number(node, 2, "zero point of x"));
  const Tensor zero = unless_zero(node, 5, parameter_along(node, node.input(5), weight, 0, 0, "zero point of w"));
  const Tensor sum = convolution(node, centred(node.input(0), x_zero), centred(weight, zero), node.has_input(8) ? node.input(8) : Tensor());
  const Tensor factor =
      one_number(node, 1, "scale of x") * parameter_along(node, node.input(4), sum, 1, 0, "scale of w") / one_number(node, 6, "scale of y");
  return {saturated(sum.cast(factor.dtype()) * factor, one_number(node, 7, "zero point of y"), node.input(7).dtype())};
}

}  // namespace etch::operators
