// The functions of a window, and their gradients: each a product or a sum over windows again, so that no copy of an input is made for every
// element of the kernel.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

double smallest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return dtype == DType::Bool || is_unsigned(dtype) ? 0 : static_cast<double>(int_min(dtype));
}

/// [N, groups, C/groups, o.., 1..]: what each channel of a convolution's result [N,C,o..] is multiplied with windows_of_groups as.
Tensor channels_of_groups(const Tensor& result, std::size_t window_axes, std::int64_t groups) {
  Shape shape{result.dim(0), groups, floordiv(result.dim(1), groups)};
  shape.insert(shape.end(), result.shape().begin() + 2, result.shape().end());
  shape.insert(shape.end(), window_axes + 1, 1);
  return result.reshape(shape);
}

/// For each place of a tensor with those last axes, [.., d.., k..]: of `t` [.., o..], which has an element for each window, those whose
/// window has that place as its element k (the kernel is reversed); 0 where there is no such window.
Tensor windows_over(const Tensor& t, const Window& w, const Shape& shape) {
  const std::size_t n = w.kernel.size(), first = shape.size() - n;
  Tensor spread = t;
  Padding pads(first, {0, 0});
  for (std::size_t i = 0; i < n; i++) {
    const int axis = static_cast<int>(first + i);
    spread = spread.spread(axis, w.stride[i]);
    const Sint before = window_extent(w, i) - 1 - w.pads[i].first;
    pads.emplace_back(before, shape[first + i] + w.pads[i].first - spread.dim(axis));
  }
  return spread.pad(pads).last_windows(w.kernel, std::vector<std::int64_t>(n, 1), w.dilation);
}

/// x[.., L, c, ..] with axis `axis` of size L: element q of the result is the sum of x[.., q - k * step, k, ..] over k.
Tensor added_with_shifts(const Tensor& x, int axis, std::int64_t step, std::int64_t count) {
  // Rows that are `step` elements longer than what is then taken for a row: each starts so much earlier than the one before.
  const Sint before = (count - 1) * step, after = count * step;
  Padding pads(x.shape().size(), {0, 0});
  const Tensor rows = x.transpose(axis, axis + 1);  // [.., c, L, ..]
  pads[index_of(axis) + 1] = {before, after};
  const Sint width = x.dim(axis) + before + after, taken = width - step;
  Tensor flat = rows.pad(pads).flatten(axis, axis + 1);
  Padding ranges;
  for (const Sint& d : flat.shape()) ranges.emplace_back(0, d);
  ranges[index_of(axis)] = {0, taken * count};
  flat = flat.shrink(ranges);
  Shape shape = flat.shape();
  shape[index_of(axis)] = taken;
  shape.insert(shape.begin() + axis, count);
  Padding columns;
  for (const Sint& d : shape) columns.emplace_back(0, d);
  columns[index_of(axis) + 1] = {before, taken};
  return flat.reshape(shape).shrink(columns).sum({axis});
}

/// The axes of `g` that step along one axis of the source, the first of them at `axis`, added up into one; and the position of its
/// first element, from where they begin.
std::pair<Tensor, std::int64_t> along_one_axis(Tensor g, int axis, const std::vector<AxisStep>& steps) {
  if (steps.empty()) return {g.unsqueeze(axis), 0};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < steps.size(); i++) {
    const int own = axis + (i == 0 ? 0 : 1);
    const std::int64_t step = steps[i].step;
    if (step == 0) {
      g = g.sum({own}, i == 0);
      continue;
    }
    if (step < 0) {
      if (!steps[i].size.is_int()) throw ShapeError("the gradient of a view that goes backwards along a variable axis is not defined");
      g = g.flip({own});
      first += (steps[i].size.as_int() - 1) * step;
    }
    if (i == 0) {
      g = g.spread(own, std::abs(step));
      continue;
    }
    if (!steps[i].size.is_int()) throw ShapeError("the gradient of windows of a variable size is not defined");
    g = steps[i].size.is_int(1) ? g.squeeze({own}) : added_with_shifts(g, axis, std::abs(step), steps[i].size.as_int());
  }
  return {g, first};
}

}  // namespace

Tensor windows_of_groups(const Tensor& x, const Window& w, std::int64_t groups) {
  const std::size_t n = w.kernel.size();
  const Tensor cut = x.windows(w, 0);
  Shape split{x.dim(0), groups, 1, floordiv(x.dim(1), groups)};
  std::vector<int> order{0, 1, 2};
  for (std::size_t i = 0; i < n; i++) {
    split.push_back(cut.dim(static_cast<int>(i) + 2));
    order.push_back(static_cast<int>(i) + 4);
  }
  order.push_back(3);
  for (std::size_t i = 0; i < n; i++) {
    split.push_back(w.kernel[i]);
    order.push_back(static_cast<int>(n + i) + 4);
  }
  return cut.reshape(split).permute(order);
}

