// Resize and Upsample, all their forms: which axes change, by which scale, with which filter.
#include <algorithm>
#include <cmath>

#include "onnx/operators.h"
#include "onnx/ops_common.h"
#include "onnx/resample.h"

namespace etch::operators {
namespace {

template <class T>
struct Named {
  const char* name;
  T value;
};

constexpr Named<Coordinates> kCoordinates[] = {
    {"half_pixel", Coordinates::HalfPixel},
    {"half_pixel_symmetric", Coordinates::HalfPixelSymmetric},
    {"pytorch_half_pixel", Coordinates::PytorchHalfPixel},
    {"align_corners", Coordinates::AlignCorners},
    {"asymmetric", Coordinates::Asymmetric},
    {"tf_half_pixel_for_nn", Coordinates::TfHalfPixelForNn},
    {"tf_crop_and_resize", Coordinates::TfCropAndResize},
};
constexpr Named<Interpolation> kModes[] = {{"nearest", Interpolation::Nearest},
                                           {"linear", Interpolation::Linear},
                                           {"bilinear", Interpolation::Linear},
                                           {"cubic", Interpolation::Cubic}};
constexpr Named<NearestRounding> kRoundings[] = {
    {"round_prefer_floor", NearestRounding::RoundPreferFloor},
    {"round_prefer_ceil", NearestRounding::RoundPreferCeil},
    {"floor", NearestRounding::Floor},
    {"ceil", NearestRounding::Ceil},
};

template <class T, std::size_t N>
T chosen(NodeContext& node, const Named<T> (&rows)[N], const std::string& attribute, const std::string& fallback) {
  const std::string text = node.attribute_string(attribute, fallback);
  std::string accepted;
  for (const Named<T>& row : rows) {
    if (text == row.name) return row.value;
    accepted += (accepted.empty() ? "" : ", ") + std::string(row.name);
  }
  node.fail("attribute " + attribute + " is '" + text + "'", "accepted are " + accepted);
  return rows[0].value;
}

/// The values of an optional constant input; nullopt if it is absent or empty.
std::optional<Array> optional_values(const NodeContext& node, int i, const std::string& what) {
  if (!node.has_input(i) || node.input(i).size().is_int(0)) return std::nullopt;
  return node.require_constant(i, what);
}

struct Plan {
  Tensor x;
  std::vector<int> axes;            // the axes that are resampled; an axis that keeps its size is left out
  std::vector<ResampledAxis> each;  // for each of these axes
};

void check_count(const NodeContext& node, const std::string& what, std::size_t found, std::size_t wanted) {
  if (found != wanted) node.fail("its " + what + " has " + std::to_string(found) + " elements, it must have " + std::to_string(wanted));
}

/// `x` with its axes of open size resampled; their scales become 1.
Tensor open_axes_resampled(const NodeContext& node, Tensor x, const std::vector<int>& axes, std::vector<double>& scales,
                           const Resampling& resampling) {
  check_count(node, "scales", scales.size(), axes.size());
  const DType dtype = x.dtype();
  for (std::size_t i = 0; i < axes.size(); i++) {
    const Sint size = x.dim(axes[i]);
    if (size.is_int() || !(scales[i] > 0) || scales[i] == 1) continue;
    std::string why;
    std::optional<Tensor> result;
    if (is_float(dtype) || resampling.interpolation == Interpolation::Nearest) {
      result = resampled_open(resampling.interpolation == Interpolation::Nearest ? x : widened(x), axes[i], resampling, scales[i], &why);
    } else {
      why = "integers are interpolated along axes of fixed size only";
    }
    if (!result) node.fail("axis " + std::to_string(axes[i]) + " has the open size " + to_text(size) + ": " + why, node.size_help({size}));
    x = *result;
    scales[i] = 1;
  }
  return x.cast(dtype);
}

/// Output sizes from scales: rounded down, in float32 as the scales are.
Plan plan_scales(const NodeContext& node, const Tensor& x, const std::vector<int>& axes, const std::vector<double>& scales) {
  check_count(node, "scales", scales.size(), axes.size());
  Plan plan{x, {}, {}};
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (!(scales[i] > 0)) node.fail("a scale is " + std::to_string(scales[i]), "scales are above 0");
    ResampledAxis axis{1, 1, nearest_fraction(scales[i])};
    if (scales[i] == 1 && !x.dim(axes[i]).is_int()) continue;
    axis.in = fixed_dim(node, x, axes[i], "input");
    const float out = std::floor(static_cast<float>(axis.in) * static_cast<float>(scales[i]));
    if (!(out < 1e15f)) node.fail("a scale is " + std::to_string(scales[i]), "give a smaller one");
    axis.out = static_cast<std::int64_t>(out);
    plan.axes.push_back(axes[i]);
    plan.each.push_back(axis);
  }
  return plan;
}

Plan plan_sizes(NodeContext& node, const Tensor& x, const std::vector<int>& axes, int input) {
  const std::vector<Sint> sizes = node.require_dims(input, "sizes");
  check_count(node, "sizes", sizes.size(), axes.size());
  const std::string policy = node.opset() >= 18 ? node.attribute_string("keep_aspect_ratio_policy", "stretch") : "stretch";
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    node.fail("attribute keep_aspect_ratio_policy is '" + policy + "'", "accepted are stretch, not_larger and not_smaller");
  }
  Plan plan{x, {}, {}};
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (sizes[i] == x.dim(axes[i]) && policy == "stretch" && !sizes[i].is_int()) continue;
    if (!sizes[i].is_int())
      node.fail("output size " + std::to_string(i) + " is the open " + to_text(sizes[i]) + ", a number is needed; Resize by scales works",
                node.size_help({sizes[i]}));
    const std::int64_t in = fixed_dim(node, x, axes[i], "input"), out = sizes[i].as_int();
    if (out < 1 || in < 1) node.fail("it makes " + std::to_string(out) + " elements of " + std::to_string(in), "sizes are at least 1");
    plan.axes.push_back(axes[i]);
    plan.each.push_back({in, out, static_cast<double>(out) / static_cast<double>(in)});
  }
  if (policy == "stretch" || plan.each.empty()) return plan;
  const auto by_scale = [](const ResampledAxis& a, const ResampledAxis& b) { return a.scale < b.scale; };
  const auto [least, largest] = std::minmax_element(plan.each.begin(), plan.each.end(), by_scale);
  const double scale = policy == "not_larger" ? least->scale : largest->scale;
  for (ResampledAxis& axis : plan.each) {
    axis.scale = scale;
    axis.out = static_cast<std::int64_t>(scale * static_cast<double>(axis.in) + 0.5);
  }
  return plan;
}

constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;  // a scale that gives a longer axis must be a mistake

/// One axis with its taps.
struct Step {
  int axis;
  std::vector<std::vector<Tap>> taps;
};

/// The type in which integers are resampled exactly, and the factor that their sums then have.
struct Exact {
  DType dtype = DType::Float64;
  std::int64_t factor = 1;
  double bound = 0;  // of the sums' absolute values
};

/// Scales the weights of all steps to whole numbers if sums of such products fit into an integer type with a bit to spare; else leaves
/// them and returns float64.
Exact make_whole(DType dtype, std::vector<Step>& steps) {
  if (bytes_of(dtype) == 8) return {};
  Exact exact;
  exact.bound = static_cast<double>(int_max(dtype)) + 1;
  std::vector<std::int64_t> factors;
  for (const Step& step : steps) {
    factors.push_back(common_denominator(step.taps));
    if (factors.back() == 0) return {};
    double most = 1;
    for (const std::vector<Tap>& position : step.taps) {
      double total = 0;
      for (const Tap& tap : position) total += std::abs(tap.weight);
      most = std::max(most, total);
    }
    exact.bound *= most * static_cast<double>(factors.back());
    if (exact.bound > 0x1p58) return {};
    exact.factor *= factors.back();
  }
  exact.dtype = exact.bound < 0x1p30 ? DType::Int32 : DType::Int64;
  for (std::size_t i = 0; i < steps.size(); i++) {
    for (std::vector<Tap>& position : steps[i].taps) {
      for (Tap& tap : position) tap.weight = std::round(tap.weight * static_cast<double>(factors[i]));
    }
  }
  return exact;
}

