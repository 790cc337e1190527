// Scatters: data with some elements replaced by, or combined with, updates. With constant indices the update of each output element
// is known while generating; else each output element searches all updates for those with its index.
#include <algorithm>
#include <limits>

#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

enum class Merge { None, Add, Mul, Max, Min };

Merge merge_of(NodeContext& node) {
  if (node.opset() < 16) return Merge::None;  // no such attribute
  const std::string text = node.attribute_string("reduction", "none");
  Merge merge = Merge::None;
  if (text == "add")
    merge = Merge::Add;
  else if (text == "mul")
    merge = Merge::Mul;
  else if (text == "max" && node.opset() >= 18)
    merge = Merge::Max;
  else if (text == "min" && node.opset() >= 18)
    merge = Merge::Min;
  else if (text != "none")
    node.fail("attribute reduction is '" + text + "'",
              node.opset() >= 18 ? "accepted are none, add, mul, max and min" : "accepted are none, add and mul");
  if (merge != Merge::None && node.input(0).dtype() == DType::Bool)
    node.fail("attribute reduction is '" + text + "' with bool", "accepted is none");
  return merge;
}

Tensor merged(Merge merge, const Tensor& old, const Tensor& update) {
  switch (merge) {
    case Merge::None:
      return update;
    case Merge::Add:
      return old + update;
    case Merge::Mul:
      return old * update;
    case Merge::Max:
      return old.maximum(update);
    case Merge::Min:
      return old.minimum(update);
  }
  return update;
}

/// The neutral element of the merge.
Tensor neutral(Merge merge, const Tensor& like) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool is_float_type = is_float(like.dtype());
  switch (merge) {
    case Merge::None:
    case Merge::Add:
      return integer(like, 0);
    case Merge::Mul:
      return integer(like, 1);
    case Merge::Max:
      return is_float_type ? number(like, -infinity) : integer(like, int_min(like.dtype()));
    case Merge::Min:
      return is_float_type ? number(like, infinity) : integer(like, int_max(like.dtype()));
  }
  return integer(like, 0);
}

Op reduce_op(Merge merge) {
  switch (merge) {
    case Merge::Mul:
      return Op::ReduceProd;
    case Merge::None:
    case Merge::Max:
      return Op::ReduceMax;
    case Merge::Min:
      return Op::ReduceMin;
    case Merge::Add:
      return Op::ReduceSum;
  }
  return Op::ReduceSum;
}

/// rows [P, R], updates [K, R]; update k goes to row targets[k], in the order of k.
Tensor scatter_rows(Merge merge, Tensor rows, std::int64_t count, const Tensor& updates, const std::vector<std::int64_t>& targets) {
  // Round n applies the n-th update of each row; without a merge the last one alone counts.
  std::vector<std::vector<std::int64_t>> rounds;
  std::vector<std::size_t> used(static_cast<std::size_t>(count), 0);
  for (std::size_t k = 0; k < targets.size(); k++) {
    const auto target = static_cast<std::size_t>(targets[k]);
    const std::size_t round = merge == Merge::None ? 0 : used[target]++;
    if (round == rounds.size()) rounds.emplace_back(static_cast<std::size_t>(count), -1);
    rounds[round][target] = static_cast<std::int64_t>(k);
  }
  for (const std::vector<std::int64_t>& round : rounds) {
    const Tensor source = index_constant(rows.graph(), {count}, round);
    const Tensor zero = integer(source, 0);
    const Tensor untouched = (source < zero).unsqueeze(1);
    rows = untouched.where(rows, merged(merge, rows, updates.gather(0, source.maximum(zero))));
  }
  return rows;
}

/// The same for targets that are known when the model runs: every row compares itself with every target.
Tensor scatter_rows(Merge merge, const Tensor& rows, const Tensor& updates, const Tensor& targets) {
  const Sint count = targets.dim(0);
  const Tensor match = targets.unsqueeze(0).equal(positions(rows.graph(), rows.dim(0), 0, 2));  // [P, K]
  if (merge == Merge::None) {
    const Tensor order = positions(rows.graph(), count, 1, 2, DType::Int32);
    const Tensor last = match.where(order, integer(order, -1)).reduce(Op::ReduceMax, {1}, false);
    const Tensor zero = integer(last, 0);
    return (last < zero).unsqueeze(1).where(rows, updates.gather(0, last.maximum(zero)));
  }
  const Tensor change = match.unsqueeze(2).where(updates.unsqueeze(0), neutral(merge, updates));  // [P, K, R]
  return merged(merge, rows, change.reduce(reduce_op(merge), {1}, false));
}

struct Elements {
  Tensor data, index, updates;
  int axis = 0;
};

