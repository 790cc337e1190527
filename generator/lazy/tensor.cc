// Facts, creation, types and movement.
#include "lazy/tensor.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "lazy/tensor_util.h"
#include "shape/open_sizes.h"

namespace etch {

// --- what the other files of Tensor share

int normal_axis(int axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank)
    throw ShapeError(std::string(what) + ": axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank) +
                     ", accepted are " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> normal_axes(std::vector<int> axes, int rank, const char* what) {
  for (int& axis : axes) axis = normal_axis(axis, rank, what);
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) throw ShapeError(std::string(what) + ": an axis is named twice");
  return axes;
}

std::vector<int> reduced_axes(const std::vector<int>& axes, int rank, const char* what) {
  if (!axes.empty()) return normal_axes(axes, rank, what);
  std::vector<int> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); i++) {
    const std::size_t from_end = out.size() - 1 - i;
    const Sint x = from_end < a.size() ? a[a.size() - 1 - from_end] : Sint(1);
    const Sint y = from_end < b.size() ? b[b.size() - 1 - from_end] : Sint(1);
    if (!(x == y) && !x.is_int(1) && !y.is_int(1))
      throw ShapeError("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast: " + to_text(x) + " against " + to_text(y));
    out[i] = x.is_int(1) ? y : x;
  }
  return out;
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : x.expand(shape); }

Tensor promote(const Tensor& x, DType dtype) { return x.cast(dtype); }

std::string where_negative(const Sint& expr) {
  if (expr.is_int()) return "";
  if (const auto least = least_value(expr)) return " where " + variables(expr)[0]->name + " < " + std::to_string(*least);
  return (expr.max() < 0 ? " for every size (" : " for some sizes (") + ranges_text({expr}) + ")";
}

// --- facts

const Shape& Tensor::shape() const { return buffer_->shape(); }
Sint Tensor::dim(int axis) const { return shape()[index_of(normal_axis(axis, rank(), "dim"))]; }
DType Tensor::dtype() const { return buffer_->dtype; }
Sint Tensor::size() const { return product(shape()); }

std::optional<Array> Tensor::evaluate() const {
  if (!buffer_->constant) return std::nullopt;
  return graph_->evaluate(buffer_);
}

// --- creation

Tensor Tensor::input(LazyGraph& graph, const std::string& name, DType dtype, Shape shape) {
  return {&graph, graph.input(name, dtype, shape)};
}

Tensor Tensor::state(LazyGraph& graph, const std::string& name, DType dtype, Shape shape, Array first) {
  for (const Sint& d : shape)
    if (!d.is_int() || d.is_int(0))
      throw ShapeError("state '" + name + "' has shape " + shape_text(shape) + ": its sizes have to be numbers from 1");
  const Tensor made = input(graph, name, dtype, std::move(shape));
  if (first.size() != 0 && (first.dtype() != dtype || Sint(first.size()) != made.size()))
    throw ShapeError("state '" + name + "' starts with " + std::to_string(first.size()) + " values of " +
                     std::string(name_of(first.dtype())) + ", it holds " + to_text(made.size()) + " of " + std::string(name_of(dtype)));
  graph.make_state(made.buffer(), std::move(first));
  return made;
}
Tensor Tensor::constant(LazyGraph& graph, Array data, const std::string& name) { return {&graph, graph.data(std::move(data), name)}; }
Tensor Tensor::full(LazyGraph& graph, Shape shape, Scalar value) { return {&graph, graph.constant(value, shape)}; }
Tensor Tensor::full_like(double value) const { return full(*graph_, shape(), Scalar::of_double(dtype(), value)); }

Tensor Tensor::arange(LazyGraph& graph, Sint n, DType dtype, Scalar start, Scalar step) {
  if (dtype == DType::Bool) throw ShapeError("arange: of bool; accepted are integers and floats");
  const Tensor index(&graph, graph.index(dtype, n));
  return index * full(graph, index.shape(), step.cast(dtype)) + full(graph, index.shape(), start.cast(dtype));
}

Tensor Tensor::arange(LazyGraph& graph, Sint n, DType dtype) { return {&graph, graph.index(dtype, n)}; }

