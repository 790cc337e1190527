#include "lazy/affine.h"

#include <algorithm>
#include <optional>

namespace etch {

const LazyBuffer* affine_view(LazyGraph& graph, const LazyBuffer* x, const std::vector<Sint>& begin, const std::vector<AxisStep>& axes) {
  std::vector<Sint> shape;
  for (const AxisStep& a : axes) shape.push_back(a.size);
  if (is_empty(shape)) return graph.constant(Scalar::of_int(x->dtype, 0), shape);
  std::vector<View> views = x->st.views();
  View last = views.back();
  // An axis that is taken unchanged may keep its mask.
  const auto as_it_is = [&](std::size_t axis) {
    const auto uses = std::ranges::count_if(axes, [&](const AxisStep& a) { return a.axis == static_cast<int>(axis); });
    const auto same = [&](const AxisStep& a) { return a.axis == static_cast<int>(axis) && a.step == 1 && a.size == last.shape[axis]; };
    return uses == 1 && begin[axis].is_int(0) && std::ranges::any_of(axes, same);
  };
  bool fits = true;
  for (std::size_t i = 0; i < last.shape.size() && last.mask; i++) {
    const bool whole = (*last.mask)[i].first.is_int(0) && (*last.mask)[i].second == last.shape[i];
    fits = fits && (whole || as_it_is(i));
  }
  if (fits)
    views.pop_back();
  else
    last = View::create(last.shape);
  Sint offset = last.offset;
  for (std::size_t i = 0; i < begin.size(); i++) offset = offset + begin[i] * last.strides[i];
  std::vector<Sint> strides;
  std::vector<Range> mask;
  for (const AxisStep& a : axes) {
    const auto axis = static_cast<std::size_t>(a.axis);
    strides.push_back(last.strides[axis] * a.step);
    mask.push_back(last.mask && as_it_is(axis) ? (*last.mask)[axis] : Range{0, a.size});
  }
  views.push_back(View::create(shape, strides, offset, last.mask ? std::optional(mask) : std::nullopt));
  return graph.view(x, graph.simplified(ShapeTracker(std::move(views))));
}

std::optional<AffinePositions> affine_positions(std::vector<std::int64_t> positions, int axis) {
  AffinePositions result{positions.at(0), {}};
  while (positions.size() > 1) {
    if (result.axes.size() == 3) return std::nullopt;
    const std::int64_t step = positions[1] - positions[0];
    std::size_t run = 2;
    while (run < positions.size() && positions[run] - positions[run - 1] == step) run++;
    if (positions.size() % run != 0) return std::nullopt;
    std::vector<std::int64_t> outer;
    for (std::size_t i = 0; i < positions.size(); i++) {
      if (i % run == 0)
        outer.push_back(positions[i]);
      else if (positions[i] - positions[i - 1] != step)
        return std::nullopt;
    }
    result.axes.insert(result.axes.begin(), {axis, step, static_cast<std::int64_t>(run)});
    positions = std::move(outer);
  }
  return result;
}

}  // namespace etch
