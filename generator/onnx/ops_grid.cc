// Sampling at positions that are known when the model runs, and the grids of such positions.
#include <algorithm>

#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

enum class Outside { Zeros, Border, Reflection };
enum class Sampling { Nearest, Linear, Cubic };

constexpr double kCubicCoefficient = -0.75;

/// One spatial axis.
struct Axis {
  std::int64_t size = 1;
  bool align_corners = false;

  double low() const { return align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size) - (align_corners ? 1 : 0.5); }
};

struct GridTap {
  Tensor position, weight;  // weight empty: 1
};

/// Converts coordinates in [-1, 1] to positions; -1 and 1 are the centres of the first and last elements, or their outer borders.
Tensor denormalised(const Tensor& x, const Axis& axis) {
  const double size = static_cast<double>(axis.size);
  if (axis.align_corners) return (x + 1.0) * ((size - 1) / 2);
  return ((x + 1.0) * size - 1.0) * 0.5;
}

/// `x` reflected at low and high until it lies between them.
Tensor reflected(const Tensor& x, const Axis& axis) {
  const double range = axis.high() - axis.low();
  if (range == 0) return x.full_like(axis.low());
  const Tensor distance = x - axis.low();
  const Tensor times = (distance * (1 / range)).floor();
  const Tensor rest = distance - times * range;
  const Tensor odd = (times * 0.5).floor() * 2.0 < times;
  return odd.where(rest.neg() + axis.high(), rest + axis.low());
}

/// The coordinate from which taps are counted. Cubic taps are moved into the image one by one (with_axis), so that their weights are
/// those of the original coordinate.
Tensor bounded(const Tensor& x, const Axis& axis, Outside outside, Sampling sampling) {
  switch (outside) {
    case Outside::Zeros:
      return x;
    case Outside::Border:
      return sampling == Sampling::Cubic ? x : x.clip(0, static_cast<double>(axis.size - 1));
    case Outside::Reflection:
      return reflected(x, axis);
  }
  return x;
}

/// ((a x + b) x + c) x + d
Tensor polynomial(const Tensor& x, double a, double b, double c, double d) { return ((x * a + b) * x + c) * x + d; }

std::vector<GridTap> taps_of(const Tensor& coordinate, Sampling sampling) {
  if (sampling == Sampling::Nearest) return {{coordinate, Tensor()}};
  const Tensor base = coordinate.floor();
  const Tensor right = coordinate - base, left = right.neg() + 1.0;
  if (sampling == Sampling::Linear) return {{base, left}, {base + 1.0, right}};
  constexpr double a = kCubicCoefficient;
  const auto inner = [&](const Tensor& t) { return polynomial(t, a + 2, -(a + 3), 0, 1); };
  const auto outer = [&](const Tensor& t) { return polynomial(t + 1.0, a, -5 * a, 8 * a, -4 * a); };
  return {{base - 1.0, outer(right)}, {base, inner(right)}, {base + 1.0, inner(left)}, {base + 2.0, outer(left)}};
}

/// One element that an output element reads: a combination of one tap of each axis.
struct Corner {
  Tensor index;   // flat position in a plane
  Tensor inside;  // empty: always
  Tensor weight;  // empty: 1
};

Tensor both(const Tensor& a, const Tensor& b, Op op) { return a && b ? Tensor::binary(op, a, b) : a ? a : b; }

Corner with_axis(const Corner& corner, const GridTap& tap, const Axis& axis, Outside outside) {
  const double last = static_cast<double>(axis.size - 1);
  Tensor position = tap.position, inside;
  if (outside == Outside::Zeros) {
    inside = Tensor::binary(Op::And, position.full_like(-0.5) < position, position < position.full_like(last + 0.5));
  } else if (outside == Outside::Reflection) {
    position = reflected(position, axis).unary(Op::Rint);
  }
  const Tensor index = position.clip(0, last).cast(DType::Int32);
  return {corner.index ? corner.index * integer(index, axis.size) + index : index, both(corner.inside, inside, Op::And),
          both(corner.weight, tap.weight, Op::Mul)};
}

/// All combinations of the axes' taps.
std::vector<Corner> corners_of(const std::vector<std::vector<GridTap>>& taps, const std::vector<Axis>& axes, Outside outside) {
  std::vector<Corner> corners{Corner{}};
  for (std::size_t a = 0; a < axes.size(); a++) {
    std::vector<Corner> longer;
    for (const Corner& corner : corners) {
      for (const GridTap& tap : taps[a]) longer.push_back(with_axis(corner, tap, axes[a], outside));
    }
    corners = std::move(longer);
  }
  return corners;
}

/// x [N, C, P] at corner.index [N, Q] -> [N, C, Q]
Tensor sample(const Tensor& x, const Corner& corner, DType compute) {
  const Shape wide{x.dim(0), x.dim(1), corner.index.dim(1)};
  Tensor value = x.gather_elements(2, corner.index.unsqueeze(1).expand(wide));
  if (corner.inside) value = corner.inside.unsqueeze(1).where(value, integer(value, 0));
  return corner.weight ? value.cast(compute) * corner.weight.cast(compute).unsqueeze(1) : value;
}

}  // namespace

