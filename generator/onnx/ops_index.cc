// Operators that choose elements by position or value: gathers, one-hot, top-k, triangles, ranges.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "lazy/graph.h"
#include "lazy/tape.h"
#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"
#include "shape/int_math.h"

namespace etch::operators {
namespace {

void fail_unknown_size(const NodeContext& node, int i, const std::string& what) {
  node.fail("the size of its output depends on the values of " + what + ", it must be known while generating",
            node.constant_help(i) + "; or replace the node by a mask (Where) of fixed size");
}

}  // namespace

Outputs gather_elements(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_type(node, 1, {DType::Int32, DType::Int64});
  const Tensor x = node.input(0), index = node.input(1);
  if (index.rank() != x.rank()) node.fail("indices have " + std::to_string(index.rank()) + " axes, data has " + std::to_string(x.rank()));
  return {x.gather_elements(axis_of(node, node.attribute_int("axis", 0), x.rank()), index)};
}

/// The last axis of indices holds positions along the data's axes batch_dims, batch_dims + 1, ...; they are combined into one position.
Outputs gather_nd(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_type(node, 1, {DType::Int32, DType::Int64});
  const Tensor x = node.input(0), index = node.input(1);
  const int batch = static_cast<int>(node.opset() >= 12 ? node.attribute_int("batch_dims", 0) : 0);
  if (index.rank() < 1 || x.rank() < 1) node.fail("data and indices need at least one axis");
  const int depth = static_cast<int>(fixed_dim(node, index, -1, "indices"));
  if (batch < 0 || batch >= index.rank() || batch >= x.rank() || depth < 1 || depth > x.rank() - batch) {
    node.fail("indices select " + std::to_string(depth) + " axes after " + std::to_string(batch) + " batch axes, data has " +
              std::to_string(x.rank()) + " axes");
  }
  Sint span = 1;  // elements in the selected axes
  Tensor position;
  for (int k = depth - 1; k >= 0; k--) {
    const Tensor coordinate = wrapped_index(index.slice(-1, k, k + 1).squeeze({index.rank() - 1}), x.dim(batch + k));
    if (!position) {
      position = coordinate;
    } else {
      position = position + coordinate * integer(coordinate, span.as_int());
    }
    span = k > 0 ? Sint(span.as_int() * fixed_dim(node, x, batch + k, "data")) : span * x.dim(batch + k);
  }
  Sint rows = span;
  for (int axis = batch - 1; axis >= 0; axis--) {
    if (!rows.is_int()) fixed_dim(node, x, axis + 1, "data");
    position = position + positions(x.graph(), x.dim(axis), axis, position.rank()) * integer(position, rows.as_int());
    rows = rows * x.dim(axis);
  }
  Shape shape{rows};
  for (int axis = batch + depth; axis < x.rank(); axis++) shape.push_back(x.dim(axis));
  return {x.reshape(shape).gather(0, folded_index(position))};
}

/// values[1] where the new axis' position is the index, values[0] elsewhere (also for an index out of range).
Outputs one_hot(NodeContext& node) {
  require_inputs(node, 3, 3);
  const Tensor index = node.input(0), values = node.input(2);
  const std::int64_t depth = constant_number(node, 1, "depth").cast(DType::Int64).as_int();
  if (depth < 1) node.fail("its depth is " + std::to_string(depth), "it must be at least 1");
  if (values.rank() != 1 || !values.dim(0).is_int(2)) node.fail("input values must have 2 elements: off and on");
  const int axis = axis_of(node, node.attribute_int("axis", -1), index.rank() + 1);
  const Tensor wrapped = wrapped_index(index, depth).unsqueeze(axis);
  const Tensor hit = wrapped.equal(positions(index.graph(), depth, axis, index.rank() + 1));
  const Tensor off = values.slice(0, 0, 1).squeeze({0}), on = values.slice(0, 1, 2).squeeze({0});
  return {hit.where(on, off)};
}

namespace {

constexpr std::int64_t kWrittenOut = 8;

// Integers in the order of the elements, the first one largest; the least and the largest of their type are none of them. NaN counts as
// larger than every number. Null for integers that have all values of the widest type.
std::optional<Tensor> rank_key(const Tensor& x, bool largest) {
  Tensor key;
  if (is_float(x.dtype())) {
    const Tensor wide = x.dtype() == DType::Float64 ? x : x.cast(DType::Float32);
    const Tensor one_zero = wide.equal(number(wide, 0)).where(number(wide, 0), wide);  // not two
    const Tensor bits = one_zero.bitcast(x.dtype() == DType::Float64 ? DType::Int64 : DType::Int32);
    const std::int64_t most = int_max(bits.dtype());
    const Tensor ascending = (bits < integer(bits, 0)).where(Tensor::binary(Op::Xor, bits, integer(bits, most)), bits);
    key = is_nan(wide).where(integer(bits, most - 1), ascending);
  } else {
    const std::int64_t bytes = bytes_of(x.dtype());
    if (bytes > 4) return std::nullopt;
    key = x.cast(bytes > 2 ? DType::Int64 : DType::Int32);
  }
  return largest ? key : Tensor::binary(Op::Xor, key, integer(key, -1));
}

// One element in each turn: the first of the largest that are left. In the last axis. Few turns are written out: in a program with loops
// less can be done for what stands outside of them.
Tensor places_by_turns(const Tensor& key, std::int64_t k) {
  const int last = key.rank() - 1;
  const Tensor place = positions(key.graph(), key.dim(last), last, key.rank(), DType::Int32);
  const auto turn = [=](const Sint&, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor& left = now[0];
    const Tensor found = left.argmax(last, true).cast(DType::Int32);
    return {{place.equal(found).where(integer(left, int_min(left.dtype())), left)}, {found}};
  };
  if (k > kWrittenOut) {
    const Tensor found = Tensor::loop(key.graph(), k, {key}, turn).listed[0];
    return move_axis(found.squeeze({last + 1}), 0, last).cast(DType::Int64);
  }
  std::vector<Tensor> found;
  for (Tensor left = key; std::ssize(found) < k;) {
    const LoopTurn now = turn(0, {left.contiguous()});
    left = now.carried[0];
    found.push_back(now.listed[0]);
  }
  return Tensor::cat(found, last).cast(DType::Int64);
}

// Of blocks that make the two rows that a turn looks at short: one that divides the elements, else the last block is padded.
std::int64_t block_length(std::int64_t n) {
  constexpr std::int64_t kOther = 16;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  for (std::int64_t length = root; length <= 2 * root; length++)
    if (n % length == 0) return length;
  return ceil_div(root, kOther) * kOther;
}

// The same where there are many elements, in blocks of which the largest that is left is known: each turn looks at these, and at one block
// twice. Elements are taken in order, so that those are left that rank behind the newest.
Tensor places_by_blocks(const Tensor& key, std::int64_t k) {
  const int last = key.rank() - 1, rank = key.rank();
  const std::int64_t n = key.dim(last).as_int(), least = int_min(key.dtype());
  const std::int64_t length = block_length(n);
  const Sint count = ceil_div(n, length);
  Padding behind(static_cast<std::size_t>(rank), {0, 0});
  behind.back().second = count * length - n;
  Shape shape = key.shape();
  shape.back() = count;
  shape.push_back(length);
  const Tensor blocks = key.pad(behind, Scalar::of_int(key.dtype(), least)).reshape(shape).contiguous();
  const Tensor block_places = positions(key.graph(), count, last, rank, DType::Int32);
  const Tensor row_places = positions(key.graph(), length, last, rank, DType::Int32);
  const auto turn = [=](const Sint&, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor &largest = now[0], &newest = now[1], &newest_place = now[2];
    const Tensor block = largest.argmax(last, true).cast(DType::Int32);
    Shape of_block = shape;
    of_block[static_cast<std::size_t>(last)] = 1;
    const Tensor row = blocks.gather_elements(last, block.unsqueeze(rank).expand(of_block)).squeeze({last});
    const Tensor first = block * integer(block, length), place = row_places + first;
    const auto left_behind = [&](const Tensor& value, const Tensor& at) {
      const Tensor ties = Tensor::binary(Op::And, row.equal(value), at < place);
      return Tensor::binary(Op::Or, row < value, ties).where(row, integer(row, least));
    };
    const Tensor found = (left_behind(newest, newest_place).argmax(last, true).cast(DType::Int32) + first).contiguous();
    const Tensor value = largest.reduce(Op::ReduceMax, {last}, true);
    const Tensor next = left_behind(value, found).reduce(Op::ReduceMax, {last}, true);
    return {{block_places.equal(block).where(next, largest), value, found}, {found}};
  };
  const Tensor largest = blocks.reduce(Op::ReduceMax, {rank}, false);
  Shape one = key.shape();
  one.back() = 1;
  const Tensor above = Tensor::full(key.graph(), one, Scalar::of_int(key.dtype(), int_max(key.dtype())));
  const Tensor none = Tensor::full(key.graph(), one, Scalar::of_int(DType::Int32, 0));
  const Tensor found = Tensor::loop(key.graph(), k, {largest, above, none}, turn).listed[0];
  return move_axis(found.squeeze({rank}), 0, last).cast(DType::Int64);
}

// The place of element i is the number of elements that rank before it: those that are larger (or smaller), and the equal ones with a lower
// index. NaN counts as larger than every number. In the last axis.
Tensor places_by_counts(const Tensor& rows, std::int64_t k, bool largest) {
  const int rank = rows.rank();
  const Sint size = rows.dim(rank - 1);
  const Tensor self = rows.unsqueeze(rank), other = rows.unsqueeze(rank - 1);
  Tensor before = largest ? self < other : other < self, same = self.equal(other);
  if (is_float(rows.dtype())) {
    const Tensor nan_self = is_nan(self), nan_other = is_nan(other);
    before = Tensor::binary(
        Op::Or, before,
        largest ? Tensor::binary(Op::And, nan_other, nan_self.logical_not()) : Tensor::binary(Op::And, nan_self, nan_other.logical_not()));
    same = Tensor::binary(Op::Or, same, Tensor::binary(Op::And, nan_self, nan_other));
  }
  const Tensor earlier =
      positions(rows.graph(), size, rank, rank + 1, DType::Int32) < positions(rows.graph(), size, rank - 1, rank + 1, DType::Int32);
  const Tensor counted = Tensor::binary(Op::Or, before, Tensor::binary(Op::And, same, earlier));
  const Tensor place = counted.cast(DType::Int32).reduce(Op::ReduceSum, {rank}, false);
  const Tensor hit = place.unsqueeze(rank - 1).equal(positions(rows.graph(), k, rank - 1, rank + 1, DType::Int32));
  const Tensor source = positions(rows.graph(), size, rank, rank + 1);
  return hit.where(source, integer(source, 0)).reduce(Op::ReduceSum, {rank}, false);
}

}  // namespace

/// By turns, each of which goes through all elements twice, or through few of many; by counts of pairs where few elements or an open number
/// of them are ranked, no integer is free, gradients are noted, the values are constant (no loop is), or a grid compares many pairs at
/// once.
Outputs top_k(NodeContext& node) {
  constexpr std::int64_t kFew = 16, kMany = 256;
  require_inputs(node, node.opset() >= 10 ? 2 : 1, node.opset() >= 10 ? 2 : 1);
  const Tensor x = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis", -1), x.rank());
  const std::int64_t k = node.opset() >= 10 ? constant_number(node, 1, "k").as_int() : node.attribute_int("k");
  const bool largest = node.opset() < 11 || node.attribute_int("largest", 1) != 0;
  if (node.opset() >= 11) node.acknowledge("sorted");  // unsorted allows any order, also the sorted one
  const Sint size = x.dim(axis);
  if (k < 0 || k > size.min())
    node.fail("k is " + std::to_string(k) + ", the axis has " + to_text(size) + " elements", "k is at most the size of the axis");
  const Tensor rows = move_axis(x, axis, x.rank() - 1);
  const bool is_counted = node.graph().tape().is_training() || rows.buffer()->constant || node.target().has_grid;
  const bool has_turns = k > 0 && size.is_int() && size.as_int() > kFew && !is_counted;
  const std::optional<Tensor> key = has_turns ? rank_key(rows, largest) : std::nullopt;
  const bool has_blocks = key && k > kWrittenOut && size.as_int() >= kMany;
  const Tensor index = has_blocks ? places_by_blocks(*key, k) : key ? places_by_turns(*key, k) : places_by_counts(rows, k, largest);
  const Tensor values = rows.gather_elements(rows.rank() - 1, index);
  return {move_axis(values, rows.rank() - 1, axis), move_axis(index, rows.rank() - 1, axis)};
}

Outputs compress(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_type(node, 1, {DType::Bool});
  const std::optional<Array> condition = node.constant(1);
  if (!condition) fail_unknown_size(node, 1, "condition");
  const bool flat = !node.has_attribute("axis");
  const Tensor x = flat ? node.input(0).reshape({node.input(0).size()}) : node.input(0);
  const int axis = flat ? 0 : axis_of(node, node.attribute_int("axis"), x.rank());
  if (condition->size() > fixed_dim(node, x, axis, "input")) {
    node.fail("condition has " + std::to_string(condition->size()) + " elements, the axis " + to_text(x.dim(axis)),
              "shorten the condition");
  }
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < condition->size(); i++) {
    if (condition->int_at(i) != 0) chosen.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(chosen.size());
  return {x.gather(axis, index_constant(x.graph(), {count}, chosen))};
}

Outputs non_zero(NodeContext& node) {
  const std::optional<Array> x = node.constant(0);
  if (!x) fail_unknown_size(node, 0, "its input");
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < x->size(); i++) {
    if (x->double_at(i) != 0) found.push_back(i);
  }
  const std::size_t rank = x->shape().size();
  std::vector<std::int64_t> result(rank * found.size());
  for (std::size_t k = 0; k < found.size(); k++) {
    std::int64_t rest = found[k];
    for (std::size_t axis = rank; axis-- > 0; rest /= x->shape()[axis]) result[axis * found.size() + k] = rest % x->shape()[axis];
  }
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(rank), static_cast<std::int64_t>(found.size())};
  return {Tensor::constant(node.graph(), Array::of_ints(DType::Int64, shape, result))};
}

