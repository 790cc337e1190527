// Products of tensors, and everything with a window: convolution and pooling.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

/// The padding that rounding up adds at the end of each axis. A window that would start in the padding at the end does not count.
Ints ceil_extra(const Shape& shape, const Window& w) {
  Ints extra(w.kernel.size(), 0);
  if (!w.ceil) return extra;
  for (std::size_t i = 0; i < extra.size(); i++) {
    if (w.stride[i] == 1) continue;
    const Sint& size = shape[i + 2];
    if (!size.is_int()) {
      // For a variable size: stride - 1 admits the last, partial window. If that could begin in the padding, less is added, so that only
      // windows that begin before the padding are admitted.
      const std::int64_t room = window_extent(w, i) - 1 - w.pads[i].second.max();
      extra[i] = room < w.stride[i] ? std::max<std::int64_t>(0, room) : w.stride[i] - 1;
      continue;
    }
    const std::int64_t before = w.pads[i].first.as_int(), padded = size.as_int() + before + w.pads[i].second.as_int();
    if (padded < window_extent(w, i)) continue;
    std::int64_t outputs = (padded - window_extent(w, i) + w.stride[i] - 1) / w.stride[i] + 1;
    if ((outputs - 1) * w.stride[i] >= size.as_int() + before) outputs--;
    extra[i] = std::max<std::int64_t>(0, (outputs - 1) * w.stride[i] + window_extent(w, i) - padded);
  }
  return extra;
}

Padding padding_of(const Window& w, const Ints& extra, bool with_pads = true) {
  Padding pads(2, {0, 0});
  for (std::size_t i = 0; i < w.kernel.size(); i++)
    pads.emplace_back(with_pads ? w.pads[i].first : Sint(0), (with_pads ? w.pads[i].second : Sint(0)) + extra[i]);
  return pads;
}

/// `bias` (may be empty) has an element for each channel.
Tensor with_bias(const Tensor& product, const Tensor& bias) {
  if (!bias) return product;
  Shape channel(product.shape().size(), 1);
  channel[1] = product.dim(1);
  return product + bias.reshape(channel);
}

}  // namespace

