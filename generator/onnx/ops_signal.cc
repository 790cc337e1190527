// Signal processing: windows, Fourier transforms, mel weights. Transforms of composite length are split into shorter ones,
// so that neither tables nor work grow with the square of the length.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

constexpr std::int64_t kDirectLength = 16;  // shorter transforms are one matrix product

constexpr std::int64_t kLargestPrime = 2048;  // largest prime factor of a length: a table has the square of it as its size

/// UserError if the tables of a transform of length n would be too large.
void require_length(const NodeContext& node, std::int64_t n) {
  std::int64_t rest = n;
  for (std::int64_t p = 2; p <= kLargestPrime && rest > 1; p++) {
    while (rest % p == 0) rest /= p;
  }
  if (n < 1 || n > (std::int64_t{1} << 24) || rest > 1) {
    node.fail("its length is " + std::to_string(n),
              "lengths are from 1 to 2^24 with no prime factor above " + std::to_string(kLargestPrime));
  }
}

struct Complex {
  Tensor re, im;  // im empty: a real signal
};

/// rows x columns of cos and sin of 2 pi * row * column / n.
Complex rotations(const Tensor& like, std::int64_t rows, std::int64_t columns, std::int64_t n) {
  std::vector<double> cosine, sine;
  for (std::int64_t row = 0; row < rows; row++) {
    for (std::int64_t column = 0; column < columns; column++) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(row * column % n) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
  return {float_constant(like.graph(), like.dtype(), {rows, columns}, cosine),
          float_constant(like.graph(), like.dtype(), {rows, columns}, sine)};
}

/// x * (cos - i sin), by `product`; with `inverse` x * (cos + i sin).
template <class Product>
Complex rotated(const Complex& x, const Complex& r, bool inverse, Product product) {
  const Tensor cross = product(x.re, r.im);
  Complex y{product(x.re, r.re), inverse ? cross : -cross};
  if (!x.im) return y;
  const Tensor other = product(x.im, r.im);
  return {inverse ? y.re - other : y.re + other, y.im + product(x.im, r.re)};
}

/// Transform over the last axis, which has n elements, without scaling.
Complex transform(const Complex& x, std::int64_t n, bool inverse) {
  const auto matmul = [](const Tensor& a, const Tensor& b) { return a.matmul(b); };
  std::int64_t p = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % p != 0) p--;
  if (n <= kDirectLength || p == 1) return rotated(x, rotations(x.re, n, n, n), inverse, matmul);
  // x[q * j1 + j2] -> X[k1 + p * k2]: transforms of length p, a rotation by k1 * j2 / n, transforms of length q.
  const std::int64_t q = n / p;
  const auto each = [](const Complex& c, auto f) { return Complex{f(c.re), c.im ? f(c.im) : Tensor()}; };
  Shape outer(x.re.shape().begin(), x.re.shape().end() - 1), split = outer;
  split.insert(split.end(), {Sint(p), Sint(q)});
  const Complex columns = each(x, [&](const Tensor& t) { return t.reshape(split).transpose(); });             // [.., q, p]
  const Complex first = each(transform(columns, p, inverse), [](const Tensor& t) { return t.transpose(); });  // [.., p, q]
  const auto times = [](const Tensor& a, const Tensor& b) { return a * b; };
  const Complex turned = rotated(first, rotations(x.re, p, q, n), inverse, times);
  outer.push_back(n);
  return each(transform(turned, q, inverse), [&](const Tensor& t) { return t.transpose().reshape(outer); });
}

/// signal [.., n] -> [.., k, 2]
Tensor spectrum(const Complex& signal, std::int64_t n, bool inverse, bool onesided) {
  Complex y = transform(signal, n, inverse);
  if (inverse) y = {y.re / number(y.re, static_cast<double>(n)), y.im / number(y.re, static_cast<double>(n))};
  const Tensor both = Tensor::stack({y.re, y.im}, y.re.rank());
  return onesided ? both.slice(-2, 0, n / 2 + 1) : both;
}

