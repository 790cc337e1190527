// Resampling along an axis whose size is open. For a scale of p/q the taps of output i + p are those of output i shifted by q elements, so
// each of the p phases is a strided view of the input, and the phases are interleaved.
#include <algorithm>
#include <cmath>

#include "onnx/ops_common.h"
#include "onnx/resample.h"

namespace etch::operators {
namespace {

constexpr std::int64_t kMostPhases = 16;

/// p / q in lowest terms.
struct Fraction {
  std::int64_t p = 1, q = 1;
};

std::optional<Fraction> fraction_of(double scale) {
  for (std::int64_t q = 1; q <= kMostPhases; q++) {
    const double p = std::round(scale * static_cast<double>(q));
    if (p < 1 || p > kMostPhases) continue;
    if (static_cast<float>(p / static_cast<double>(q)) == static_cast<float>(scale)) return Fraction{static_cast<std::int64_t>(p), q};
  }
  return std::nullopt;
}

/// An output size as Resize computes it, in float32.
std::int64_t output_size(std::int64_t in, double scale) {
  return static_cast<std::int64_t>(std::floor(static_cast<float>(in) * static_cast<float>(scale)));
}

/// The reason why the taps depend on the size of the axis; empty if they do not.
std::string size_in_definition(const Resampling& r, Sint in, const Fraction& f, double scale) {
  const auto mode = [](const char* name) { return "coordinate_transformation_mode " + std::string(name) + " depends on the size"; };
  switch (r.coordinates) {
    case Coordinates::AlignCorners:
      return mode("align_corners");
    case Coordinates::TfCropAndResize:
      return mode("tf_crop_and_resize");
    case Coordinates::HalfPixelSymmetric:
      return f.q == 1 ? "" : mode("half_pixel_symmetric");
    case Coordinates::PytorchHalfPixel:
      return output_size(in.min(), scale) > 1 ? "" : mode("pytorch_half_pixel") + " where the output has one element";
    case Coordinates::HalfPixel:
    case Coordinates::Asymmetric:
    case Coordinates::TfHalfPixelForNn:
      return "";
  }
  return "";
}

/// The taps of the p phases, with positions relative to the phase's block of q elements. They are taken from the middle of a long axis,
/// where nothing is clamped; nullopt if they do not repeat along the whole of the longest possible axis.
std::optional<std::vector<std::vector<Tap>>> phases_of(const Resampling& resampling, Sint in, const Fraction& f) {
  const double scale = static_cast<double>(f.p) / static_cast<double>(f.q);
  const std::int64_t margin = 4 + 4 * ((f.q + f.p - 1) / f.p);  // blocks at each end where the widest filter reaches outside
  const std::int64_t blocks = 2 * margin + 1 + (in.max() + f.q - 1) / f.q;
  const auto all = taps_of(resampling, {blocks * f.q, blocks * f.p, scale});
  std::vector<std::vector<Tap>> phases;
  for (std::int64_t block = margin; block < blocks - margin; block++) {
    for (std::int64_t j = 0; j < f.p; j++) {
      std::vector<Tap> taps = all[static_cast<std::size_t>(block * f.p + j)];
      for (Tap& tap : taps) tap.position -= block * f.q;
      if (block == margin) {
        phases.push_back(std::move(taps));
        continue;
      }
      const std::vector<Tap>& first = phases[static_cast<std::size_t>(j)];
      const auto same = [](const Tap& a, const Tap& b) { return a.position == b.position && std::abs(a.weight - b.weight) < 1e-6; };
      if (!std::equal(taps.begin(), taps.end(), first.begin(), first.end(), same)) return std::nullopt;
    }
  }
  return phases;
}

/// x with its edge elements repeated along `axis`.
Tensor with_edges(const Tensor& x, int axis, std::int64_t before, std::int64_t after) {
  const auto edge = [&](Sint at, std::int64_t count) {
    Padding range;
    for (const Sint& d : x.shape()) range.emplace_back(Sint(0), d);
    range[static_cast<std::size_t>(axis)] = {at, at + 1};
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = count;
    return x.shrink(range).expand(shape);
  };
  std::vector<Tensor> parts;
  if (before > 0) parts.push_back(edge(0, before));
  parts.push_back(x);
  if (after > 0) parts.push_back(edge(x.dim(axis) - 1, after));
  return parts.size() == 1 ? x : Tensor::cat(parts, axis);
}

/// Element first + q * b of `x` for b from 0 to blocks - 1.
Tensor every(const Tensor& x, int axis, std::int64_t first, std::int64_t q, Sint blocks) {
  Padding range;
  for (const Sint& d : x.shape()) range.emplace_back(Sint(0), d);
  range[static_cast<std::size_t>(axis)] = {first, (blocks - 1) * q + first + 1};
  std::vector<std::int64_t> steps(range.size(), 1);
  steps[static_cast<std::size_t>(axis)] = q;
  return x.shrink(range).stride(steps);
}

}  // namespace

std::optional<Tensor> resampled_open(const Tensor& x, int axis, const Resampling& resampling, double scale, std::string* why) {
  const Sint in = x.dim(axis);
  const std::optional<Fraction> f = fraction_of(scale);
  *why = f ? size_in_definition(resampling, in, *f, scale)
           : "scale " + std::to_string(scale) + " is no fraction of numbers up to " + std::to_string(kMostPhases);
  if (!why->empty()) return std::nullopt;
  for (std::int64_t n = in.min(); n <= in.max(); n++) {
    if (output_size(n, scale) == n * f->p / f->q) continue;
    *why = "scale " + std::to_string(scale) + " makes " + std::to_string(output_size(n, scale)) + " elements of " + std::to_string(n);
    return std::nullopt;
  }
  const auto phases = phases_of(resampling, in, *f);
  std::int64_t before = 0, after = 0;
  bool equal = true;  // every phase takes the same element
  for (const std::vector<Tap>& taps : phases.value_or(std::vector<std::vector<Tap>>{})) {
    for (const Tap& tap : taps) {
      before = std::max(before, -tap.position);
      after = std::max(after, tap.position - (f->q - 1));
    }
    equal = equal && taps.size() == 1 && taps[0].weight == 1 && taps[0].position == phases->front()[0].position;
  }
  if (!phases) *why = "the positions that scale " + std::to_string(scale) + " reads do not repeat";
  if (phases && resampling.exclude_outside && before + after > 0) *why = "attribute exclude_outside weighs the edges differently";
  if (!why->empty()) return std::nullopt;

  const Sint blocks = floordiv(in + (f->q - 1), f->q);
  // After the last block there may be up to q - 1 elements, which are read only by phases that are cut off.
  const Tensor padded = with_edges(x, axis, before, after + (f->q - 1));
  const auto phase = [&](const std::vector<Tap>& taps) {
    Tensor sum;
    for (const Tap& tap : taps) {
      Tensor part = every(padded, axis, before + tap.position, f->q, blocks);
      if (tap.weight != 1) part = part * number(part, tap.weight);
      sum = sum ? sum + part : part;
    }
    return sum.unsqueeze(axis + 1);
  };
  Shape wide = x.shape(), result = x.shape();
  wide[static_cast<std::size_t>(axis)] = blocks;
  wide.insert(wide.begin() + axis + 1, Sint(f->p));
  result[static_cast<std::size_t>(axis)] = blocks * f->p;
  std::vector<Tensor> parts;
  for (std::int64_t j = 0; j < (equal ? 1 : f->p); j++) parts.push_back(phase((*phases)[static_cast<std::size_t>(j)]));
  const Tensor all = (equal ? parts[0].expand(wide) : Tensor::cat(parts, axis + 1)).reshape(result);
  Padding range;
  for (const Sint& d : result) range.emplace_back(Sint(0), d);
  range[static_cast<std::size_t>(axis)].second = floordiv(in * f->p, f->q);
  return all.shrink(range);
}

}  // namespace etch::operators