std::vector<Tensor> Tensor::external(LazyGraph& graph, const std::shared_ptr<const ExternalKernel>& function,
                                     const std::vector<Tensor>& inputs) {
  for (const ExternalOutput& o : function->outputs)
    if (is_empty(o.shape)) throw ShapeError("a result is empty: " + shape_text(o.shape) + ", a function in C is called for elements alone");
  std::vector<const LazyBuffer*> src;
  for (const Tensor& t : inputs) {
    if (is_empty(t.shape())) throw ShapeError("an input is empty: " + shape_text(t.shape()) + ", a function in C gets elements to read");
    src.push_back(t.buffer());
  }
  std::vector<Tensor> outputs;
  for (const LazyBuffer* b : graph.external(function, src)) outputs.push_back({&graph, b});
  return graph.tape().add_without_gradient("a function in C", inputs, outputs);
}

Tensor Tensor::eye(LazyGraph& graph, Sint rows, Sint columns, DType dtype, std::int64_t diagonal) {
  const Tensor r = arange(graph, rows, DType::Int32).reshape({rows, 1}), c = arange(graph, columns, DType::Int32).reshape({1, columns});
  return (r + static_cast<double>(diagonal)).equal(c).cast(dtype);
}

// --- movement

Tensor Tensor::reshape(Shape shape) const {
  Sint known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); i++) {
    if (shape[i].is_int(-1)) {
      if (open) throw ShapeError("reshape: more than one dimension of " + shape_text(shape) + " is -1");
      open = i;
    } else {
      if (shape[i].max() < 0) throw ShapeError("reshape: a dimension of " + shape_text(shape) + " is negative");
      known = known * shape[i];
    }
  }
  const std::string text = "reshape: " + shape_text(this->shape()) + " (" + to_text(size()) + " elements) to " + shape_text(shape);
  if (open) {
    if (known.is_int(0)) throw ShapeError(text + ": -1 beside 0 could be anything");
    shape[*open] = known.min() > 0 ? floordiv(size(), known) : Sint(0);
  }
  if (!(product(shape) == size())) throw ShapeError(text + (open ? ": not divisible" : ": another number of elements"));
  return apply(Function::Reshape, {*this}, {.shape = std::move(shape)});
}

Tensor Tensor::permute(std::vector<int> axes) const {
  if (static_cast<int>(axes.size()) != rank())
    throw ShapeError("permute: " + std::to_string(axes.size()) + " axes for a tensor of shape " + shape_text(shape()));
  for (int& axis : axes) axis = normal_axis(axis, rank(), "permute");
  normal_axes(axes, rank(), "permute");
  return apply(Function::Permute, {*this}, {.axes = std::move(axes)});
}

Tensor Tensor::transpose(int a, int b) const {
  std::vector<int> order = reduced_axes({}, rank(), "transpose");
  std::swap(order[index_of(normal_axis(a, rank(), "transpose"))], order[index_of(normal_axis(b, rank(), "transpose"))]);
  return permute(order);
}

Tensor Tensor::expand(Shape shape) const {
  if (shape.size() < this->shape().size())
    throw ShapeError("expand: " + shape_text(this->shape()) + " to the lower rank of " + shape_text(shape));
  Shape own(shape.size() - this->shape().size(), 1);
  own.insert(own.end(), this->shape().begin(), this->shape().end());
  for (std::size_t i = 0; i < shape.size(); i++) {
    if (shape[i].is_int(-1)) shape[i] = own[i];
    if (!(own[i] == shape[i]) && !own[i].is_int(1))
      throw ShapeError("expand: " + shape_text(this->shape()) + " to " + shape_text(shape) + ": only dimensions of 1 expand");
  }
  return apply(Function::Expand, {*this}, {.shape = std::move(shape)});
}

Tensor Tensor::pad(Padding pads, double value) const { return pad(std::move(pads), Scalar::of_double(dtype(), value)); }