/// A tensor whose last axis holds the real part, or real and imaginary part, as a Complex.
Complex complex_of(const NodeContext& node, const Tensor& x) {
  const std::int64_t parts = x.rank() >= 2 ? fixed_dim(node, x, -1, "input") : 0;
  if (parts != 1 && parts != 2)
    node.fail("its input has the shape " + shape_text(x.shape()) + ", the last axis must have 1 (real) or 2 (complex) elements");
  const auto part = [&](std::int64_t i) { return x.slice(-1, i, i + 1).squeeze({x.rank() - 1}); };
  return {part(0), parts == 2 ? part(1) : Tensor()};
}

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
Outputs window(NodeContext& node, double a0, double a1, double a2) {
  require_inputs(node, 1, 1);
  const std::int64_t size = constant_number(node, 0, "size").as_int();
  const DType dtype = dtype_of_number(node, node.attribute_int("output_datatype", 1), "attribute output_datatype");
  const bool periodic = node.attribute_int("periodic", 1) != 0;
  if (size < 1 || size > (std::int64_t{1} << 24)) node.fail("its size is " + std::to_string(size), "sizes are from 1 to 2^24");
  const double length = static_cast<double>(std::max<std::int64_t>(periodic ? size : size - 1, 1));
  std::vector<double> values;
  for (std::int64_t n = 0; n < size; n++) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / length;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  return {float_constant(node.graph(), dtype, {size}, values)};
}

/// All n elements of the spectrum of a real signal, from the n / 2 + 1 elements of its first half.
Complex mirrored(const Complex& half, std::int64_t n) {
  if (n < 3) return half;
  const auto tail = [&](const Tensor& t) { return t.slice(-1, 1, 1 + (n - 1) / 2).flip({t.rank() - 1}); };
  const int axis = half.re.rank() - 1;
  return {Tensor::cat({half.re, tail(half.re)}, axis), Tensor::cat({half.im, -tail(half.im)}, axis)};
}

}  // namespace

Outputs hann_window(NodeContext& node) { return window(node, 0.5, 0.5, 0); }
Outputs hamming_window(NodeContext& node) { return window(node, 25.0 / 46, 21.0 / 46, 0); }
Outputs blackman_window(NodeContext& node) { return window(node, 0.42, 0.5, 0.08); }

/// [.., n, .., 1 or 2] -> [.., k, .., 2]; inverse and onesided: [.., n / 2 + 1, .., 2] -> [.., n, .., 1].
Outputs dft(NodeContext& node) {
  const bool axis_input = node.opset() >= 20;
  require_inputs(node, 1, axis_input ? 3 : 2);
  const Tensor input = node.input(0);
  const bool inverse = node.attribute_int("inverse", 0) != 0, onesided = node.attribute_int("onesided", 0) != 0;
  std::int64_t attribute = axis_input ? -2 : node.attribute_int("axis", 1);
  if (axis_input && node.has_input(2)) attribute = constant_number(node, 2, "axis").as_int();
  const int axis = axis_of(node, attribute, input.rank(), "axis");
  if (axis == input.rank() - 1) node.fail("its axis is the last one, which holds real and imaginary parts", "give another axis");
  const Complex signal = complex_of(node, input);
  const bool real_result = inverse && onesided;
  if (real_result && !signal.im)
    node.fail("attributes inverse and onesided are both 1 with a real signal", "give half of a spectrum, or set one to 0");
  const std::int64_t size = fixed_dim(node, input, axis, "input");
  const std::int64_t n = node.has_input(1) ? constant_number(node, 1, "dft_length").as_int() : real_result ? 2 * (size - 1) : size;
  require_length(node, n);
  const std::int64_t taken = real_result ? n / 2 + 1 : n;
  const auto fitted = [&](const Tensor& t) {
    if (!t) return t;
    const Tensor line = move_axis(t, axis, t.rank() - 1);
    Padding pads(static_cast<std::size_t>(t.rank()), {Sint(0), Sint(0)});
    pads.back() = {0, taken - size};  // negative: cut
    return taken == size ? line : line.pad(pads);
  };
  const DType dtype = input.dtype();
  const Complex line{widened(fitted(signal.re)), signal.im ? widened(fitted(signal.im)) : Tensor()};
  const Tensor result = real_result ? spectrum(mirrored(line, n), n, true, false).slice(-1, 0, 1) : spectrum(line, n, inverse, onesided);
  return {move_axis(result.cast(dtype), result.rank() - 2, axis)};
}

