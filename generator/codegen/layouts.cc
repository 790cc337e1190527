// The order of reduce loops, and of the elements of constants.
#include <algorithm>

#include "base/subscript.h"
#include "codegen/kernel.h"
#include "shape/int_math.h"

namespace etch {
namespace {

// Axes from the outermost loop to the innermost copy.
std::vector<int> reading_order(const Kernel& k) {
  std::vector<int> order;
  const auto add = [&](AxisKind kind) {
    for (int i = 0; i < static_cast<int>(k.axes().size()); i++)
      if (k.axes()[at(i)].kind == kind) order.push_back(i);
  };
  add(AxisKind::Global);
  add(AxisKind::Local);
  add(AxisKind::Group);
  add(AxisKind::Mid);
  for (int axis : reduce_order(k)) order.push_back(axis);
  add(AxisKind::Unroll);
  add(AxisKind::Upcast);
  add(AxisKind::Vector);
  add(AxisKind::Tensor);
  return order;
}

// Where an element of a moving axis lies in the old order.
struct Moving {
  int axis;
  std::int64_t size, stride;
};

// The tiles along `tiles` overlap, and in the new order each has elements of its own: those that two share are there twice. The old order
// is seen as two copies of the axis, the second one as far behind as the last tile: element i of the new axis is i % first of copy i /
// first.
ShapeTracker with_own_tiles(const Kernel& k, std::size_t tiles, const std::vector<Moving>& moving, std::int64_t first_element) {
  const Axis& a = k.axes()[at(moving[tiles].axis)];
  const std::int64_t first = (a.size.as_int() - 1) * a.tile_size, last_start = first - a.overlap;  // elements before the last tile
  const std::int64_t unit = moving[tiles].stride / a.tile_size;
  const auto is_part = [&](const Moving& m) {  // of a tile, or the tiles themselves
    const Axis& other = k.axes()[at(m.axis)];
    return other.dim == a.dim && other.multiplier <= a.multiplier && other.multiplier * a.tile_size >= a.multiplier;
  };
  std::int64_t inner = 1;
  for (const Moving& m : moving) inner *= is_part(m) ? 1 : m.size;
  std::vector<Sint> copies{2, first}, copy_strides{last_start * unit, unit}, shape, strides;
  std::int64_t rest = inner;
  for (const Moving& m : moving) {
    shape.emplace_back(m.size);
    if (is_part(m)) {
      strides.emplace_back(inner * (m.stride / unit));
      continue;
    }
    rest /= m.size;
    copies.emplace_back(m.size);
    copy_strides.emplace_back(m.stride);
    strides.emplace_back(rest);
  }
  return ShapeTracker({View::create(copies, copy_strides, first_element), View::create(shape, strides)});
}

std::optional<Layout> layout_of(const Kernel& k, const KernelBuf& b) {
  std::vector<Moving> moving;
  std::optional<std::size_t> tiles;  // of `moving`: the axis whose tiles overlap
  std::int64_t before = -1;
  bool is_sorted = true;
  for (int axis : reading_order(k)) {
    const auto stride = k.stride(b, axis);
    const Axis& a = k.axes()[at(axis)];
    if (!stride || !stride->is_int() || !a.size.is_int()) return std::nullopt;
    if (stride->is_int(0) || a.size.is_int(1)) continue;
    if (a.dim >= k.ast_dims() || (a.overlap > 0 && (tiles || !repeats_few(a.size.as_int() * a.tile_size - a.overlap, a.tile_size))))
      return std::nullopt;                                                    // padded, or much would be there twice
    if (k.lanes_rest() && k.lanes_rest()->dim == a.dim) return std::nullopt;  // the axes do not reach all of it
    if (a.overlap > 0 && stride->as_int() < 0) return std::nullopt;           // outputs backwards: nobody writes that
    if (a.overlap > 0) tiles = moving.size();
    moving.push_back({axis, a.size.as_int(), stride->as_int()});
    is_sorted = is_sorted && stride->as_int() > 0 && (before < 0 || stride->as_int() < before);
    before = stride->as_int();
  }
  const bool in_words = k.tensor() && k.instruction().words && b.op == k.tensor()->b;
  if (is_sorted && !in_words) return std::nullopt;
  const std::int64_t first = b.st.views()[0].offset.as_int();  // not 0 where axes run backwards
  std::vector<Sint> shape, old_strides;
  for (const Moving& m : moving) shape.emplace_back(m.size), old_strides.emplace_back(m.stride);
  Layout layout{std::vector<std::int64_t>(k.axes().size(), 0),
                tiles ? with_own_tiles(k, *tiles, moving, first) : ShapeTracker({View::create(shape, old_strides, first)}), in_words};
  std::int64_t stride = 1;
  for (auto it = moving.rbegin(); it != moving.rend(); it++) {
    layout.strides[at(it->axis)] = stride;
    stride *= it->size;
  }
  return layout;
}

// How far apart the elements are that follow each other along `axis`, of what has one element for all lanes: of an image, not of weights.
std::int64_t distance_along(const Kernel& k, int axis) {
  const int lane = static_cast<int>(k.axes().size()) - 1;
  std::int64_t distance = 0;
  for (const KernelBuf& b : k.bufs()) {
    if (b.op->op != Op::Load || !is_step(k.stride(b, lane), 0)) continue;
    distance = std::max(distance, k.view_stride(b, axis).max());
  }
  return distance;
}

}  // namespace

std::vector<int> reduce_order(const Kernel& k) {
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(k.axes().size()); i++)
    if (k.axes()[at(i)].kind == AxisKind::Reduce) order.push_back(i);
  const auto behind_masks = std::ranges::stable_partition(
      order, [&](int axis) { return std::ranges::any_of(k.bufs(), [&](const KernelBuf& b) { return k.is_masked(b, axis); }); });
  if (k.lanes() == 1 || k.is_staged() || k.tensor()) return order;
  const auto is_farther = [&](int a, int b) { return distance_along(k, a) > distance_along(k, b); };
  std::ranges::stable_sort(order.begin(), behind_masks.begin(), is_farther);
  std::ranges::stable_sort(behind_masks, is_farther);
  return order;
}

bool can_be_laid_out(const Kernel& k, const KernelBuf& buf, const std::vector<KernelArgument>& arguments) {
  const auto index = at(buf.op->mem().index);
  if (!arguments[index].is_constant || is_indexed(buf.op) || k.is_staged()) return false;
  if (k.tensor() && k.tensor()->tail > 0) return false;         // its axes leave out the tail
  if (k.tensor() && k.instruction().is_matrix()) return false;  // work-items share an operand along other axes than their sums
  const auto reads =
      std::ranges::count_if(k.bufs(), [&](const KernelBuf& b) { return b.op->op == Op::Load && at(b.op->mem().index) == index; });
  return reads == 1 && arguments[index].elements.is_int() && buf.st.shows_each_once(arguments[index].elements.as_int());
}

std::vector<std::optional<Layout>> choose_layouts(const Kernel& k, const std::vector<KernelArgument>& arguments) {
  std::vector<std::optional<Layout>> layouts(arguments.size());
  for (const KernelBuf& b : k.bufs())
    if (b.op->op == Op::Load && can_be_laid_out(k, b, arguments)) layouts[at(b.op->mem().index)] = layout_of(k, b);
  return layouts;
}

}  // namespace etch