/// sum / factor to the nearest whole number, half to even, within the type.
Tensor rounded(const Tensor& sum, const Exact& exact, DType dtype) {
  if (is_float(exact.dtype)) {
    const Tensor whole = sum.unary(Op::Rint);
    if (bytes_of(dtype) == 8) return whole.cast(dtype);
    return whole.clip(static_cast<double>(int_min(dtype)), static_cast<double>(int_max(dtype))).cast(dtype);
  }
  const auto whole = [&](std::int64_t value) { return integer(sum.graph(), DType::Int64, value); };
  // floor((sum + factor / 2) / factor) as a division of positive numbers: an even multiple of the factor is added before.
  std::int64_t offset = 2;
  while (static_cast<double>(offset) * static_cast<double>(exact.factor) < exact.bound) offset *= 2;
  const Tensor top = sum.cast(DType::Int64) * whole(2) + whole(exact.factor + 2 * exact.factor * offset);
  const Tensor quotient = top / whole(2 * exact.factor);
  const Tensor tie = (quotient * whole(2 * exact.factor)).equal(top), odd = Tensor::binary(Op::And, quotient, whole(1));
  const Tensor result = quotient - tie.where(odd, whole(0)) - whole(offset);
  return result.maximum(whole(int_min(dtype))).minimum(whole(int_max(dtype))).cast(dtype);
}

/// Resampling of integers. Linear truncates, as ONNX Runtime does; filters that can overshoot, and antialias, round and saturate, as
/// ONNX's reference does. Both start from the exact value, so that a constant image stays constant on every backend.
Tensor integers_resampled(const Tensor& x, std::vector<Step> steps, bool rounds) {
  const Exact exact = make_whole(x.dtype(), steps);
  Tensor sum = x.cast(exact.dtype);
  for (const Step& step : steps) sum = resampled(sum, step.axis, step.taps);
  if (rounds) return rounded(sum, exact, x.dtype());
  if (!is_float(exact.dtype)) return (sum / integer(sum, exact.factor)).cast(x.dtype());
  constexpr double kAlmost = 0x1p-30;  // added so that a rounding error of double can't make the truncated value one less
  return (sum < 0.0).where(sum - kAlmost, sum + kAlmost).cast(x.dtype());
}

Tensor apply(const NodeContext& node, const Plan& plan, const Resampling& resampling, double outside) {
  const Tensor x = plan.x;
  std::vector<Step> steps;
  Shape shape = x.shape();
  for (std::size_t i = 0; i < plan.axes.size(); i++) {
    const ResampledAxis& axis = plan.each[i];
    if (axis.out > kLongestAxis || (resampling.antialias && axis.in > kLongestAxis)) {
      node.fail("an axis of " + std::to_string(axis.in) + " elements becomes one of " + std::to_string(axis.out),
                "up to " + std::to_string(kLongestAxis) + " are accepted");
    }
    shape[static_cast<std::size_t>(plan.axes[i])] = axis.out;
    if (axis.in == axis.out && axis.scale == 1 && resampling.coordinates != Coordinates::TfCropAndResize) continue;
    steps.push_back({plan.axes[i], taps_of(resampling, axis)});
  }
  if (std::any_of(shape.begin(), shape.end(), [](const Sint& d) { return d.is_int(0); }))
    return Tensor::full(x.graph(), shape, Scalar::of_int(x.dtype(), 0));
  const bool nearest = resampling.interpolation == Interpolation::Nearest;
  Tensor result = nearest || !is_float(x.dtype()) ? x : widened(x);
  if (nearest || is_float(x.dtype())) {
    for (const Step& step : steps) result = resampled(result, step.axis, step.taps);
    result = result.cast(x.dtype());
  } else if (!steps.empty()) {
    result = integers_resampled(x, steps, resampling.antialias || resampling.interpolation == Interpolation::Cubic);
  }
  for (const Step& step : steps) {
    if (const auto there = inside(x.graph(), step.axis, x.rank(), step.taps)) result = there->where(result, number(x, outside));
  }
  return result;
}

/// Resizes by constant scales: first along axes of open size, then along the others.
Tensor resized_by(const NodeContext& node, const Tensor& x, const std::vector<int>& axes, std::vector<double> scales,
                  const Resampling& resampling, double outside) {
  const Tensor open = open_axes_resampled(node, x, axes, scales, resampling);
  return apply(node, plan_scales(node, open, axes, scales), resampling, outside);
}

