// Affine quantisation as ONNX defines it: real = (integer - zero_point) * scale. Parameters are one number, one per element
// of an axis, or one per block of an axis.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/node.h"

namespace etch::operators {

/// Inputs `scale` and `zero` (may be absent: 0) of a node, shaped so that they broadcast to the tensor they belong to.
struct QuantParameters {
  Tensor scale;
  Tensor zero;            // empty if absent
  bool zero_is_0 = true;  // absent, or a constant that is 0 everywhere
};

/// Parameters for `x`: one number, or a vector along `axis`, or (block > 0) one per `block` elements of the axis.
QuantParameters quant_parameters(const NodeContext& node, const Tensor& x, int scale_input, int zero_input, int axis, std::int64_t block);
/// A scale or zero point of a matrix product's operand: one number, a vector per row (of the left operand) or per column (of
/// the right one), or a tensor that broadcasts as it is.
Tensor matrix_parameter(const NodeContext& node, int input, const Tensor& operand, bool per_row);

/// x - zero in int32.
Tensor centred(const Tensor& x, const Tensor& zero);
/// saturate(round_half_even(x) + zero) in `dtype`, for x in float32 or float64.
Tensor saturated(const Tensor& x, const Tensor& zero, DType dtype);

}  // namespace etch::operators
