// Reductions, and functions that are made of them.
#include <limits>

#include "base/error.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

/// float16 and bfloat16 are reduced in float32; integers too if the result is a fraction.
DType wide_float(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

Tensor drop_axes(const Tensor& x, const std::vector<int>& axes) {
  Shape kept;
  std::size_t next = 0;
  for (int i = 0; i < x.rank(); i++) {
    if (next < axes.size() && axes[next] == i)
      next++;
    else
      kept.push_back(x.dim(i));
  }
  return x.reshape(kept);
}

/// Number of elements of a reduction over `axes` minus `correction`, as a tensor of type `dtype`.
Tensor count_of(const Tensor& x, const std::vector<int>& axes, std::int64_t correction, DType dtype) {
  Sint n = 1;
  for (int axis : axes) n = n * x.dim(axis);
  return Tensor::size_value(x.graph(), n, dtype) - static_cast<double>(correction);
}

/// The smaller integer type that holds a position along the axis, as it is cheaper.
DType position_dtype(const Sint& size) { return size.max() < std::numeric_limits<std::int32_t>::max() ? DType::Int32 : DType::Int64; }

Tensor position_of(const Tensor& x, const Tensor& extreme, int axis, bool keepdim, bool last) {
  Tensor found = x.equal(extreme);
  // As in numpy the position is that of the first NaN; the extreme is then NaN, which is equal to no element.
  if (is_float(x.dtype())) found = Tensor::binary(Op::Or, found, Tensor::binary(Op::CmpNe, x, x));
  const DType dtype = position_dtype(x.dim(axis));
  Shape line(static_cast<std::size_t>(x.rank()), 1);
  line[index_of(axis)] = x.dim(axis);
  const Tensor index = Tensor::arange(x.graph(), x.dim(axis), dtype).reshape(line);
  const Tensor none = Tensor::full(x.graph(), {}, Scalar::of_int(dtype, last ? -1 : int_max(dtype)));
  return found.where(index, none).reduce(last ? Op::ReduceMax : Op::ReduceMin, {axis}, keepdim).cast(DType::Int64);
}

}  // namespace

Tensor Tensor::size_value(LazyGraph& graph, Sint n, DType dtype) {
  if (n.is_int()) return full(graph, {}, Scalar::of_int(DType::Int64, n.as_int()).cast(dtype));
  // The last position of an axis of that size, plus one.
  const DType counter = is_legal(Op::Index, dtype) ? dtype : DType::Int64;
  if (n.min() == 0) return arange(graph, n + 1, counter).shrink({{n, n + 1}}).reshape({}).cast(dtype);  // there may be no last one
  const Tensor last = arange(graph, n, counter).shrink({{n - 1, n}}).reshape({});
  return (last + 1.0).cast(dtype);
}

Tensor Tensor::reduce(Op op, std::vector<int> axes, bool keepdim) const {
  axes = reduced_axes(axes, rank(), "reduction");
  if (!is_legal(op, dtype())) throw ShapeError(std::string(name_of(op)) + ": of " + std::string(name_of(dtype())));
  const Tensor reduced = apply(op, {*this}, {.axes = axes});
  return keepdim ? reduced : drop_axes(reduced, axes);
}

Tensor Tensor::sum(std::vector<int> axes, bool keepdim) const {
  const Tensor total = cast(sum_dtype(dtype())).reduce(Op::ReduceSum, std::move(axes), keepdim);
  return is_float(dtype()) ? total.cast(dtype()) : total;
}

Tensor Tensor::mean(std::vector<int> axes, bool keepdim) const {
  const DType out = least_upper_float(dtype()), wide = wide_float(dtype());
  const Tensor x = cast(wide);
  axes = reduced_axes(axes, rank(), "mean");
  return (x.reduce(Op::ReduceSum, axes, keepdim) / count_of(x, axes, 0, wide)).cast(out);
}

Tensor Tensor::variance(std::vector<int> axes, bool keepdim, int correction) const {
  const DType out = least_upper_float(dtype()), wide = wide_float(dtype());
  const Tensor x = cast(wide);
  axes = reduced_axes(axes, rank(), "variance");
  const Tensor squares = (x - x.mean(axes, true)).square().reduce(Op::ReduceSum, axes, keepdim);
  return (squares / count_of(x, axes, correction, wide)).cast(out);
}

Tensor Tensor::argmax(int axis, bool keepdim, bool last) const {
  axis = normal_axis(axis, rank(), "argmax");
  if (dim(axis).max() == 0) throw ShapeError("argmax: axis " + std::to_string(axis) + " of " + shape_text(shape()) + " is empty");
  return position_of(*this, max({axis}, true), axis, keepdim, last);
}

Tensor Tensor::argmin(int axis, bool keepdim, bool last) const {
  axis = normal_axis(axis, rank(), "argmin");
  if (dim(axis).max() == 0) throw ShapeError("argmin: axis " + std::to_string(axis) + " of " + shape_text(shape()) + " is empty");
  return position_of(*this, min({axis}, true), axis, keepdim, last);
}

Tensor Tensor::softmax(int axis) const { return softmax(std::vector<int>{axis}); }

Tensor Tensor::softmax(std::vector<int> axes) const {
  const DType out = least_upper_float(dtype());
  const Tensor x = cast(wide_float(dtype()));
  const Tensor e = (x - x.max(axes, true).detach()).exp_nonpos();  // the largest cancels out: no gradient goes through it
  return (e * e.sum(axes, true).reciprocal()).cast(out);           // one division for all of them
}

Tensor Tensor::log_softmax(int axis) const { return log_softmax(std::vector<int>{axis}); }

Tensor Tensor::log_softmax(std::vector<int> axes) const {
  const DType out = least_upper_float(dtype());
  const Tensor x = cast(wide_float(dtype()));
  const Tensor shifted = x - x.max(axes, true).detach();
  return (shifted - shifted.exp_nonpos().sum(axes, true).log()).cast(out);
}

Tensor Tensor::cumsum(int axis, bool exclusive, bool reverse) const {
  axis = normal_axis(axis, rank(), "cumsum");
  if (!is_legal(Op::ReduceSum, dtype())) throw ShapeError("cumsum: of " + std::string(name_of(dtype())));
  const Tensor x = reverse ? flip({axis}) : *this;
  if (dim(axis).is_int(0)) return *this;
  // Exclusive: the sum up to the element before, of which the first one has none.
  Padding pads(shape().size(), {0, 0});
  if (exclusive) pads[index_of(axis)] = {1, -1};
  const Tensor wide = x.pad(pads).cast(is_float(dtype()) ? wide_float(dtype()) : dtype());
  const Tensor sums = apply(Function::Scan, {wide}, {.axes = {axis}}).cast(dtype());
  return reverse ? sums.flip({axis}) : sums;
}

}  // namespace etch