/// x [N, C, d...] at grid [N, o..., axes] -> [N, C, o...]; the grid's last axis begins with the last spatial axis.
Outputs grid_sample(NodeContext& node) {
  require_inputs(node, 2, 2);
  const Tensor x = node.input(0), grid = node.input(1);
  const std::string mode = node.attribute_string("mode", node.opset() < 20 ? "bilinear" : "linear");
  const std::string padding = node.attribute_string("padding_mode", "zeros");
  const bool align_corners = node.attribute_int("align_corners", 0) != 0;
  const Sampling sampling = mode == "nearest"                      ? Sampling::Nearest
                            : mode == "bicubic" || mode == "cubic" ? Sampling::Cubic
                                                                   : Sampling::Linear;
  if (sampling == Sampling::Linear && mode != "bilinear" && mode != "linear")
    node.fail("attribute mode is '" + mode + "'", "accepted are nearest, linear and cubic");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    node.fail("attribute padding_mode is '" + padding + "'", "accepted are zeros, border and reflection");
  const Outside outside = padding == "zeros" ? Outside::Zeros : padding == "border" ? Outside::Border : Outside::Reflection;
  const int count = x.rank() - 2;
  if (count < 1 || count > 3 || grid.rank() != x.rank() || !grid.dim(-1).is_int(count) || !(grid.dim(0) == x.dim(0)) ||
      !is_float(grid.dtype())) {
    node.fail("its input has the shape " + shape_text(x.shape()) + " and its grid " + shape_text(grid.shape()),
              "they are [N, C, d...] and [N, o..., number of axes]");
  }
  if (sampling != Sampling::Nearest && !is_float(x.dtype()))
    node.fail("attribute mode is '" + mode + "' with " + std::string(name_of(x.dtype())), "accepted is nearest, or a float input");

  Sint points = 1, plane = 1;
  Shape result{x.dim(0), x.dim(1)};
  for (int axis = 1; axis <= count; axis++) {
    points = points * grid.dim(axis);
    result.push_back(grid.dim(axis));
  }
  const Tensor places = widened(grid).reshape({grid.dim(0), points, count});
  std::vector<Axis> axes;
  std::vector<std::vector<GridTap>> taps;
  for (int a = 0; a < count; a++) {
    axes.push_back({fixed_dim(node, x, a + 2, "input"), align_corners});
    plane = plane * x.dim(a + 2);
    const std::int64_t column = count - 1 - a;
    Tensor coordinate = denormalised(places.slice(2, column, column + 1).squeeze({2}), axes.back());
    if (sampling == Sampling::Nearest) coordinate = coordinate.unary(Op::Rint);
    taps.push_back(taps_of(bounded(coordinate, axes.back(), outside, sampling), sampling));
  }
  const Tensor planes = x.reshape({x.dim(0), x.dim(1), plane});
  const DType compute = x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  Tensor sum;
  for (const Corner& corner : corners_of(taps, axes, outside)) {
    const Tensor part = sample(planes, corner, compute);
    sum = sum ? sum + part : part;
  }
  return {sum.cast(x.dtype()).reshape(result)};
}

/// The positions in [-1, 1] that an affine map theta [N, axes, axes + 1] gives to the elements of `size`: [N, d..., axes].
Outputs affine_grid(NodeContext& node) {
  require_inputs(node, 2, 2);
  const Tensor theta = node.input(0);
  const std::vector<std::int64_t> size = node.require_constant(1, "size").ints();
  const bool align_corners = node.attribute_int("align_corners", 0) != 0;
  const auto count = static_cast<std::int64_t>(size.size()) - 2;
  if ((count != 2 && count != 3) || theta.rank() != 3 || !theta.dim(0).is_int(size[0]) || !theta.dim(1).is_int(count) ||
      !theta.dim(2).is_int(count + 1)) {
    node.fail("its theta has the shape " + shape_text(theta.shape()) + " and its size is " + list_text(size),
              "they are [N, 2, 3] and [N, C, H, W], or [N, 3, 4] and [N, C, D, H, W]");
  }
  std::int64_t points = 1;
  for (std::size_t a = 2; a < size.size(); a++) {
    if (size[a] < 1) node.fail("its size is " + list_text(size), "sizes are at least 1");
    if (size[a] > (std::int64_t{1} << 24) / points) node.fail("its size is " + list_text(size), "up to 2^24 points are accepted");
    points *= size[a];
  }
  std::vector<double> places;  // [points, axes + 1]: last axis first, then 1
  for (std::int64_t point = 0; point < points; point++) {
    std::int64_t rest = point;
    for (std::size_t a = size.size(); a-- > 2; rest /= size[a]) {
      const double i = static_cast<double>(rest % size[a]), n = static_cast<double>(size[a]);
      places.push_back(!align_corners ? (2 * i + 1) / n - 1 : size[a] > 1 ? 2 * i / (n - 1) - 1 : 0);
    }
    places.push_back(1);
  }
  const Tensor base = float_constant(node.graph(), theta.dtype(), {points, count + 1}, places);
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(count);
  return {base.matmul(theta.transpose()).reshape(shape)};
}

}  // namespace etch::operators