Tensor Tensor::pad(Padding pads, Scalar fill) const {
  check(fill.dtype() == dtype(), "padding is of the tensor's type");
  if (static_cast<int>(pads.size()) != rank())
    throw ShapeError("pad: " + std::to_string(pads.size()) + " pairs for a tensor of shape " + shape_text(shape()));
  Padding keep, grow;
  bool grows = false, cuts = false;
  for (std::size_t i = 0; i < pads.size(); i++) {
    const auto& [before, after] = pads[i];
    const Sint cut_before = before.max() < 0 ? -before : Sint(0), cut_after = after.max() < 0 ? -after : Sint(0);
    const Sint left = shape()[i] - cut_before - cut_after;
    if (!proves_nonnegative(left))
      throw ShapeError("pad: cuts more from axis " + std::to_string(i) + " of " + shape_text(shape()) + " than it has" +
                       where_negative(left));
    for (const Sint& p : {before, after})
      if (p.max() >= 0 && !proves_nonnegative(p))
        throw ShapeError("pad: " + to_text(p) + " elements of axis " + std::to_string(i) + " of " + shape_text(shape()) +
                         ", which is negative" + where_negative(p));
    keep.emplace_back(cut_before, shape()[i] - cut_after);
    grow.emplace_back(before.max() < 0 ? Sint(0) : before, after.max() < 0 ? Sint(0) : after);
    cuts = cuts || !cut_before.is_int(0) || !cut_after.is_int(0);
    grows = grows || !grow.back().first.is_int(0) || !grow.back().second.is_int(0);
  }
  const Tensor kept = cuts ? shrink(keep) : *this;
  if (!grows) return kept;
  const Tensor padded = apply(Function::Pad, {kept}, {.ranges = grow});
  if (fill.bits() == 0) return padded;
  if (const Scalar* own = const_value(kept.buffer_); own != nullptr && *own == fill) return full(*graph_, padded.shape(), fill);
  const Tensor inside = full(*graph_, kept.shape(), Scalar::of_int(DType::Bool, 1));
  // If nothing of the tensor is left, everything is padding.
  if (is_empty(kept.shape())) return full(*graph_, padded.shape(), fill);
  return Tensor(graph_, graph_->view(inside.buffer_, inside.buffer_->st.pad(grow))).where(padded, full(*graph_, padded.shape(), fill));
}

Tensor Tensor::shrink(Padding ranges) const {
  if (static_cast<int>(ranges.size()) != rank())
    throw ShapeError("shrink: " + std::to_string(ranges.size()) + " ranges for a tensor of shape " + shape_text(shape()));
  bool whole = true;
  for (std::size_t i = 0; i < ranges.size(); i++) {
    const auto& [begin, end] = ranges[i];
    for (const Sint& room : {begin, end - begin, shape()[i] - end})
      if (!proves_nonnegative(room))
        throw ShapeError("shrink: [" + to_text(begin) + ", " + to_text(end) + ") of axis " + std::to_string(i) + " of " +
                         shape_text(shape()) + where_negative(room));
    whole = whole && begin.is_int(0) && end == shape()[i];
  }
  if (whole) return *this;
  Shape shape;
  for (const auto& [begin, end] : ranges) shape.push_back(end - begin);
  if (is_empty(shape)) return full(*graph_, shape, Scalar::of_int(dtype(), 0));
  return apply(Function::Shrink, {*this}, {.ranges = std::move(ranges)});
}

Tensor Tensor::at(int axis, Sint position) const {
  axis = normal_axis(axis, rank(), "at");
  if (!proves_nonnegative(position) || !proves_less(position, dim(axis)))
    throw ShapeError("at: position " + to_text(position) + " of axis " + std::to_string(axis) + " of " + shape_text(shape()));
  Padding ranges;
  for (const Sint& d : shape()) ranges.emplace_back(0, d);
  ranges[static_cast<std::size_t>(axis)] = {position, position + 1};
  Shape rest = shape();
  rest.erase(rest.begin() + axis);
  return apply(Function::Reshape, {apply(Function::Shrink, {*this}, {.ranges = std::move(ranges)})}, {.shape = std::move(rest)});
}

Tensor Tensor::as_strided(Shape shape, const std::vector<std::int64_t>& strides, Sint offset) const {
  const std::string what = "as_strided: " + shape_text(shape);
  if (shape.size() != strides.size())
    throw ShapeError(what + " has " + std::to_string(shape.size()) + " axes, strides has " + std::to_string(strides.size()));
  Sint first = offset, last = offset;
  for (std::size_t k = 0; k < shape.size(); k++) {
    if (!proves_nonnegative(shape[k])) throw ShapeError(what + ": a dimension is negative" + where_negative(shape[k]));
    (strides[k] < 0 ? first : last) = (strides[k] < 0 ? first : last) + (shape[k] - 1) * strides[k];
  }
  if (is_empty(shape)) return full(*graph_, shape, Scalar::of_int(dtype(), 0));
  if (!proves_nonnegative(first) || !proves_less(last, size()))
    throw ShapeError(what + " reads elements " + to_text(first) + " to " + to_text(last) + " of " + to_text(size()));
  std::vector<AxisStep> axes;
  for (std::size_t k = 0; k < shape.size(); k++) axes.push_back({0, strides[k], shape[k]});
  return apply(Function::Strided, {*this}, {.shape = {offset}, .steps = std::move(axes)});
}

Tensor Tensor::flip(std::vector<int> axes) const {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(rank()), 1);
  for (int axis : normal_axes(std::move(axes), rank(), "flip")) steps[index_of(axis)] = -1;
  return stride(steps);
}