Elements elements(NodeContext& node) {
  require_inputs(node, 3, 3);
  require_type(node, 1, {DType::Int32, DType::Int64});
  require_same_type(node, 0, 2);
  Elements e{node.input(0), node.input(1), node.input(2), 0};
  e.axis = axis_of(node, node.attribute_int("axis", 0), e.data.rank());
  if (e.index.shape() != e.updates.shape()) node.fail("indices and updates have different shapes", "give them one shape");
  if (e.index.rank() != e.data.rank()) {
    node.fail("indices have " + std::to_string(e.index.rank()) + " axes, data has " + std::to_string(e.data.rank()));
  }
  for (int axis = 0; axis < e.data.rank(); axis++) {
    if (axis != e.axis && !(e.index.dim(axis) == e.data.dim(axis)) && e.index.dim(axis).max() > e.data.dim(axis).min()) {
      node.fail("indices are longer than data along axis " + std::to_string(axis), "shorten indices and updates");
    }
  }
  return e;
}

std::int64_t wrapped(const NodeContext& node, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    node.fail("an index is " + std::to_string(index) + ", the axis has " + std::to_string(size) + " elements");
  }
  return index < 0 ? index + size : index;
}

/// The flat position in the data of each update.
std::vector<std::int64_t> element_targets(const NodeContext& node, const Elements& e, const Array& index) {
  const std::vector<std::int64_t> shape = fixed_shape(node, e.data, "data");
  std::vector<std::int64_t> targets(static_cast<std::size_t>(index.size()));
  for (std::int64_t i = 0; i < index.size(); i++) {
    std::int64_t rest = i, stride = 1, flat = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      std::int64_t position = rest % index.shape()[axis];
      rest /= index.shape()[axis];
      if (static_cast<int>(axis) == e.axis) position = wrapped(node, index.int_at(i), shape[axis]);
      flat += position * stride;
      stride *= shape[axis];
    }
    targets[static_cast<std::size_t>(i)] = flat;
  }
  return targets;
}

/// Scatters along the last axis of all three: data [.., N], indices and updates [.., J].
Tensor scatter_lines(Merge merge, const Tensor& data, const Tensor& index, const Tensor& updates) {
  const int rank = data.rank();
  const Tensor match = index.unsqueeze(rank - 1).equal(positions(data.graph(), data.dim(-1), rank - 1, rank + 1));  // [.., N, J]
  if (merge == Merge::None) {
    const Tensor order = positions(data.graph(), index.dim(-1), rank, rank + 1, DType::Int32);
    const Tensor last = match.where(order, integer(order, -1)).reduce(Op::ReduceMax, {rank}, false);
    const Tensor zero = integer(last, 0);
    return (last < zero).where(data, updates.gather_elements(rank - 1, last.maximum(zero)));
  }
  const Tensor change = match.where(updates.unsqueeze(rank - 1), neutral(merge, updates));
  return merged(merge, data, change.reduce(reduce_op(merge), {rank}, false));
}

}  // namespace

Outputs scatter_elements(NodeContext& node) {
  const Elements e = elements(node);
  const Merge merge = merge_of(node);
  if (const std::optional<Array> index = node.constant(1)) {
    const std::vector<std::int64_t> targets = element_targets(node, e, *index);
    const std::int64_t count = e.data.size().as_int();
    const Tensor result = scatter_rows(merge, e.data.reshape({count, 1}), count, e.updates.reshape({e.updates.size(), 1}), targets);
    return {result.reshape(e.data.shape())};
  }
  // Beyond the indices' extent along the other axes, data stays.
  Padding inside, around;
  bool partial = false;
  for (int axis = 0; axis < e.data.rank(); axis++) {
    const Sint size = axis == e.axis ? e.data.dim(axis) : e.index.dim(axis);
    inside.emplace_back(0, size);
    around.emplace_back(0, e.data.dim(axis) - size);
    partial = partial || !(size == e.data.dim(axis));
  }
  const int last = e.data.rank() - 1;
  const Tensor region = move_axis(partial ? e.data.shrink(inside) : e.data, e.axis, last);
  const Tensor index = move_axis(wrapped_index(e.index, e.data.dim(e.axis)), e.axis, last), updates = move_axis(e.updates, e.axis, last);
  const Tensor result = move_axis(scatter_lines(merge, region, index, updates), last, e.axis);
  if (!partial) return {result};
  const Tensor covered = Tensor::full(node.graph(), result.shape(), Scalar::of_int(DType::Bool, 1)).pad(around);
  return {covered.where(result.pad(around), e.data)};
}