Tensor convolution(const Tensor& x, const Tensor& weight, const Window& w, std::int64_t groups) {
  const std::size_t n = w.kernel.size();
  const DType type = least_upper_dtype(x.dtype(), weight.dtype()), wide = sum_dtype(type);
  const Tensor cut = windows_of_groups(x.cast(wide), w, groups);
  // The sum runs over C/groups and k of [1, groups, M/groups, 1.., C/groups, k..].
  Shape kernel_shape{1, groups, floordiv(weight.dim(0), groups)}, result{x.dim(0), weight.dim(0)};
  std::vector<int> summed;
  for (std::size_t i = 0; i < n; i++) {
    kernel_shape.push_back(1);
    result.push_back(cut.dim(static_cast<int>(i) + 3));
  }
  kernel_shape.insert(kernel_shape.end(), weight.shape().begin() + 1, weight.shape().end());
  for (std::size_t i = 0; i <= n; i++) summed.push_back(static_cast<int>(3 + n + i));
  return sum_of_products(cut, weight.cast(wide).reshape(kernel_shape), type, summed).reshape(result);
}

namespace {

/// Of one axis with stride s: element s * q + r of the input is in the windows q + first - j, as their element s * j + r - before.
struct Phases {
  std::int64_t stride, first, before, count;  // count: of the j
  std::int64_t begin, end;                    // the r that have elements of the kernel
  // Of two phases that begin in the middle of a pair, and an even kernel: r is in the windows q + r + first - 1 - j, as their element
  // 2 * j + 1 - r. So none of the j is without an element.
  bool is_shifted = false;
};

/// For a convolution whose input, of shape `x`, has the strides' multiples of elements; empty for all others, and where no stride is
/// above 1.
std::vector<Phases> phases_of(const Shape& x, const Tensor& g, const Window& w) {
  std::vector<Phases> phases;
  bool any = false;
  for (std::size_t i = 0; i < w.kernel.size(); i++) {
    const int axis = static_cast<int>(i) + 2;
    const std::int64_t s = w.stride[i];
    if (!x[i + 2].is_int() || !g.dim(axis).is_int() || !w.pads[i].first.is_int() || w.pads[i].first.as_int() < 0) return {};
    if (x[i + 2].as_int() % s != 0 || w.dilation[i] != 1) return {};
    const std::int64_t pad = w.pads[i].first.as_int(), first = (pad + s - 1) / s, before = s * first - pad;
    const bool is_shifted = s == 2 && before == 1 && w.kernel[i] % 2 == 0;
    const std::int64_t count = (w.kernel[i] + (is_shifted ? 0 : before) + s - 1) / s;
    const bool has_all = is_shifted || count > 1;
    phases.push_back({s, first, before, count, has_all ? 0 : before, has_all ? s : before + w.kernel[i], is_shifted});
    any = any || s > 1;
  }
  return any ? phases : std::vector<Phases>{};
}

/// Each phase is a convolution of its own, with every s-th element of the kernel: none is multiplied with the zeros that lie between the
/// windows of a stride. The phases are axes of one product.
Tensor of_conv_input_by_phases(const Tensor& g, const Shape& x, const Tensor& weight, const std::vector<Phases>& phases,
                               std::int64_t groups) {
  const std::size_t n = phases.size();
  const DType type = g.dtype(), wide = sum_dtype(type);
  const Sint inputs = floordiv(weight.dim(0), groups), outputs = weight.dim(1);
  Window w{.stride = std::vector<std::int64_t>(n, 1), .dilation = std::vector<std::int64_t>(n, 1)};
  std::vector<AxisStep> seen{{0, 1, g.dim(0)}, {1, 1, groups}, {2, 1, 1}};  // of the windows
  Shape split{groups, inputs, outputs}, kernel{1, groups, outputs}, sums{g.dim(0), weight.dim(1) * groups}, whole{x[0], x[1]};
  Padding pads(2, {0, 0}), rest(2, {0, 0});
  std::vector<int> flipped, order{0, 2};
  for (std::size_t i = 0; i < n; i++) {
    const auto& [s, first, before, count, begin, end, is_shifted] = phases[i];
    const int axis = static_cast<int>(i) + 2;
    const Sint places = floordiv(x[i + 2], s);
    const std::int64_t more = is_shifted ? 1 : 0, in_front = is_shifted ? 0 : before;
    w.kernel.push_back(count + more);
    w.pads.emplace_back(count - 1 - first + more, places + first - g.dim(axis));
    pads.emplace_back(in_front - begin, (count - 1) * s + end - in_front - weight.dim(axis));
    rest.insert(rest.end(), {{0, 0}, {begin, s - end}});
    split.insert(split.end(), {count, end - begin});
    flipped.push_back(static_cast<int>(2 * i) + 3);
    if (is_shifted) flipped.push_back(static_cast<int>(2 * i) + 4);
    order.push_back(static_cast<int>(2 * i) + 4);
    seen.push_back({static_cast<int>(i) + 3, 1, places});
    seen.push_back({is_shifted ? static_cast<int>(n + i) + 4 : 2, more, 1 + more});
    kernel.insert(kernel.end(), {1, end - begin});
    sums.insert(sums.end(), {places, end - begin});
    whole.push_back(x[i + 2]);
  }
  order.push_back(1);
  seen.push_back({static_cast<int>(n) + 3, 1, inputs});
  kernel.push_back(inputs);
  std::vector<int> summed{static_cast<int>(2 * n) + 3};
  for (std::size_t i = 0; i < n; i++) {
    order.push_back(static_cast<int>(2 * i) + 3);
    seen.push_back({static_cast<int>(n + i) + 4, 1, phases[i].count});
    kernel.push_back(phases[i].count);
    summed.push_back(static_cast<int>(2 * n + i) + 4);
  }
  // Zeros beside a constant kernel are stored: none is a choice in the loops.
  const bool is_padded = std::ranges::any_of(pads, [](const Range& p) { return !p.first.is_int(0) || !p.second.is_int(0); });
  const bool is_stored = is_padded && weight.buffer()->base->kind == LazyKind::Data;
  const Tensor padded = is_stored ? weight.pad(pads).contiguous() : weight.pad(pads);
  const Tensor rows = padded.cast(wide).reshape(split).flip(flipped).permute(order).reshape(kernel);
  const Tensor cut = windows_of_groups(g.cast(wide), w, groups);
  const Tensor windows = apply(Function::Steps, {cut}, {.shape = Shape(cut.shape().size(), 0), .steps = std::move(seen)});
  return sum_of_products(windows, rows, type, summed).reshape(sums).pad(rest).reshape(whole);
}

}  // namespace

