#include "onnx/shape_arithmetic.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace etch {
namespace {

using Arrays = std::vector<SymbolicArray>;
using Results = std::optional<Arrays>;

// --- operators that move elements: their operator function runs on a tensor of positions instead of the values

struct Mover {
  std::string_view name;
  bool all_inputs;  // every input is moved (Concat); else the first one
};
constexpr Mover kMovers[] = {{"Concat", true},     {"Gather", false},  {"Identity", false}, {"Reshape", false},
                             {"Slice", false},     {"Split", false},   {"Squeeze", false},  {"Expand", false},
                             {"Transpose", false}, {"Flatten", false}, {"Tile", false},     {"Unsqueeze", false}};

Results move(ImportedNode& node, const OperatorRow& row, const Mover& mover) {
  std::vector<Sint> pool;
  std::vector<Value> replaced(node.inputs().size());
  std::vector<const Value*> inputs = node.inputs();
  DType dtype = DType::Int64;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i] == nullptr || (i > 0 && !mover.all_inputs)) continue;
    const std::optional<SymbolicArray> array = integers_of(*inputs[i]);
    if (!array) return std::nullopt;
    dtype = array->dtype;
    std::vector<std::int64_t> positions;
    for (const Sint& v : array->values) {
      positions.push_back(static_cast<std::int64_t>(pool.size()));
      pool.push_back(v);
    }
    replaced[i].tensor = Tensor::constant(node.graph(), Array::of_ints(DType::Int64, array->shape, positions));
    inputs[i] = &replaced[i];
  }
  ImportedNode on_positions = node.with_inputs(inputs);
  Arrays results;
  for (const Tensor& output : row.function(on_positions)) {
    const std::optional<Array> positions = output.evaluate();
    if (!positions) return std::nullopt;
    SymbolicArray result{dtype, positions->shape(), {}};
    for (std::int64_t p : positions->ints()) result.values.push_back(pool[static_cast<std::size_t>(p)]);
    results.push_back(std::move(result));
  }
  node.acknowledge_all(on_positions);
  return results;
}

// --- operators that compute

std::optional<Sint> divide(Sint a, Sint b) {
  if (a.min() < 0 || b.min() <= 0) return std::nullopt;  // ONNX truncates, floordiv floors: equal only if nothing is negative
  return floordiv(a, b);
}

std::optional<Sint> compare_equal(Sint a, Sint b) {
  if (a == b) return Sint(1);
  if (a.max() < b.min() || b.max() < a.min()) return Sint(0);
  return std::nullopt;
}

using Elementwise = std::optional<Sint> (*)(Sint, Sint);
struct ElementwiseRow {
  std::string_view name;
  Elementwise function;
  bool to_bool;
};
const ElementwiseRow kElementwise[] = {
    {"Add", [](Sint a, Sint b) { return std::optional<Sint>(a + b); }, false},
    {"Sub", [](Sint a, Sint b) { return std::optional<Sint>(a - b); }, false},
    {"Mul", [](Sint a, Sint b) { return std::optional<Sint>(a * b); }, false},
    {"Div", divide, false},
    {"Max", [](Sint a, Sint b) { return try_max(a, b); }, false},
    {"Min", [](Sint a, Sint b) { return try_min(a, b); }, false},
    {"Equal", compare_equal, true},
};

/// Element `flat` of the broadcast shape, in an array of a shape that broadcasts to it.
std::size_t broadcast_position(std::int64_t flat, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& from) {
  std::int64_t position = 0, stride = 1;
  for (std::size_t back = 1; back <= shape.size(); back++) {
    const std::int64_t index = flat % shape[shape.size() - back];
    flat /= shape[shape.size() - back];
    if (back > from.size()) continue;
    const std::int64_t size = from[from.size() - back];
    if (size != 1) position += index * stride;
    stride *= size;
  }
  return static_cast<std::size_t>(position);
}

std::optional<std::vector<std::int64_t>> broadcast(const Arrays& arrays) {
  std::vector<std::int64_t> shape;
  for (const SymbolicArray& array : arrays) {
    if (array.shape.size() > shape.size()) shape.insert(shape.begin(), array.shape.size() - shape.size(), 1);
    for (std::size_t back = 1; back <= array.shape.size(); back++) {
      std::int64_t& size = shape[shape.size() - back];
      const std::int64_t other = array.shape[array.shape.size() - back];
      if (size == 1)
        size = other;
      else if (other != 1 && other != size)
        return std::nullopt;
    }
  }
  return shape;
}

/// function(operands of one element) for each element of the broadcast shape.
Results map(const Arrays& arrays, DType dtype, const std::function<std::optional<Sint>(const std::vector<Sint>&)>& function) {
  const auto shape = broadcast(arrays);
  if (!shape) return std::nullopt;
  SymbolicArray result{dtype, *shape, {}};
  std::int64_t count = 1;
  for (std::int64_t d : *shape) count *= d;
  for (std::int64_t flat = 0; flat < count; flat++) {
    std::vector<Sint> operands;
    for (const SymbolicArray& array : arrays) operands.push_back(array.values[broadcast_position(flat, *shape, array.shape)]);
    const std::optional<Sint> value = function(operands);
    if (!value) return std::nullopt;
    result.values.push_back(*value);
  }
  return Arrays{std::move(result)};
}