Outputs reverse_sequence(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_type(node, 1, {DType::Int64});
  const Tensor x = node.input(0), lengths = node.input(1);
  const int batch = axis_of(node, node.attribute_int("batch_axis", 1), x.rank(), "attribute batch_axis");
  const int time = axis_of(node, node.attribute_int("time_axis", 0), x.rank(), "attribute time_axis");
  if (batch == time || batch > 1 || time > 1)
    node.fail("batch_axis is " + std::to_string(batch) + " and time_axis " + std::to_string(time), "one is 0, the other 1");
  Shape shape(static_cast<std::size_t>(x.rank()), Sint(1));
  shape[static_cast<std::size_t>(batch)] = x.dim(batch);
  const Tensor length = lengths.reshape(shape), step = positions(x.graph(), x.dim(time), time, x.rank());
  const Tensor source = (step < length).where(length - integer(length, 1) - step, step);
  return {x.gather_elements(time, source.expand(x.shape()))};
}

namespace {

/// Number of values start, start + step, ... before limit.
std::int64_t range_count(const NodeContext& node, std::int64_t start, std::int64_t limit, std::int64_t step) {
  if (step > 0 ? limit <= start : limit >= start) return 0;
  const auto a = static_cast<std::uint64_t>(start), b = static_cast<std::uint64_t>(limit), s = static_cast<std::uint64_t>(step);
  const std::uint64_t count = ((step > 0 ? b - a : a - b) - 1) / (step > 0 ? s : 0 - s) + 1;
  if (count > static_cast<std::uint64_t>(kMaxElements))
    node.fail("it makes " + std::to_string(count) + " elements, up to " + std::to_string(kMaxElements) + " are accepted");
  return static_cast<std::int64_t>(count);
}

/// The type in which float elements are computed: not a 16-bit one, as the rounding error of the step would add up.
DType stash_of_range(NodeContext& node, DType dtype) {
  const std::int64_t stash = node.opset() >= 27 ? node.attribute_int("stash_type", 1) : 1;
  if (dtype != DType::Float16 && dtype != DType::BFloat16) return dtype;
  const DType type = dtype_of_number(node, stash, "attribute stash_type");
  if (type != DType::Float32 && type != DType::Float64)
    node.fail("attribute stash_type is " + std::string(name_of(type)), "accepted are float32 and float64");
  return type;
}

}  // namespace

