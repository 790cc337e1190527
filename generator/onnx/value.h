// A value of an ONNX graph while it is imported: a Tensor, or integers that are known but for Variables in them. The latter
// are what shape arithmetic (Shape, Gather, Mul, Concat, ... Reshape) works on when a dimension stays variable.
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
  Tensor tensor;                          // may be absent where `symbolic` is there
  std::optional<SymbolicArray> symbolic;  // only if some value is not an int

  /// False: what makes it was refused, or has an open size.
  bool known() const { return static_cast<bool>(tensor) || symbolic.has_value(); }
  /// Of a known value.
  DType dtype() const { return tensor ? tensor.dtype() : symbolic->dtype; }
};

/// The value as integers: its symbolic ones, or a constant's if it is a small integer or bool tensor; else nothing.
std::optional<SymbolicArray> integers_of(const Value& value);
/// `array` as a value: a constant if all are ints.
Value value_of(LazyGraph& graph, SymbolicArray array);
/// A tensor with these values: an expression of a Variable becomes a sum of as many ones. Only what is proved >= 0 can.
std::optional<Tensor> tensor_of(LazyGraph& graph, const SymbolicArray& array);

}  // namespace etch
