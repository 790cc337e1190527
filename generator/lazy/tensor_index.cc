// Indexing by values: by a view or slices if they are known, else by an indexed load.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "lazy/affine.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

constexpr std::size_t kMostSlices = 16;  // a constant index with more runs than this is looked up by value

void check_index(const Tensor& index, const char* what) {
  if (!is_int(index.dtype()))
    throw ShapeError(std::string(what) + ": the index is " + std::string(name_of(index.dtype())) + ", accepted are integers");
}

/// Positions in a type that is cheap to compute with.
Tensor narrow(const Tensor& index, const Sint& size) {
  const bool fits = bytes_of(index.dtype()) == 8 && size.max() < std::numeric_limits<std::int32_t>::max();
  return fits ? index.cast(DType::Int32) : index;
}

/// For each position the element of its row; `rows` has one axis more than `index`.
Tensor element_of(const Tensor& rows, const Tensor& index) { return apply(Function::Gather, {rows, narrow(index, rows.dim(-1))}); }

Tensor line(LazyGraph& graph, const Sint& n, DType dtype, int rank, int axis) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[index_of(axis)] = n;
  return Tensor::arange(graph, n, dtype).reshape(shape);
}

/// For the last two axes: the column of the diagonal in each row, and the columns.
std::pair<Tensor, Tensor> diagonal_of(const Tensor& x, std::int64_t diagonal) {
  const Sint rows = x.dim(-2), columns = x.dim(-1);
  const std::int64_t far = std::max(rows.max(), columns.max());  // a diagonal further out has the same effect as this one
  const DType dtype = far < (1 << 30) ? DType::Int32 : DType::Int64;
  const Tensor row = line(x.graph(), rows, dtype, x.rank(), x.rank() - 2), column = line(x.graph(), columns, dtype, x.rank(), x.rank() - 1);
  return {row + static_cast<double>(std::clamp(diagonal, -far, far)), column};
}

/// `count` elements along `axis` from `begin` on, `step` apart (0: the same one again and again).
Tensor run_of(const Tensor& x, int axis, const Sint& begin, std::int64_t step, std::int64_t count) {
  Shape start(x.shape().size(), 0);
  start[index_of(axis)] = begin;
  std::vector<AxisStep> axes;
  for (int i = 0; i < x.rank(); i++) axes.push_back({i, 1, x.dim(i)});
  axes[index_of(axis)] = {axis, step, count};
  return apply(Function::Steps, {x}, {.shape = std::move(start), .steps = std::move(axes)});
}

/// One view, if the positions are made of few steps: every second, each twice, backwards, all again.
std::optional<Tensor> gather_affine(const Tensor& x, int axis, const std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> from_start = positions;
  for (std::int64_t& p : from_start) {
    if (p < 0 && !x.dim(axis).is_int()) return std::nullopt;
    if (p < 0) p += x.dim(axis).as_int();
  }
  const std::optional<AffinePositions> found = affine_positions(from_start, axis);
  if (!found) return std::nullopt;
  Shape start(x.shape().size(), 0);
  start[index_of(axis)] = found->begin;
  std::vector<AxisStep> axes;
  for (int i = 0; i < x.rank(); i++) {
    if (i == axis)
      axes.insert(axes.end(), found->axes.begin(), found->axes.end());
    else
      axes.push_back({i, 1, x.dim(i)});
  }
  return apply(Function::Steps, {x}, {.shape = std::move(start), .steps = std::move(axes)});
}

struct Run {
  Sint begin;
  std::int64_t step = 0, count = 1;
};

/// The positions as runs with a constant step, each as long as possible.
std::vector<Run> runs_of(const std::vector<std::int64_t>& positions, const Sint& size) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t end = i + 1;
    std::int64_t step = 0;
    if (end < positions.size() && (positions[i] < 0) == (positions[end] < 0)) {
      step = positions[end] - positions[i];
      while (end < positions.size() && positions[end] - positions[end - 1] == step && (positions[end] < 0) == (positions[i] < 0)) end++;
    }
    runs.push_back({positions[i] < 0 ? size + positions[i] : Sint(positions[i]), step, static_cast<std::int64_t>(end - i)});
    i = end;
  }
  return runs;
}

/// numpy.take on the host, of 64-bit or smaller elements by their bytes.
Array take(const Array& x, int axis, const std::vector<std::int64_t>& positions) {
  const std::int64_t size = x.shape()[index_of(axis)], bytes = bytes_of(x.dtype());
  std::int64_t outer = 1, inner = bytes;
  for (int i = 0; i < axis; i++) outer *= x.shape()[index_of(i)];
  for (std::size_t i = index_of(axis) + 1; i < x.shape().size(); i++) inner *= x.shape()[i];
  std::vector<std::byte> out;
  out.reserve(static_cast<std::size_t>(outer * inner) * positions.size());
  for (std::int64_t o = 0; o < outer; o++)
    for (std::int64_t p : positions) {
      const std::byte* from = x.bytes().data() + (o * size + (p < 0 ? p + size : p)) * inner;
      out.insert(out.end(), from, from + inner);
    }
  std::vector<std::int64_t> shape = x.shape();
  shape[index_of(axis)] = static_cast<std::int64_t>(positions.size());
  return Array(x.dtype(), std::move(shape), std::move(out));
}

