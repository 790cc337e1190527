#include "onnx/resample.h"

#include <algorithm>
#include <cmath>

#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

double original_coordinate(Coordinates coordinates, const ResampledAxis& axis, double x) {
  const double in = static_cast<double>(axis.in), out = axis.scale * in;  // not rounded, as ONNX's test data require
  switch (coordinates) {
    case Coordinates::HalfPixel:
      return (x + 0.5) / axis.scale - 0.5;
    case Coordinates::HalfPixelSymmetric: {
      const double offset = in / 2 * (1 - static_cast<double>(axis.out) / out);
      return offset + (x + 0.5) / axis.scale - 0.5;
    }
    case Coordinates::PytorchHalfPixel:
      return axis.out == 1 ? 0.0 : (x + 0.5) / axis.scale - 0.5;
    case Coordinates::AlignCorners:
      return out == 1 ? 0.0 : x * (in - 1) / (out - 1);
    case Coordinates::Asymmetric:
      return x / axis.scale;
    case Coordinates::TfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case Coordinates::TfCropAndResize: {
      const double span = axis.roi_end - axis.roi_start;
      return axis.roi_start * (in - 1) + (out == 1 ? span * (in - 1) / 2 : x * span * (in - 1) / (out - 1));
    }
  }
  return x;
}

double cubic_weight(double a, double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double nearest_weight(NearestRounding rounding, double scale, double ratio, bool right) {
  switch (rounding) {
    case NearestRounding::Simple:
      return nearest_weight(scale < 1 ? NearestRounding::Ceil : NearestRounding::Floor, scale, ratio, right);
    case NearestRounding::RoundPreferFloor:
      return right == (ratio > 0.5) ? 1 : 0;
    case NearestRounding::RoundPreferCeil:
      return right == (ratio >= 0.5) ? 1 : 0;
    case NearestRounding::Floor:
      return right == (ratio == 1) ? 1 : 0;
    case NearestRounding::Ceil:
      return right ? 1 : 0;
  }
  return 0;
}

/// The taps around `coordinate`, positions not clamped. `ratio` is in (0, 1]: a coordinate exactly on an element counts as left of it.
std::vector<Tap> raw_taps(const Resampling& r, double coordinate, double scale) {
  const double base = std::ceil(coordinate) - 1, ratio = coordinate - base;
  const double shrink = r.antialias ? std::min(scale, 1.0) : 1.0;
  const double radius = r.interpolation == Interpolation::Cubic ? 2 : 1;
  const auto first = static_cast<std::int64_t>(std::floor(-radius / shrink)) + 1;
  std::vector<Tap> taps;
  double total = 0;
  for (std::int64_t i = first; i <= 1 - first; i++) {
    const double distance = (static_cast<double>(i) - ratio) * shrink;
    double weight = 0;
    switch (r.interpolation) {
      case Interpolation::Nearest:
        weight = nearest_weight(r.rounding, scale, ratio, i == 1);
        break;
      case Interpolation::Linear:
        weight = std::max(0.0, 1 - std::abs(distance));
        break;
      case Interpolation::Cubic:
        weight = cubic_weight(r.cubic_coefficient, distance);
        break;
    }
    taps.push_back({static_cast<std::int64_t>(base) + i, weight});
    total += weight;
  }
  if (r.antialias) {
    for (Tap& tap : taps) tap.weight /= total;
  }
  return taps;
}

/// The step of evenly spaced positions; nullopt if they are not evenly spaced.
std::optional<std::int64_t> even_step(const std::vector<std::int64_t>& positions) {
  if (positions.size() < 2) return 1;
  const std::int64_t step = positions[1] - positions[0];
  for (std::size_t i = 1; i < positions.size(); i++) {
    if (positions[i] - positions[i - 1] != step) return std::nullopt;
  }
  return step;
}

/// How often `positions` repeats each element of [0, size): 2 for 0,0,1,1,2,2; 0 if it has another form.
std::int64_t repeats(const std::vector<std::int64_t>& positions, std::int64_t size) {
  const auto count = static_cast<std::int64_t>(positions.size());
  if (size == 0 || count % size != 0) return 0;
  const std::int64_t times = count / size;
  for (std::int64_t i = 0; i < count; i++) {
    if (positions[static_cast<std::size_t>(i)] != i / times) return 0;
  }
  return times;
}

/// The least q <= 2^13 with x * q whole (to 1e-9), by continued fractions; 0 if there is none.
std::int64_t denominator_of(double x) {
  constexpr double kNear = 1e-9, kMost = 8192;
  double before = 0, q = 1, rest = x;
  while (std::abs(x * q - std::round(x * q)) > kNear * q) {
    rest = 1 / (rest - std::floor(rest));
    const double next = std::floor(rest) * q + before;
    before = q;
    q = next;
    if (!(q <= kMost)) return 0;
  }
  return static_cast<std::int64_t>(q);
}

}  // namespace

