// Convolutions as LazyOps, with the views that lowering gives them, and the same by loops.
#pragma once

#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch::test {

struct Conv {
  std::int64_t batch = 1, groups = 1, in = 1, out = 1;  // channels of one group
  std::int64_t height = 1, width = 1, kernel = 1, stride = 1, pad = 0, dilation = 1;
  std::int64_t out_size(std::int64_t size) const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};

/// Axes [batch, group, out, oy, ox, in, ky, kx], the last three summed: x is buffer 1 [batch, group*in, h, w], w buffer 2
/// [group*out, in, k, k].
inline const LazyOp* conv_store(LazyOps& ops, const Conv& c, DType dtype, DType sum_dtype) {
  const std::int64_t oh = c.out_size(c.height), ow = c.out_size(c.width), ph = c.height + 2 * c.pad, pw = c.width + 2 * c.pad,
                     channels = c.groups * c.in;
  const ShapeTracker padded =
      ShapeTracker::from_shape({c.batch, channels, c.height, c.width}).pad({{0, 0}, {0, 0}, {c.pad, c.pad}, {c.pad, c.pad}});
  const std::vector<Sint> full = {c.batch, c.groups, c.out, oh, ow, c.in, c.kernel, c.kernel};
  const View windows = View::create(
      full, std::vector<Sint>{channels * ph * pw, c.in * ph * pw, 0, c.stride * pw, c.stride, ph * pw, c.dilation * pw, c.dilation});
  std::vector<View> views = padded.views();
  views.push_back(windows);
  const View taps = View::create(
      full, std::vector<Sint>{0, c.out * c.in * c.kernel * c.kernel, c.in * c.kernel * c.kernel, 0, 0, c.kernel * c.kernel, c.kernel, 1});
  const LazyOp* x = ops.cast(ops.load(1, dtype, ShapeTracker(views).simplify()), sum_dtype);
  const LazyOp* w = ops.cast(ops.load(2, dtype, ShapeTracker({taps})), sum_dtype);
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {x, w}), {5, 6, 7});
  return ops.store(0, sum, ShapeTracker::from_shape(sum->shape));
}

/// The same, element by element, in T.
template <class T>
std::vector<T> conv_loops(const Conv& c, const std::vector<T>& x, const std::vector<T>& w) {
  const std::int64_t oh = c.out_size(c.height), ow = c.out_size(c.width);
  std::vector<T> result;
  for (std::int64_t b = 0; b < c.batch; b++)
    for (std::int64_t o = 0; o < c.groups * c.out; o++)
      for (std::int64_t y = 0; y < oh; y++)
        for (std::int64_t z = 0; z < ow; z++) {
          T sum = 0;
          for (std::int64_t i = 0; i < c.in; i++)
            for (std::int64_t ky = 0; ky < c.kernel; ky++)
              for (std::int64_t kx = 0; kx < c.kernel; kx++) {
                const std::int64_t iy = y * c.stride - c.pad + ky * c.dilation, ix = z * c.stride - c.pad + kx * c.dilation;
                if (iy < 0 || ix < 0 || iy >= c.height || ix >= c.width) continue;
                const std::int64_t channel = o / c.out * c.in + i;
                sum += x[static_cast<std::size_t>(((b * c.groups * c.in + channel) * c.height + iy) * c.width + ix)] *
                       w[static_cast<std::size_t>(((o * c.in + i) * c.kernel + ky) * c.kernel + kx)];
              }
          result.push_back(sum);
        }
  return result;
}

}  // namespace etch::test