std::optional<Tensor> conv_input_by_phases(const Tensor& g, const Shape& x, const Tensor& weight, const Window& w, std::int64_t groups) {
  const std::vector<Phases> phases = phases_of(x, g, w);
  return phases.empty() ? std::nullopt : std::optional(of_conv_input_by_phases(g, x, weight, phases, groups));
}

Tensor of_conv_input(const Tensor& g, const Tensor& x, const Tensor& weight, const FunctionArguments& f) {
  const Window& w = f.window;
  if (const auto phases = conv_input_by_phases(g, x.shape(), weight, w, f.groups)) return phases->cast(x.dtype());
  std::vector<std::int64_t> rest;  // elements behind the last window
  for (std::size_t i = 0; i < w.kernel.size(); i++) {
    const int axis = static_cast<int>(i) + 2;
    const Sint left = x.dim(axis) + w.pads[i].first + w.pads[i].second - ((g.dim(axis) - 1) * w.stride[i] + window_extent(w, i));
    if (!left.is_int()) throw ShapeError("the gradient of a convolution with stride along a variable axis is not defined");
    rest.push_back(left.as_int());
  }
  return g.conv_transpose(weight, {}, w, rest, f.groups).cast(x.dtype());
}

Tensor of_conv_weight(const Tensor& g, const Tensor& x, const Tensor& weight, const FunctionArguments& f) {
  const std::size_t n = f.window.kernel.size();
  const DType wide = sum_dtype(g.dtype());
  std::vector<int> summed{0};
  for (std::size_t i = 0; i < n; i++) summed.push_back(static_cast<int>(i) + 3);
  const Tensor cut = windows_of_groups(x.cast(wide), f.window, f.groups);
  return sum_of_products(cut, channels_of_groups(g.cast(wide), n, f.groups), wide, summed).reshape(weight.shape()).cast(weight.dtype());
}

Tensor largest_of_windows(const Tensor& x, const Window& w) { return x.windows(w, smallest(x.dtype())).max(kernel_axes(w.kernel.size())); }

Tensor of_max_pool(const Tensor& g, const Tensor& x, const Tensor& y, const Window& w) {
  const std::size_t n = w.kernel.size();
  const auto beside_kernel = [&](const Tensor& t) {
    Shape shape = t.shape();
    shape.insert(shape.end(), n, 1);
    return t.reshape(shape);
  };
  // Shared equally between equal elements of a window.
  const Tensor found = x.windows(w, smallest(x.dtype())).equal(beside_kernel(y)).cast(g.dtype()).sum(kernel_axes(n));
  const Tensor is_it = beside_kernel(x).equal(windows_over(y, w, x.shape()));
  const Tensor share = windows_over(g / found, w, x.shape());
  return is_it.where(share, share.full_like(0)).sum(kernel_axes(n));
}

Tensor added_up(const Tensor& g, const FunctionArguments& f, const Shape& shape) {
  std::vector<int> order;
  std::vector<std::vector<AxisStep>> groups(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); axis++)
    for (std::size_t i = 0; i < f.steps.size(); i++)
      if (f.steps[i].axis == static_cast<int>(axis)) {
        order.push_back(static_cast<int>(i));
        groups[axis].push_back(f.steps[i]);
      }
  Tensor result = g.permute(order);
  Padding pads;
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    const auto [line, first] = along_one_axis(result, static_cast<int>(axis), groups[axis]);
    result = line;
    const Sint begin = f.shape[axis] + first;
    pads.emplace_back(begin, shape[axis] - begin - line.dim(static_cast<int>(axis)));
  }
  return result.pad(pads);
}

}  // namespace etch