Window complete_window(const Window& given, int rank, const char* what) {
  Window w = given;
  const std::size_t n = w.kernel.size();
  if (w.stride.empty()) w.stride.assign(n, 1);
  if (w.dilation.empty()) w.dilation.assign(n, 1);
  if (w.pads.empty()) w.pads.assign(n, {0, 0});
  const std::string name = std::string(what) + ": ";
  if (static_cast<int>(n) + 2 != rank)
    throw ShapeError(name + "a window of " + std::to_string(n) + " axes for a tensor of rank " + std::to_string(rank) +
                     "; accepted is rank " + std::to_string(n + 2));
  if (w.stride.size() != n || w.dilation.size() != n || w.pads.size() != n)
    throw ShapeError(name + "kernel, strides, dilations and pads differ in length");
  for (std::size_t i = 0; i < n; i++)
    if (w.kernel[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1)
      throw ShapeError(name + "kernel, strides and dilations must be at least 1");
  return w;
}

std::vector<int> kernel_axes(std::size_t n) {
  std::vector<int> axes(n);
  std::iota(axes.begin(), axes.end(), -static_cast<int>(n));
  return axes;
}

Tensor sum_of_products(const Tensor& a, const Tensor& b, DType dtype, const std::vector<int>& axes) {
  const Tensor total = (a * b).reduce(Op::ReduceSum, axes, false);
  return is_float(dtype) ? total.cast(dtype) : total;
}

Tensor Tensor::last_windows(const Ints& kernel, const Ints& stride, const Ints& dilation) const {
  const std::size_t n = kernel.size(), first = shape().size() - n;
  Shape wide = shape();
  for (std::size_t i = 0; i < n; i++) {
    const Sint reach = shape()[first + i] - (dilation[i] * (kernel[i] - 1) + 1);
    if (!proves_nonnegative(reach))
      throw ShapeError("window: a kernel of " + std::to_string(kernel[i]) + " with dilation " + std::to_string(dilation[i]) +
                       " does not fit into " + to_text(shape()[first + i]) + " elements (padding included) of axis " +
                       std::to_string(first + i) + where_negative(reach));
    wide[first + i] = floordiv(reach, stride[i]) + 1;
  }
  for (std::int64_t k : kernel) wide.push_back(k);
  std::vector<AxisStep> axes;
  for (std::size_t i = 0; i < wide.size(); i++) {
    const bool inner = i >= first + n, outer = !inner && i >= first;
    const std::size_t axis = inner ? i - n : i;
    axes.push_back({static_cast<int>(axis), inner ? dilation[axis - first] : outer ? stride[axis - first] : 1, wide[i]});
  }
  return apply(Function::Steps, {*this}, {.shape = Shape(shape().size(), 0), .steps = std::move(axes)});
}

Tensor Tensor::windows(const Window& window, double pad_value) const {
  const Window w = complete_window(window, rank(), "windows");
  const Padding pads = padding_of(w, ceil_extra(shape(), w));
  const Tensor cut = pad(pads).last_windows(w.kernel, w.stride, w.dilation);
  const Scalar fill = Scalar::of_double(dtype(), pad_value);
  if (fill.bits() == 0) return cut;
  // Where is applied after the windows and not before them, so that the padded tensor need not be stored.
  const Tensor inside = full(*graph_, shape(), Scalar::of_int(DType::Bool, 1)).pad(pads).last_windows(w.kernel, w.stride, w.dilation);
  return inside.where(cut, full(*graph_, cut.shape(), fill));
}

Tensor Tensor::max_pool(const Window& window) const {
  return apply(Function::MaxPool, {*this}, {.window = complete_window(window, rank(), "max pool")});
}

Tensor Tensor::average_pool(const Window& window, bool count_include_pad) const {
  const Window w = complete_window(window, rank(), "average pool");
  const std::vector<int> axes = kernel_axes(w.kernel.size());
  const Ints extra = ceil_extra(shape(), w);
  const DType wide = dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  const Tensor total = cast(wide).windows(w, 0).reduce(Op::ReduceSum, axes, false);
  // Number of elements of each window that count: padding only if asked for, the padding from rounding up never.
  Shape ones_shape = shape();
  ones_shape[0] = ones_shape[1] = 1;
  Tensor ones = full(*graph_, ones_shape, Scalar::of_int(wide, 1));
  ones = ones.pad(padding_of(w, Ints(extra.size(), 0)), count_include_pad ? 1 : 0).pad(padding_of(w, extra, false));
  const Tensor count = ones.last_windows(w.kernel, w.stride, w.dilation).reduce(Op::ReduceSum, axes, false);
  return (total / count).cast(least_upper_float(dtype()));
}

Tensor Tensor::lp_pool(const Window& window, std::int64_t p) const {
  if (p < 1) throw ShapeError("lp pool: p is " + std::to_string(p) + ", accepted is 1 and more");
  const Tensor power = full(*graph_, {}, Scalar::of_int(dtype(), p));
  const Tensor total = windows(window, 0).abs().pow(power).sum(kernel_axes(window.kernel.size()));
  if (p == 1) return total;
  return p == 2 ? total.sqrt() : total.pow(total.full_like(1.0 / static_cast<double>(p)));
}

Tensor Tensor::matmul(const Tensor& b) const {
  if (rank() == 0 || b.rank() == 0) throw ShapeError("matmul: of a scalar");
  if (rank() == 1) return unsqueeze(0).matmul(b).squeeze({b.rank() == 1 ? 0 : -2});
  if (b.rank() == 1) return matmul(b.unsqueeze(1)).squeeze({-1});
  if (!(dim(-1) == b.dim(-2)))
    throw ShapeError("matmul: " + shape_text(shape()) + " by " + shape_text(b.shape()) + ": " + to_text(dim(-1)) + " columns against " +
                     to_text(b.dim(-2)) + " rows");
  const DType type = least_upper_dtype(dtype(), b.dtype()), wide = sum_dtype(type);
  // [.., m, 1, k] * [.., 1, n, k], summed over k
  const Tensor x = cast(wide).unsqueeze(-2), y = b.cast(wide).transpose().unsqueeze(-3);
  return sum_of_products(x, y, type, {-1});
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias) const {
  const Tensor product = matmul(weight);
  return bias ? product + bias : product;
}

Tensor Tensor::conv(const Tensor& weight, const Tensor& bias, const Window& window, std::int64_t groups) const {
  const Window w = complete_window(window, rank(), "conv");
  const std::size_t n = w.kernel.size();
  const std::string text =
      "conv: input " + shape_text(shape()) + ", weight " + shape_text(weight.shape()) + ", group " + std::to_string(groups);
  if (weight.rank() != rank() || !weight.dim(0).is_int() || !weight.dim(1).is_int() || !dim(1).is_int())
    throw ShapeError(text + ": the ranks differ");
  const std::int64_t outputs = weight.dim(0).as_int(), inputs = weight.dim(1).as_int();
  if (groups < 1 || outputs % groups != 0 || dim(1).as_int() != inputs * groups)
    throw ShapeError(text + ": channels and groups do not fit");
  for (std::size_t i = 0; i < n; i++)
    if (!weight.dim(static_cast<int>(i) + 2).is_int(w.kernel[i])) throw ShapeError(text + ": the kernel has another shape");
  const Tensor product = apply(Function::Conv, {*this, weight}, {.window = w, .groups = groups});
  return with_bias(product, bias);
}

Tensor Tensor::spread(int axis, std::int64_t stride) const {
  axis = normal_axis(axis, rank(), "spread");
  if (stride <= 1) return *this;
  Padding gap(static_cast<std::size_t>(rank()) + 1, {0, 0}), ranges;
  gap[static_cast<std::size_t>(axis) + 1] = {0, stride - 1};
  const Tensor wide = unsqueeze(axis + 1).pad(gap).flatten(axis, axis + 1);
  for (const Sint& d : wide.shape()) ranges.emplace_back(0, d);
  ranges[static_cast<std::size_t>(axis)] = {0, (dim(axis) - 1) * stride + 1};
  return wide.shrink(ranges);
}

namespace {

/// A convolution's gradient to an input of the result's shape; nullopt where that has no phases. In training its own gradients would not be
/// products; and quantised weights, which are computed from constants, are found in the other form.
std::optional<Tensor> transposed_by_phases(const Tensor& x, const Tensor& weight, const Window& w, const Ints& output_pads,
                                           std::int64_t groups) {
  if (x.graph().tape().is_training() || weight.buffer()->base->kind != LazyKind::Data) return std::nullopt;
  Shape shape{x.dim(0), weight.dim(1) * groups};
  for (std::size_t i = 0; i < w.kernel.size(); i++) {
    const Sint reach = window_extent(w, i) - w.pads[i].first - w.pads[i].second + (output_pads.empty() ? 0 : output_pads[i]);
    shape.push_back((x.dim(static_cast<int>(i) + 2) - 1) * w.stride[i] + reach);
    if (!shape.back().is_int() || shape.back().as_int() < 1) return std::nullopt;
  }
  return x.dtype() == weight.dtype() ? conv_input_by_phases(x, shape, weight, w, groups) : std::nullopt;
}

}  // namespace

Tensor Tensor::conv_transpose(const Tensor& weight, const Tensor& bias, const Window& window, const Ints& output_pads,
                              std::int64_t groups) const {
  const Window w = complete_window(window, rank(), "conv_transpose");
  const std::size_t n = w.kernel.size();
  const std::string text =
      "conv_transpose: input " + shape_text(shape()) + ", weight " + shape_text(weight.shape()) + ", group " + std::to_string(groups);
  if (weight.rank() != rank() || !weight.dim(0).is_int() || !weight.dim(1).is_int()) throw ShapeError(text + ": the ranks differ");
  const std::int64_t inputs = weight.dim(0).as_int(), outputs = weight.dim(1).as_int();
  if (groups < 1 || inputs % groups != 0 || !dim(1).is_int(inputs)) throw ShapeError(text + ": channels and groups do not fit");
  for (std::size_t i = 0; i < n; i++)
    if (!weight.dim(static_cast<int>(i) + 2).is_int(w.kernel[i])) throw ShapeError(text + ": the kernel has another shape");
  if (!output_pads.empty() && output_pads.size() != n) throw ShapeError(text + ": output_padding has another length than the kernel");

  if (const auto product = transposed_by_phases(*this, weight, w, output_pads, groups)) return with_bias(*product, bias);
  // A convolution with the flipped kernel over the input with stride - 1 zeros between its elements.
  Tensor x = *this;
  Window inner{.kernel = w.kernel, .stride = Ints(n, 1), .dilation = w.dilation, .pads = {}, .ceil = false};
  std::vector<int> flipped;
  for (std::size_t i = 0; i < n; i++) {
    const int axis = static_cast<int>(i) + 2;
    x = x.spread(axis, w.stride[i]);
    const std::int64_t reach = window_extent(w, i) - 1;
    inner.pads.emplace_back(reach - w.pads[i].first, reach - w.pads[i].second + (output_pads.empty() ? 0 : output_pads[i]));
    flipped.push_back(static_cast<int>(i) + 3);
  }
  // weight [C, M/g, k..] -> [g, C/g, M/g, k..] -> [M, C/g, k..]
  Shape parts{groups, inputs / groups, outputs}, merged{groups * outputs, inputs / groups};
  for (std::int64_t k : w.kernel) {
    parts.push_back(k);
    merged.push_back(k);
  }
  const Tensor kernel = weight.reshape(parts).flip(flipped).transpose(1, 2).reshape(merged);
  return x.conv(kernel, bias, inner, groups);
}

Tensor Tensor::batchnorm(const Tensor& scale, const Tensor& bias, const Tensor& mean, const Tensor& variance, double epsilon) const {
  Shape channel(static_cast<std::size_t>(rank()), 1);
  channel.at(1) = dim(1);
  // x * s + (bias - mean * s): one multiplication and one addition, by vectors that depend on constants alone.
  const Tensor s = scale / (variance + epsilon).sqrt();
  return *this * s.reshape(channel) + (bias - mean * s).reshape(channel);
}

Tensor Tensor::layernorm(int axis, double epsilon) const {
  std::vector<int> axes;
  for (int i = normal_axis(axis, rank(), "layernorm"); i < rank(); i++) axes.push_back(i);
  const DType out = least_upper_float(dtype());
  const Tensor x = cast(dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
  const Tensor centered = x - x.mean(axes, true);
  return (centered / (centered.square().mean(axes, true) + epsilon).sqrt()).cast(out);
}

}  // namespace etch