/// Gathers the elements at constant positions, by a view, by slices, or on the host; nullopt if none of these is suitable.
std::optional<Tensor> gather_constant(const Tensor& x, int axis, const std::vector<std::int64_t>& positions) {
  const Sint size = x.dim(axis);
  for (std::int64_t p : positions) {
    const Sint room = p < 0 ? size + p : size - (p + 1);
    if (!proves_nonnegative(room))
      throw ShapeError("gather: index " + std::to_string(p) + " of axis " + std::to_string(axis) + " of " + shape_text(x.shape()) +
                       " is outside" + where_negative(room));
  }
  if (positions.empty()) {
    Shape none = x.shape();
    none[index_of(axis)] = 0;
    return Tensor::full(x.graph(), none, Scalar::of_int(x.dtype(), 0));
  }
  if (const auto view = gather_affine(x, axis, positions)) return view;
  const std::vector<Run> runs = runs_of(positions, size);
  if (runs.size() > 1 && x.requires_grad() != RequiresGrad::Yes)
    if (const std::optional<Array> values = x.evaluate()) return Tensor::constant(x.graph(), take(*values, axis, positions));
  if (runs.size() > kMostSlices) return std::nullopt;
  std::vector<Tensor> parts;
  for (const Run& run : runs) parts.push_back(run_of(x, axis, run.begin, run.step, run.count));
  return Tensor::cat(parts, axis);
}

}  // namespace

Tensor Tensor::gather(int axis, const Tensor& index) const {
  axis = normal_axis(axis, rank(), "gather");
  check_index(index, "gather");
  const Shape before(shape().begin(), shape().begin() + axis), after(shape().begin() + axis + 1, shape().end());
  Shape result = before;
  result.insert(result.end(), index.shape().begin(), index.shape().end());
  result.insert(result.end(), after.begin(), after.end());
  if (is_empty(result)) return full(*graph_, result, Scalar::of_int(dtype(), 0));
  if (const std::optional<Array> values = index.evaluate())
    if (const auto found = gather_constant(*this, axis, values->ints())) return found->reshape(result);
  if (dim(axis).is_int(0))
    throw ShapeError("gather: from axis " + std::to_string(axis) + " of " + shape_text(shape()) + ", which is empty");

  // Rows [before.., 1, after.., size], repeated for each of the positions [1.., n, 1..].
  std::vector<int> order;
  for (int a = 0; a < rank(); a++)
    if (a != axis) order.push_back(a);
  order.push_back(axis);
  Shape each = before;
  each.push_back(index.size());
  each.insert(each.end(), after.begin(), after.end());
  Shape rows = each, positions(each.size(), 1);
  rows.push_back(dim(axis));
  positions[index_of(axis)] = index.size();
  return element_of(permute(order).unsqueeze(axis).expand(rows), index.reshape(positions).expand(each)).reshape(result);
}

Tensor Tensor::gather_elements(int axis, const Tensor& index) const {
  axis = normal_axis(axis, rank(), "gather elements");
  check_index(index, "gather elements");
  const std::string text = "gather elements: shapes " + shape_text(shape()) + " and " + shape_text(index.shape());
  if (index.rank() != rank()) throw ShapeError(text + " differ in rank");
  if (is_empty(index.shape())) return full(*graph_, index.shape(), Scalar::of_int(dtype(), 0));
  Padding ranges;
  for (int k = 0; k < rank(); k++) {
    const Sint end = k == axis ? dim(k) : index.dim(k);
    if ((dim(k) - end).max() < 0) throw ShapeError(text + ": axis " + std::to_string(k));
    ranges.emplace_back(0, end);
  }
  if (dim(axis).is_int(0)) throw ShapeError(text + ": axis " + std::to_string(axis) + " is empty");
  std::vector<int> order;
  for (int a = 0; a < rank(); a++)
    if (a != axis) order.push_back(a);
  order.push_back(axis);
  Shape rows = index.shape();
  rows.push_back(dim(axis));
  return element_of(shrink(ranges).permute(order).unsqueeze(axis).expand(rows), index);
}

Tensor Tensor::one_hot(Sint depth) const {
  check_index(*this, "one hot");
  const Tensor i = unsqueeze(-1);
  return i.equal(line(*graph_, depth, dtype(), i.rank(), i.rank() - 1));
}

Tensor Tensor::triu(std::int64_t diagonal) const {
  if (rank() < 2) throw ShapeError("triu: of a tensor of rank " + std::to_string(rank()));
  const auto [border, column] = diagonal_of(*this, diagonal);
  return (column < border).where(full_like(0), *this);
}

Tensor Tensor::tril(std::int64_t diagonal) const {
  if (rank() < 2) throw ShapeError("tril: of a tensor of rank " + std::to_string(rank()));
  const auto [border, column] = diagonal_of(*this, diagonal);
  return (border < column).where(full_like(0), *this);
}

Tensor Tensor::diagonal(int a, int b) const {
  a = normal_axis(a, rank(), "diagonal");
  b = normal_axis(b, rank(), "diagonal");
  if (a == b || !(dim(a) == dim(b)))
    throw ShapeError("diagonal: axes " + std::to_string(a) + " and " + std::to_string(b) + " of " + shape_text(shape()));
  const Sint n = dim(a);
  std::vector<int> order;
  Shape outer;
  for (int i = 0; i < rank(); i++)
    if (i != a && i != b) {
      order.push_back(i);
      outer.push_back(dim(i));
    }
  order.insert(order.end(), {a, b});
  // Rows of n + 1 instead of n: each starts one column later, so that the diagonal is the first column.
  Shape flat = outer, rows = outer, result = outer;
  flat.push_back(n * n);
  rows.insert(rows.end(), {n, n + 1});
  result.push_back(n);
  Padding pads(flat.size(), {0, 0}), first;
  pads.back() = {0, n};
  const Tensor wide = permute(order).reshape(flat).pad(pads).reshape(rows);
  for (const Sint& d : rows) first.emplace_back(0, d);
  first.back() = {0, 1};
  return wide.shrink(first).reshape(result);
}

}  // namespace etch