std::vector<int> all_axes(const Tensor& x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); axis++) axes.push_back(axis);
  return axes;
}

Resampling old_form(NodeContext& node) {
  Resampling resampling;
  resampling.interpolation = chosen(node, kModes, "mode", "nearest");
  if (resampling.interpolation == Interpolation::Cubic) node.fail("attribute mode is 'cubic'", "opset 11 is the first that defines it");
  resampling.coordinates = Coordinates::Asymmetric;
  resampling.rounding = NearestRounding::Simple;
  return resampling;
}

/// Reads the region of interest: the starts of all axes, then the ends.
void set_roi(const NodeContext& node, Plan& plan, const std::vector<int>& axes) {
  const std::optional<Array> roi = optional_values(node, 1, "roi");
  if (!roi) node.fail("attribute coordinate_transformation_mode is tf_crop_and_resize, but there is no roi", "give the input roi");
  check_count(node, "roi", static_cast<std::size_t>(roi->size()), 2 * axes.size());
  for (std::size_t i = 0; i < plan.axes.size(); i++) {
    const auto at = std::find(axes.begin(), axes.end(), plan.axes[i]) - axes.begin();
    plan.each[i].roi_start = roi->double_at(at);
    plan.each[i].roi_end = roi->double_at(at + static_cast<std::int64_t>(axes.size()));
  }
}

}  // namespace

Outputs upsample(NodeContext& node) {
  const Tensor x = node.input(0);
  std::vector<double> scales;
  if (node.opset() >= 9) {
    scales = node.require_constant(1, "scales").doubles();
  } else {
    scales = node.attribute_floats("scales");
  }
  return {resized_by(node, x, all_axes(x), scales, old_form(node), 0)};
}

Outputs resize(NodeContext& node) {
  const Tensor x = node.input(0);
  if (node.opset() < 11) {
    return {resized_by(node, x, all_axes(x), node.require_constant(1, "scales").doubles(), old_form(node), 0)};
  }
  Resampling r;
  r.interpolation = chosen(node, kModes, "mode", "nearest");
  r.coordinates = chosen(node, kCoordinates, "coordinate_transformation_mode", "half_pixel");
  r.rounding = chosen(node, kRoundings, "nearest_mode", "round_prefer_floor");
  r.cubic_coefficient = node.attribute_float("cubic_coeff_a", -0.75);
  r.exclude_outside = node.attribute_int("exclude_outside", 0) != 0 && r.interpolation != Interpolation::Nearest;
  r.antialias = node.opset() >= 18 && node.attribute_int("antialias", 0) != 0 && r.interpolation != Interpolation::Nearest;
  const double outside = node.attribute_float("extrapolation_value", 0.0);

  std::vector<int> axes = all_axes(x);
  if (node.opset() >= 18 && node.has_attribute("axes")) {
    axes_of(node, node.attribute_ints("axes"), x.rank(), "attribute axes");  // refuses an axis that is named twice
    axes.clear();                                                            // in the order given: scales, sizes and roi follow it
    for (std::int64_t axis : node.attribute_ints("axes")) axes.push_back(axis_of(node, axis, x.rank(), "attribute axes"));
  }
  const std::optional<Array> scales = optional_values(node, 2, "scales");
  const bool sizes = node.has_input(3) && !node.input(3).size().is_int(0);
  if (scales.has_value() == sizes)
    node.fail(sizes ? "it has both scales and sizes" : "it has neither scales nor sizes", "give one of them");
  if (!sizes) node.acknowledge("keep_aspect_ratio_policy");  // it is about sizes
  if (!sizes && r.coordinates != Coordinates::TfCropAndResize) return {resized_by(node, x, axes, scales->doubles(), r, outside)};
  Plan plan = sizes ? plan_sizes(node, x, axes, 3) : plan_scales(node, x, axes, scales->doubles());
  if (r.coordinates == Coordinates::TfCropAndResize) set_roi(node, plan, axes);
  return {apply(node, plan, r, outside)};
}

}  // namespace etch::operators