Results elementwise(const Arrays& arrays, const ElementwiseRow& row) {
  return map(arrays, row.to_bool ? DType::Bool : arrays[0].dtype, [&](const std::vector<Sint>& operands) {
    std::optional<Sint> value = operands[0];
    for (std::size_t i = 1; i < operands.size() && value; i++) value = row.function(*value, operands[i]);
    return value;
  });
}

Results choose(const Arrays& arrays) {
  return map(arrays, arrays[1].dtype, [](const std::vector<Sint>& operands) -> std::optional<Sint> {
    if (operands[1] == operands[2]) return operands[1];
    if (!operands[0].is_int()) return std::nullopt;
    return operands[0].as_int() != 0 ? operands[1] : operands[2];
  });
}

/// Reduces all elements to one; the node's axes must be all axes.
Results reduce_all(ImportedNode& node, const SymbolicArray& array, bool product_of) {
  const std::int64_t rank = static_cast<std::int64_t>(array.shape.size());
  const bool keepdims = node.attribute_int("keepdims", 1) != 0;
  std::vector<std::int64_t> axes = node.attribute_ints("axes", std::vector<std::int64_t>{});
  if (node.has_input(1)) {
    for (const Sint& a : node.require_dims(1, "axes")) axes.push_back(a.as_int());
  }
  const bool noop = node.attribute_int("noop_with_empty_axes", 0) != 0;
  if (rank > 1 || (axes.empty() && noop)) return std::nullopt;
  return Arrays{{array.dtype,
                 std::vector<std::int64_t>(keepdims ? static_cast<std::size_t>(rank) : 0, 1),
                 {product_of ? product(array.values) : sum(array.values)}}};
}

Results cast(ImportedNode& node, const SymbolicArray& array) {
  const std::int64_t to = node.attribute_int("to");
  constexpr std::int64_t kInt32 = 6, kInt64 = 7;
  if (to != kInt32 && to != kInt64) return std::nullopt;
  for (const Sint& v : array.values) {
    if (to == kInt32 && (v.min() < INT32_MIN || v.max() > INT32_MAX)) return std::nullopt;
  }
  return Arrays{{to == kInt32 ? DType::Int32 : DType::Int64, array.shape, array.values}};
}

/// Shape and Size of a tensor with variable dimensions.
Results measure(ImportedNode& node) {
  const Shape& shape = node.inputs()[0]->tensor.shape();
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  if (node.op_type() == "Size") return Arrays{{DType::Int64, {}, {product(shape)}}};
  std::int64_t start = node.attribute_int("start", 0), end = node.attribute_int("end", rank);
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = std::clamp<std::int64_t>(start, 0, rank);
  end = std::clamp<std::int64_t>(end, start, rank);
  return Arrays{{DType::Int64, {end - start}, std::vector<Sint>(shape.begin() + start, shape.begin() + end)}};
}

Results compute(ImportedNode& node, const OperatorRow& row) {
  const std::string_view op = node.op_type();
  for (const Mover& mover : kMovers) {
    if (op != mover.name) continue;
    const bool moves_symbols = mover.all_inputs || (node.has_input(0) && node.inputs()[0]->symbolic);
    return moves_symbols ? move(node, row, mover) : std::nullopt;
  }
  Arrays arrays;
  for (const Value* input : node.inputs()) {
    if (input == nullptr) return std::nullopt;
    std::optional<SymbolicArray> array = integers_of(*input);
    if (!array) return std::nullopt;
    arrays.push_back(std::move(*array));
  }
  for (const ElementwiseRow& elementwise_row : kElementwise) {
    if (op == elementwise_row.name) return elementwise(arrays, elementwise_row);
  }
  if (op == "Where" && arrays.size() == 3) return choose(arrays);
  if (op == "ReduceProd") return reduce_all(node, arrays[0], true);
  if (op == "ReduceSum") return reduce_all(node, arrays[0], false);
  if (op == "Cast") return cast(node, arrays[0]);
  return std::nullopt;
}

bool has_variable(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Sint& d) { return !d.is_int(); });
}

}  // namespace

std::optional<std::vector<Value>> shape_arithmetic(ImportedNode& node, const OperatorRow& row) {
  const std::vector<const Value*>& inputs = node.inputs();
  const bool measures = node.op_type() == "Shape" || node.op_type() == "Size";
  Results results;
  if (measures && node.has_input(0) && inputs[0]->tensor && has_variable(inputs[0]->tensor.shape())) {
    results = measure(node);
  } else if (std::any_of(inputs.begin(), inputs.end(), [](const Value* v) { return v != nullptr && v->symbolic; })) {
    results = compute(node, row);
  }
  if (!results) return std::nullopt;
  std::vector<Value> values;
  for (SymbolicArray& array : *results) values.push_back(value_of(node.graph(), std::move(array)));
  return values;
}

}  // namespace etch
