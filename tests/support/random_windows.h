// For tests: convolutions of small sizes as ASTs, with every order of their tensors.
#pragma once

#include <random>
#include <vector>

#include "codegen/argument.h"
#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch::test::windows {

/// A convolution over planes [channel][y][x] or, with the channels last, [y][x][channel].
struct LaidWindow {
  std::int64_t channels = 1, outputs = 1, height = 1, width = 1, kernel = 1, stride = 1, pad = 0;
  bool depthwise = false, in_last = false, out_last = false;
  bool residual = false;  // buffer 3, in the order of the output, is added
  std::int64_t out(std::int64_t size) const { return (size + 2 * pad - kernel) / stride + 1; }
};

// Axes [output channel, y, x, channel, ky, kx], the last three summed: in is buffer 1, w is buffer 2.
inline const LazyOp* store_of(LazyOps& ops, const LaidWindow& w, DType dtype) {
  const auto image = [](std::int64_t c, std::int64_t y, std::int64_t x, bool last) {
    return last ? ShapeTracker::from_shape({y, x, c}).permute({2, 0, 1}) : ShapeTracker::from_shape({c, y, x});
  };
  const std::int64_t oh = w.out(w.height), ow = w.out(w.width), ph = w.height + 2 * w.pad, pw = w.width + 2 * w.pad;
  std::vector<View> views = image(w.channels, w.height, w.width, w.in_last).pad({{0, 0}, {w.pad, w.pad}, {w.pad, w.pad}}).views();
  const std::int64_t summed = w.depthwise ? 1 : w.channels, outputs = w.depthwise ? w.channels : w.outputs;
  const std::vector<Sint> full{outputs, oh, ow, summed, w.kernel, w.kernel};
  views.push_back(
      View::create(full, std::vector<Sint>{w.depthwise ? ph * pw : 0, w.stride * pw, w.stride, w.depthwise ? 0 : ph * pw, pw, 1}));
  const View taps = View::create(full, std::vector<Sint>{summed * w.kernel * w.kernel, 0, 0, w.kernel * w.kernel, w.kernel, 1});
  const DType wide = is_float(dtype) ? dtype : DType::Int32;
  const LazyOp* x = ops.cast(ops.load(1, dtype, ShapeTracker(views).simplify()), wide);
  const LazyOp* y = ops.cast(ops.load(2, dtype, ShapeTracker({taps})), wide);
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {x, y}), {3, 4, 5});
  const ShapeTracker to = image(outputs, oh, ow, w.out_last).reshape({outputs, oh, ow, 1, 1, 1});
  const LazyOp* result = ops.cast(sum, dtype);
  return ops.store(0, w.residual ? ops.elementwise(Op::Add, {result, ops.load(3, dtype, to)}) : result, to);
}

/// By loops, from the definition.
inline std::vector<double> convolution(const LaidWindow& w, const Array& in, const Array& taps) {
  const std::int64_t outputs = w.depthwise ? w.channels : w.outputs, summed = w.depthwise ? 1 : w.channels, k = w.kernel;
  const std::int64_t height = w.out(w.height), width = w.out(w.width);
  std::vector<double> out(static_cast<std::size_t>(outputs * height * width));
  for (std::int64_t o = 0; o < outputs; o++)
    for (std::int64_t y = 0; y < height; y++)
      for (std::int64_t x = 0; x < width; x++) {
        double sum = 0;
        for (std::int64_t c = 0; c < summed; c++)
          for (std::int64_t at = 0; at < k * k; at++) {
            const std::int64_t from = w.depthwise ? o : c, iy = y * w.stride - w.pad + at / k, ix = x * w.stride - w.pad + at % k;
            if (iy < 0 || iy >= w.height || ix < 0 || ix >= w.width) continue;
            const std::int64_t place = w.in_last ? (iy * w.width + ix) * w.channels + from : (from * w.height + iy) * w.width + ix;
            sum += in.double_at(place) * taps.double_at((o * summed + c) * k * k + at);
          }
        out[static_cast<std::size_t>(w.out_last ? (y * width + x) * outputs + o : (o * height + y) * width + x)] = sum;
      }
  return out;
}

inline std::vector<KernelArgument> arguments_of(const LaidWindow& w, DType dtype) {
  const std::int64_t outputs = w.depthwise ? w.channels : w.outputs, stored = outputs * w.out(w.height) * w.out(w.width);
  std::vector<KernelArgument> arguments{{dtype, stored, "out", Access::Write},
                                        {dtype, w.channels * w.height * w.width, "in"},
                                        {dtype, outputs * (w.depthwise ? 1 : w.channels) * w.kernel * w.kernel, "w", Access::Read, true}};
  if (w.residual) arguments.push_back({dtype, stored, "residual"});
  return arguments;
}

inline LaidWindow random_window(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LaidWindow w{.channels = pick(0, 1) == 0 ? pick(1, 5) : 8 * pick(1, 2), .outputs = pick(0, 1) == 0 ? pick(1, 5) : 4 * pick(1, 4)};
  w.kernel = pick(0, 2) == 0 ? 1 : pick(2, 3);
  w.height = pick(w.kernel, 9);
  w.width = pick(0, 9) == 0 ? pick(16, 24) : pick(w.kernel, 9);
  w.stride = pick(1, 2);
  w.pad = w.kernel > 1 ? pick(0, w.kernel - 1) : 0;
  w.depthwise = pick(0, 2) == 0;
  w.in_last = pick(0, 2) > 0;
  w.out_last = pick(0, 2) > 0;
  return w;
}

/// One of them as a kernel.
struct RandomKernel {
  RandomKernel(std::mt19937& rng, DType type)
      : window(random_window(rng)), dtype(type), store(store_of(ops, window, dtype)), arguments(arguments_of(window, dtype)) {}
  LazyOps ops;
  LaidWindow window;
  DType dtype;
  const LazyOp* store;
  std::vector<KernelArgument> arguments;
};

}  // namespace etch::test::windows
