#include "onnx/value.h"

#include <algorithm>

namespace etch {
namespace {

constexpr std::int64_t kMostIntegers = 4096;  // shapes and tables of indices are far smaller

}  // namespace

bool SymbolicArray::all_ints() const {
  return std::all_of(values.begin(), values.end(), [](const Sint& v) { return v.is_int(); });
}

std::optional<SymbolicArray> integers_of(const Value& value) {
  if (value.symbolic) return value.symbolic;
  if (!value.tensor || is_float(value.tensor.dtype())) return std::nullopt;
  const Sint size = value.tensor.size();
  if (!size.is_int() || size.as_int() > kMostIntegers) return std::nullopt;
  const std::optional<Array> array = value.tensor.evaluate();
  if (!array) return std::nullopt;
  SymbolicArray result{array->dtype(), array->shape(), {}};
  for (std::int64_t v : array->ints()) result.values.push_back(v);
  return result;
}

Value value_of(LazyGraph& graph, SymbolicArray array) {
  Value value;
  if (!array.all_ints()) {
    value.symbolic = std::move(array);
    return value;
  }
  std::vector<std::int64_t> ints;
  for (const Sint& v : array.values) ints.push_back(v.as_int());
  value.tensor = Tensor::constant(graph, Array::of_ints(array.dtype, array.shape, ints));
  return value;
}

std::optional<Tensor> tensor_of(LazyGraph& graph, const SymbolicArray& array) {
  std::vector<Tensor> parts;
  for (const Sint& v : array.values) {
    if (v.is_int()) {
      parts.push_back(Tensor::full(graph, {1}, Scalar::of_int(array.dtype, v.as_int())));
    } else if (v.min() >= 0) {
      parts.push_back(Tensor::full(graph, {v}, Scalar::of_int(array.dtype, 1)).reduce(Op::ReduceSum, {0}, true));
    } else {
      return std::nullopt;
    }
  }
  if (parts.empty()) return std::nullopt;
  const Shape shape(array.shape.begin(), array.shape.end());
  return (parts.size() == 1 ? parts[0] : Tensor::cat(parts, 0)).reshape(shape);
}

}  // namespace etch