/// start, start + delta, ... below limit (above it for a negative delta).
Outputs range(NodeContext& node) {
  require_inputs(node, 3, 3);
  require_same_type(node, 0, 1);
  require_same_type(node, 0, 2);
  const Scalar start = constant_number(node, 0, "start"), delta = constant_number(node, 2, "delta");
  const DType dtype = node.input(0).dtype();
  if (delta.as_double() == 0) node.fail("its delta is 0", "give another delta");
  if (is_float(dtype)) {
    const double limit = constant_number(node, 1, "limit").as_double();
    const double count = std::ceil((limit - start.as_double()) / delta.as_double());
    if (!(count < 9e15)) node.fail("it makes " + std::to_string(count) + " elements");
    const DType stash = stash_of_range(node, dtype);
    const auto in_stash = [&](const Scalar& value) { return Scalar::of_double(stash, value.as_double()); };
    return {
        Tensor::arange(node.graph(), static_cast<std::int64_t>(std::max(count, 0.0)), stash, in_stash(start), in_stash(delta)).cast(dtype)};
  }
  node.acknowledge("stash_type");  // integers are computed as they are
  const std::vector<Sint> limits = node.require_dims(1, "limit");
  if (limits.size() != 1) node.fail("its limit has " + std::to_string(limits.size()) + " elements, it must have 1");
  const std::int64_t step = delta.as_int();
  if (limits[0].is_int())
    return {Tensor::arange(node.graph(), range_count(node, start.as_int(), limits[0].as_int(), step), dtype, start, delta)};
  if (step == std::numeric_limits<std::int64_t>::min())
    node.fail("its delta is " + std::to_string(step) + " and its limit " + to_text(limits[0]));
  const Sint span = step > 0 ? limits[0] - start.as_int() : Sint(start.as_int()) - limits[0];
  const Sint count = floordiv(span + (std::abs(step) - 1), std::abs(step));
  if (count.min() < 0)
    node.fail("its limit " + to_text(limits[0]) + " may be below its start", "bind the dimension to a larger least value");
  return {Tensor::arange(node.graph(), count, dtype, start, delta)};
}