Outputs scatter_nd(NodeContext& node) {
  require_inputs(node, 3, 3);
  require_type(node, 1, {DType::Int64});
  require_same_type(node, 0, 2);
  const Merge merge = merge_of(node);
  const Tensor data = node.input(0), index = node.input(1), updates = node.input(2);
  if (index.rank() < 1) node.fail("indices need at least one axis");
  const int depth = static_cast<int>(fixed_dim(node, index, -1, "indices"));
  if (depth < 1 || depth > data.rank())
    node.fail("indices select " + std::to_string(depth) + " axes, data has " + std::to_string(data.rank()));
  Shape expected(index.shape().begin(), index.shape().end() - 1);
  Sint updates_count = 1, row_size = 1;
  for (const Sint& size : expected) updates_count = updates_count * size;
  for (int axis = depth; axis < data.rank(); axis++) {
    expected.push_back(data.dim(axis));
    row_size = row_size * data.dim(axis);
  }
  if (updates.shape() != expected)
    node.fail("the shape of updates is not that of indices without the last axis, then that of the data's rows");

  Tensor position;
  std::int64_t span = 1;
  for (int k = depth - 1; k >= 0; k--) {
    const std::int64_t size = fixed_dim(node, data, k, "data");
    const Tensor coordinate = wrapped_index(index.slice(-1, k, k + 1), size) * integer(node.graph(), DType::Int64, span);
    position = position ? position + coordinate : coordinate;
    span *= size;
  }
  const Tensor rows = data.reshape({span, row_size}), changes = updates.reshape({updates_count, row_size});
  const Tensor targets = position.reshape({updates_count});
  if (const std::optional<Array> fixed = targets.evaluate()) {
    const Array coordinates = node.require_constant(1, "indices");
    for (std::int64_t i = 0; i < coordinates.size(); i++)
      wrapped(node, coordinates.int_at(i), data.dim(static_cast<int>(i % depth)).as_int());
    return {scatter_rows(merge, rows, span, changes, fixed->ints()).reshape(data.shape())};
  }
  return {scatter_rows(merge, rows, changes, targets).reshape(data.shape())};
}

/// Puts values back to the positions from which MaxPool took them. Indices are positions in the whole tensor whose shape follows from
/// MaxPool's attributes; a larger output_shape adds zeros at the ends.
Outputs max_unpool(NodeContext& node) {
  require_inputs(node, 2, 3);
  require_type(node, 1, {DType::Int64});
  const Tensor x = node.input(0), index = node.input(1);
  const auto count = static_cast<std::size_t>(std::max(x.rank() - 2, 0));
  const std::vector<std::int64_t> kernel = node.attribute_ints("kernel_shape");
  const std::vector<std::int64_t> strides = node.attribute_ints("strides", std::vector<std::int64_t>(count, 1));
  const std::vector<std::int64_t> pads = node.attribute_ints("pads", std::vector<std::int64_t>(2 * count, 0));
  if (count < 1 || index.shape() != x.shape() || kernel.size() != count || strides.size() != count || pads.size() != 2 * count) {
    node.fail("its inputs' shapes and attributes kernel_shape, strides and pads do not fit", "x and indices are [N, C, d...]");
  }
  Shape shape{x.dim(0), x.dim(1)};
  std::int64_t plane = 1, pooled = 1;
  for (std::size_t i = 0; i < count; i++) {
    const std::int64_t size = fixed_dim(node, x, static_cast<int>(i) + 2, "input");
    shape.push_back((size - 1) * strides[i] + kernel[i] - pads[i] - pads[count + i]);
    pooled *= size;
  }
  require_sane_shape(shape, node);
  for (std::size_t i = 0; i < count; i++) plane *= shape[i + 2].as_int();
  const std::int64_t planes = fixed_dim(node, x, 0, "input") * fixed_dim(node, x, 1, "input");
  const Tensor local = index.reshape({planes, pooled}) - positions(x.graph(), planes, 0, 2) * integer(index, plane);
  const Tensor zeros = Tensor::full(x.graph(), {planes, plane}, Scalar::of_double(x.dtype(), 0));
  Tensor y = scatter_lines(Merge::None, zeros, local, x.reshape({planes, pooled})).reshape(shape);
  if (!node.has_input(2)) return {y};
  const std::vector<std::int64_t> wanted = node.require_constant(2, "output_shape").ints();
  if (wanted.size() != shape.size())
    node.fail("its output_shape is " + list_text(wanted) + ", " + std::to_string(shape.size()) + " sizes are expected");
  require_sane_shape(Shape(wanted.begin(), wanted.end()), node);
  Padding ends;
  for (std::size_t i = 0; i < shape.size(); i++) {
    if (wanted[i] < shape[i].as_int())
      node.fail("its output_shape " + list_text(wanted) + " is smaller than what was pooled", "give larger sizes");
    ends.emplace_back(0, wanted[i] - shape[i].as_int());
  }
  return {y.pad(ends)};
}

}  // namespace etch::operators