std::vector<std::vector<Tap>> taps_of(const Resampling& resampling, const ResampledAxis& axis) {
  std::vector<std::vector<Tap>> result;
  for (std::int64_t x = 0; x < axis.out; x++) {
    const double coordinate = original_coordinate(resampling.coordinates, axis, static_cast<double>(x));
    std::vector<Tap> merged;
    const bool cropped =
        resampling.coordinates == Coordinates::TfCropAndResize && (coordinate < 0 || coordinate > static_cast<double>(axis.in - 1));
    double total = 0;
    for (const Tap& tap : cropped ? std::vector<Tap>{} : raw_taps(resampling, coordinate, axis.scale)) {
      const bool outside = tap.position < 0 || tap.position >= axis.in;
      if (tap.weight == 0 || (outside && resampling.exclude_outside)) continue;
      const std::int64_t position = std::clamp<std::int64_t>(tap.position, 0, axis.in - 1);
      if (!merged.empty() && merged.back().position == position) {
        merged.back().weight += tap.weight;
      } else {
        merged.push_back({position, tap.weight});
      }
      total += tap.weight;
    }
    if (resampling.exclude_outside) {
      for (Tap& tap : merged) tap.weight /= total;
    }
    result.push_back(std::move(merged));
  }
  return result;
}

Tensor selected(const Tensor& x, int axis, const std::vector<std::int64_t>& positions) {
  const std::int64_t size = x.dim(axis).as_int(), count = static_cast<std::int64_t>(positions.size());
  if (count == 0) return x.slice(axis, 0, 0);
  if (const std::int64_t times = repeats(positions, size)) {
    if (times == 1) return x;
    Shape shape = x.shape(), wide = x.shape();
    wide.insert(wide.begin() + axis + 1, Sint(times));
    shape[static_cast<std::size_t>(axis)] = count;
    return x.unsqueeze(axis + 1).expand(wide).reshape(shape);
  }
  const std::optional<std::int64_t> step = even_step(positions);
  if (step && *step > 0) return x.slice(axis, positions.front(), positions.back() + 1, *step);
  if (step && *step == 0) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = count;
    return x.slice(axis, positions[0], positions[0] + 1).expand(shape);
  }
  return x.gather(axis, index_constant(x.graph(), {count}, positions));
}

Tensor resampled(const Tensor& x, int axis, const std::vector<std::vector<Tap>>& taps) {
  const auto count = static_cast<std::int64_t>(taps.size());
  std::size_t most = 1;
  bool weighted = false;
  for (const std::vector<Tap>& position : taps) {
    most = std::max(most, position.size());
    weighted = weighted || position.size() > 1 || (!position.empty() && position[0].weight != 1);
  }
  std::vector<std::int64_t> along(static_cast<std::size_t>(x.rank()), 1);
  along[static_cast<std::size_t>(axis)] = count;
  Tensor result;
  for (std::size_t t = 0; t < most; t++) {
    std::vector<std::int64_t> positions;
    std::vector<double> weights;
    for (const std::vector<Tap>& position : taps) {
      const bool there = t < position.size();
      positions.push_back(there ? position[t].position : position.empty() ? 0 : position.back().position);
      weights.push_back(there ? position[t].weight : 0);
    }
    if (!weighted) return selected(x, axis, positions);
    const Tensor part = selected(x, axis, positions) * Tensor::constant(x.graph(), Array::of_doubles(x.dtype(), along, weights));
    result = result ? result + part : part;
  }
  return result;
}

std::optional<Tensor> inside(LazyGraph& graph, int axis, int rank, const std::vector<std::vector<Tap>>& taps) {
  std::vector<std::int64_t> there, along(static_cast<std::size_t>(rank), 1);
  for (const std::vector<Tap>& position : taps) there.push_back(position.empty() ? 0 : 1);
  if (std::find(there.begin(), there.end(), 0) == there.end()) return std::nullopt;
  along[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(taps.size());
  return Tensor::constant(graph, Array::of_ints(DType::Bool, along, there));
}

std::int64_t common_denominator(const std::vector<std::vector<Tap>>& taps) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  std::int64_t result = 1;
  for (const std::vector<Tap>& position : taps) {
    for (const Tap& tap : position) {
      const double rest = tap.weight * static_cast<double>(result);
      result *= denominator_of(rest - std::floor(rest));
      if (result == 0 || result > kMost) return 0;
    }
  }
  return result;
}

double nearest_fraction(double scale) {
  constexpr int kMost = 1000;  // numbers that people write have up to three digits
  for (int q = 1; q <= kMost; q++) {
    const double p = std::round(scale * q);
    if (p > 0 && static_cast<float>(p / q) == static_cast<float>(scale)) return p / q;
  }
  return scale;
}

}  // namespace etch::operators