Tensor Tensor::stride(std::vector<std::int64_t> steps) const {
  if (static_cast<int>(steps.size()) != rank())
    throw ShapeError("stride: " + std::to_string(steps.size()) + " steps for a tensor of shape " + shape_text(shape()));
  if (std::ranges::find(steps, 0) != steps.end()) throw ShapeError("stride: a step is 0");
  if (std::ranges::all_of(steps, [](std::int64_t s) { return s == 1; })) return *this;
  if (is_empty(shape())) {  // its other axes get shorter all the same
    Shape left = shape();
    for (std::size_t i = 0; i < left.size(); i++) left[i] = floordiv(left[i] + (std::abs(steps[i]) - 1), std::abs(steps[i]));
    return full(*graph_, left, Scalar::of_int(dtype(), 0));
  }
  const bool turns = std::ranges::all_of(steps, [](std::int64_t s) { return s == 1 || s == -1; });
  return apply(turns ? Function::Flip : Function::Stride, {*this}, {.numbers = std::move(steps)});
}

namespace {

/// numpy's clamping of a slice bound of an axis of `n` elements.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t n, bool backwards) {
  if (bound < 0) bound = bound < -n ? -1 : bound + n;  // -1 stands for "before the first"
  if (backwards) return std::clamp<std::int64_t>(bound, -1, n - 1);
  return std::clamp<std::int64_t>(bound, 0, n);
}

}  // namespace

Tensor Tensor::slice(int axis, std::int64_t start, std::int64_t end, std::int64_t step) const {
  axis = normal_axis(axis, rank(), "slice");
  if (step == 0) throw ShapeError("slice: the step is 0");
  Padding ranges;
  for (const Sint& d : shape()) ranges.emplace_back(0, d);
  auto& range = ranges[index_of(axis)];
  const Sint size = dim(axis);
  if (!size.is_int()) {
    const bool to_the_end = end >= size.max();
    if (start < 0 || step != 1 || (end < 0 && !to_the_end) || start > size.min() || (!to_the_end && end > size.min()))
      throw ShapeError("slice: [" + std::to_string(start) + ":" + std::to_string(end) + ":" + std::to_string(step) + "] of axis " +
                       std::to_string(axis) + " of " + shape_text(shape()) +
                       "; of a dimension that is a variable only a part that is always there can be taken, with step 1");
    range = {start, to_the_end ? size : Sint(std::max(start, end))};
    return shrink(ranges);
  }
  const std::int64_t n = size.as_int();
  const bool backwards = step < 0;
  const std::int64_t first = clamp_bound(start, n, backwards), last = clamp_bound(end, n, backwards);
  if (backwards ? first <= last : first >= last) {
    range = {0, 0};
    return shrink(ranges);
  }
  range = backwards ? std::pair<Sint, Sint>{last + 1, first + 1} : std::pair<Sint, Sint>{first, last};
  std::vector<std::int64_t> steps(shape().size(), 1);
  steps[index_of(axis)] = std::clamp(step, -n, n);  // a longer step takes the first element only, too
  return shrink(ranges).stride(steps);
}

Tensor Tensor::squeeze(std::vector<int> axes) const {
  Shape kept;
  const bool all = axes.empty();
  axes = normal_axes(std::move(axes), rank(), "squeeze");
  for (int i = 0; i < rank(); i++) {
    const bool named = std::ranges::find(axes, i) != axes.end(), one = dim(i).is_int(1);
    if (named && !one) throw ShapeError("squeeze: axis " + std::to_string(i) + " of " + shape_text(shape()) + " is not of size 1");
    if (!named && !(all && one)) kept.push_back(dim(i));
  }
  return reshape(kept);
}

Tensor Tensor::unsqueeze(int axis) const {
  Shape wider = shape();
  wider.insert(wider.begin() + normal_axis(axis, rank() + 1, "unsqueeze"), 1);
  return reshape(wider);
}

Tensor Tensor::flatten(int start, int end) const {
  if (rank() == 0) return reshape({1});
  start = normal_axis(start, rank(), "flatten");
  end = normal_axis(end, rank(), "flatten");
  if (end < start) throw ShapeError("flatten: from axis " + std::to_string(start) + " to axis " + std::to_string(end));
  Shape flat(shape().begin(), shape().begin() + start);
  flat.push_back(product({shape().begin() + start, shape().begin() + end + 1}));
  flat.insert(flat.end(), shape().begin() + end + 1, shape().end());
  return reshape(flat);
}