/// Frames of the signal, each times the window, transformed: [B, L, 1 or 2] -> [B, frames, k, 2]
Outputs stft(NodeContext& node) {
  require_inputs(node, 2, 4);
  const Tensor input = node.input(0);
  const bool onesided = node.attribute_int("onesided", 1) != 0;
  if (input.rank() != 2 && input.rank() != 3)
    node.fail("its signal has the shape " + shape_text(input.shape()) + ", [B, L, 1] is expected");
  const Complex signal = input.rank() == 2 ? Complex{input, Tensor()} : complex_of(node, input);
  const std::int64_t step = constant_number(node, 1, "frame_step").as_int(), size = fixed_dim(node, input, 1, "signal");
  const Tensor shape = node.has_input(2) ? node.input(2) : Tensor();
  if (!shape && !node.has_input(3)) node.fail("it has neither window nor frame_length", "give one of them");
  const std::int64_t length = node.has_input(3) ? constant_number(node, 3, "frame_length").as_int() : fixed_dim(node, shape, 0, "window");
  if (step < 1 || length < 1 || length > size)
    node.fail("frames of " + std::to_string(length) + " every " + std::to_string(step) + " of a signal of " + std::to_string(size));
  if (shape && (shape.rank() != 1 || !shape.dim(0).is_int(length) || shape.dtype() != input.dtype()))
    node.fail("its window has the shape " + shape_text(shape.shape()) + ", frame_length is " + std::to_string(length));
  if (onesided && signal.im) node.fail("attribute onesided is 1 with a complex signal", "set it to 0");
  require_length(node, length);
  const auto framed = [&](const Tensor& t) {
    if (!t) return t;
    const Tensor frames = widened(t).last_windows({length}, {step}, {1});
    return shape ? frames * widened(shape) : frames;
  };
  return {spectrum({framed(signal.re), framed(signal.im)}, length, false, onesided).cast(input.dtype())};
}

/// Triangles on the mel scale: [dft_length / 2 + 1, mel bins].
Outputs mel_weight_matrix(NodeContext& node) {
  require_inputs(node, 5, 5);
  const std::int64_t bins = constant_number(node, 0, "num_mel_bins").as_int(), length = constant_number(node, 1, "dft_length").as_int();
  const double rate = static_cast<double>(constant_number(node, 2, "sample_rate").as_int());
  const double low = constant_number(node, 3, "lower_edge_hertz").as_double(),
               high = constant_number(node, 4, "upper_edge_hertz").as_double();
  const DType dtype = dtype_of_number(node, node.attribute_int("output_datatype", 1), "attribute output_datatype");
  if (bins < 1 || length < 1 || bins > 65536 || length > (1 << 24) || bins * length > (std::int64_t{1} << 27) || !(rate > 0))
    node.fail("it has " + std::to_string(bins) + " bins of a transform of " + std::to_string(length) + " at " + std::to_string(rate) +
              " Hz");
  if (!(low >= 0) || !(high >= low) || !(high * static_cast<double>(length) / rate < 0x1p52))
    node.fail("its filters are from " + std::to_string(low) + " to " + std::to_string(high) + " Hz",
              "give a lower edge that is not negative and an upper edge that is not below it, both finite");
  const std::int64_t rows = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  std::vector<std::int64_t> edge;  // spectrogram bins
  for (std::int64_t i = 0; i < bins + 2; i++) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    edge.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  std::vector<double> weights(static_cast<std::size_t>(rows * bins), 0);
  for (std::int64_t b = 0; b < bins; b++) {
    const auto at = static_cast<std::size_t>(b);
    const std::int64_t left = edge[at], centre = edge[at + 1], right = edge[at + 2];
    const auto set = [&](std::int64_t row, double value) {
      if (row >= 0 && row < rows) weights[static_cast<std::size_t>(row * bins + b)] = value;
    };
    if (left == centre) set(centre, 1);
    for (std::int64_t row = left; row <= std::min(centre, rows - 1) && left != centre; row++)
      set(row, static_cast<double>(row - left) / static_cast<double>(centre - left));
    for (std::int64_t row = centre; row < std::min(right, rows); row++)
      set(row, static_cast<double>(right - row) / static_cast<double>(right - centre));
  }
  return {float_constant(node.graph(), dtype, {rows, bins}, weights)};
}

}  // namespace etch::operators