Outputs eye_like(NodeContext& node) {
  const Tensor x = node.input(0);
  if (x.rank() != 2) node.fail("its input has " + std::to_string(x.rank()) + " axes, EyeLike takes a matrix");
  const DType dtype = node.has_attribute("dtype") ? dtype_of_number(node, node.attribute_int("dtype"), "attribute dtype") : x.dtype();
  return {Tensor::eye(node.graph(), x.dim(0), x.dim(1), dtype, node.attribute_int("k", 0))};
}

Outputs trilu(NodeContext& node) {
  require_inputs(node, 1, 2);
  const Tensor x = node.input(0);
  if (x.rank() < 2) node.fail("its input has " + std::to_string(x.rank()) + " axes, Trilu takes matrices");
  const bool upper = node.attribute_int("upper", 1) != 0;
  if (node.has_input(1) && !node.constant(1)) {  // the diagonal is known when the model runs
    const Tensor k = node.input(1);
    if (!k.size().is_int(1)) node.fail("its k has the shape " + to_text(k.shape()) + ", one number is expected");
    const Tensor row = positions(x.graph(), x.dim(-2), x.rank() - 2, x.rank()),
                 column = positions(x.graph(), x.dim(-1), x.rank() - 1, x.rank());
    const Tensor distance = column - row, diagonal = k.cast(distance.dtype()).reshape({});
    return {(upper ? distance < diagonal : diagonal < distance).where(x.full_like(0), x)};
  }
  const std::int64_t diagonal = node.has_input(1) ? constant_number(node, 1, "k").as_int() : 0;
  return {upper ? x.triu(diagonal) : x.tril(diagonal)};
}

}  // namespace etch::operators