Tensor Tensor::repeat(std::vector<std::int64_t> times) const {
  if (times.size() < shape().size())
    throw ShapeError("repeat: " + std::to_string(times.size()) + " counts for a tensor of shape " + shape_text(shape()));
  Shape ones(times.size() - shape().size(), 1), spread, wide, result;
  ones.insert(ones.end(), shape().begin(), shape().end());
  for (std::size_t i = 0; i < times.size(); i++) {
    if (times[i] < 0) throw ShapeError("repeat: a count is negative");
    spread.insert(spread.end(), {1, ones[i]});
    wide.insert(wide.end(), {times[i], ones[i]});
    result.push_back(ones[i] * times[i]);
  }
  return reshape(spread).expand(wide).reshape(result);
}

namespace {

/// Concatenates the parts: each is padded to the whole shape, and a Where selects it in its range.
Tensor join(const std::vector<Tensor>& parts, int axis) {
  Shape whole = parts[0].shape();
  whole[index_of(axis)] = 0;
  for (const Tensor& p : parts) whole[index_of(axis)] = whole[index_of(axis)] + p.dim(axis);
  Tensor result;
  Sint end = whole[index_of(axis)];
  for (auto it = parts.rbegin(); it != parts.rend(); it++) {
    Padding pads(whole.size(), {0, 0});
    const Sint begin = end - it->dim(axis);
    pads[index_of(axis)] = {begin, whole[index_of(axis)] - end};
    const Tensor padded = it->pad(pads);
    // The last part needs no Where: it is what remains.
    if (!result) {
      result = padded;
    } else {
      Shape one(whole.size(), 1);
      one[index_of(axis)] = it->dim(axis);
      Padding line(whole.size(), {0, 0});
      line[index_of(axis)] = pads[index_of(axis)];
      result = Tensor::full(it->graph(), one, Scalar::of_int(DType::Bool, 1)).pad(line).expand(whole).where(padded, result);
    }
    end = begin;
  }
  return result;
}

constexpr std::size_t kJoined = 8;  // parts in one expression; more are joined in groups, so that no kernel reads too many buffers

}  // namespace

Tensor Tensor::cat(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) throw ShapeError("cat: of no tensor");
  axis = normal_axis(axis, tensors[0].rank(), "cat");
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = least_upper_dtype(dtype, t.dtype());
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    Shape a = t.shape(), b = tensors[0].shape();
    if (a.size() == b.size()) a[index_of(axis)] = b[index_of(axis)] = 1;
    if (a != b)
      throw ShapeError("cat: shapes " + shape_text(tensors[0].shape()) + " and " + shape_text(t.shape()) + " along axis " +
                       std::to_string(axis));
    if (!t.dim(axis).is_int(0)) parts.push_back(promote(t, dtype));
  }
  if (parts.empty()) return tensors[0].cast(dtype);
  while (parts.size() > 1) {
    std::vector<Tensor> joined;
    for (std::size_t i = 0; i < parts.size(); i += kJoined)
      joined.push_back(join({parts.begin() + static_cast<std::ptrdiff_t>(i),
                             parts.begin() + static_cast<std::ptrdiff_t>(std::min(parts.size(), i + kJoined))},
                            axis));
    parts = std::move(joined);
  }
  return parts[0];
}

Tensor Tensor::stack(const std::vector<Tensor>& tensors, int axis) {
  std::vector<Tensor> slices;
  for (const Tensor& t : tensors) slices.push_back(t.unsqueeze(axis));
  return cat(slices, axis);
}

std::vector<Tensor> Tensor::split(int axis, const std::vector<std::int64_t>& sizes) const {
  axis = normal_axis(axis, rank(), "split");
  if (!(dim(axis) == Sint(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}))))
    throw ShapeError("split: the parts do not add up to axis " + std::to_string(axis) + " of " + shape_text(shape()));
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (std::int64_t size : sizes) {
    if (size < 0) throw ShapeError("split: a part is negative");
    parts.push_back(slice(axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

// --- types and realisation

Tensor Tensor::cast(DType dtype) const { return dtype == this->dtype() ? *this : apply(Op::Cast, {*this}, {.dtype = dtype}); }

Tensor Tensor::bitcast(DType dtype) const {
  if (bytes_of(dtype) != bytes_of(this->dtype()))
    throw ShapeError("bitcast: " + std::string(name_of(this->dtype())) + " to " + std::string(name_of(dtype)) + " of another size");
  return apply(Op::Bitcast, {*this}, {.dtype = dtype});
}

Tensor Tensor::contiguous() const { return apply(Function::Contiguous, {*this}); }
Tensor Tensor::contiguous_backward() const { return apply(Function::ContiguousBackward, {*this}); }

}  // namespace etch
