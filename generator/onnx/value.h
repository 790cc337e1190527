// A value of an ONNX graph while it is imported: a Tensor, or integers that are known except for Variables in them. Shape arithmetic
// (Shape, Gather, Mul, Concat, ... Reshape) works on such integers when a dimension stays variable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/array.h"
#include "lazy/tensor.h"

namespace etch {

/// Integers of a small tensor, row-major; some may be expressions of Variables.
struct SymbolicArray {
  DType dtype = DType::Int64;
  std::vector<std::int64_t> shape;
  std::vector<Sint> values;

  bool all_ints() const;
};

struct Value {
  Tensor tensor;                          // may be absent if `symbolic` is present
  std::optional<SymbolicArray> symbolic;  // only if some value is not an int

  /// False if the node that makes it was refused, or it is an input of open size.
  bool known() const { return static_cast<bool>(tensor) || symbolic.has_value(); }
  /// Only for a known value.
  DType dtype() const { return tensor ? tensor.dtype() : symbolic->dtype; }
};

/// The value as integers: its symbolic ones, or those of a constant small integer or bool tensor; else nullopt.
std::optional<SymbolicArray> integers_of(const Value& value);
/// `array` as a value: a constant if all are ints.
Value value_of(LazyGraph& graph, SymbolicArray array);
/// A tensor with these values: an expression of Variables becomes a sum over that many ones. nullopt if there are no values, or if
/// an expression may be negative.
std::optional<Tensor> tensor_of(LazyGraph& graph, const SymbolicArray& array);

}  // namespace etch
