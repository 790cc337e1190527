// Resampling along one axis, as Resize and Upsample define it: every output position is a weighted sum of a few input
// positions, all known while generating.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace etch::operators {

enum class Interpolation : std::uint8_t { Nearest, Linear, Cubic };
enum class Coordinates : std::uint8_t {
  HalfPixel,           // (x + 0.5) / scale - 0.5
  HalfPixelSymmetric,  // the same about the centre, where the output size was rounded
  PytorchHalfPixel,    // as HalfPixel, but 0 where the output has one element
  AlignCorners,        // first and last elements keep their places
  Asymmetric,          // x / scale
  TfHalfPixelForNn,    // (x + 0.5) / scale
  TfCropAndResize,     // the region of interest becomes the output
};
enum class NearestRounding : std::uint8_t {
  RoundPreferFloor,
  RoundPreferCeil,
  Floor,
  Ceil,
  Simple,  // before opset 11: up where an axis shrinks, down where it grows
};

struct Resampling {
  Interpolation interpolation = Interpolation::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  NearestRounding rounding = NearestRounding::RoundPreferFloor;
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;  // taps outside of the input get weight 0; else they read the nearest edge
  bool antialias = false;        // a wider filter when shrinking
};

/// One axis: `in` elements become `out`; `scale` is out / in before rounding.
struct ResampledAxis {
  std::int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;  // TfCropAndResize
};

/// One input position that an output position reads, and its weight in the sum.
struct Tap {
  std::int64_t position = 0;
  double weight = 0;
};

/// For each output position its taps, sorted by position, none of weight 0. An output position for which TfCropAndResize is outside of
/// the input has no taps.
std::vector<std::vector<Tap>> taps_of(const Resampling& resampling, const ResampledAxis& axis);
/// `x` resampled along `axis`: the weighted sums of the taps, in the type of `x`. Positions without taps get any value.
Tensor resampled(const Tensor& x, int axis, const std::vector<std::vector<Tap>>& taps);
/// A bool tensor of rank `rank`: which positions along `axis` have taps; nullopt if all have.
std::optional<Tensor> inside(LazyGraph& graph, int axis, int rank, const std::vector<std::vector<Tap>>& taps);
/// A number whose product with every weight is a whole number; 0 if there is none up to 2^20.
std::int64_t common_denominator(const std::vector<std::vector<Tap>>& taps);
/// The fraction of small numbers of which `scale`, a float32, is the rounded value: 3/5 for 0.6f. `scale` itself if there is none.
double nearest_fraction(double scale);
/// x at `positions` along `axis`: a view where the positions are regular, else a gather.
Tensor selected(const Tensor& x, int axis, const std::vector<std::int64_t>& positions);

/// `x` with an axis of open size resampled by `scale`, a fraction of small numbers, so that the pattern of taps repeats along the axis
/// and can be written as views, with the edge elements repeated outside. nullopt if the taps do not repeat, or not for every size;
/// `*why` then gives the reason.
std::optional<Tensor> resampled_open(const Tensor& x, int axis, const Resampling& resampling, double scale, std::string* why);

}  // namespace etch::operators
