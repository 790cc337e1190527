// The order of reduce loops, and of the elements of constants.
#include <algorithm>

#include "base/subscript.h"
#include "codegen/kernel.h"

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

std::optional<Layout> layout_of(const Kernel& k, const KernelBuf& b) {
  std::vector<Sint> shape, old_strides;
  std::vector<int> moving;
  std::int64_t before = -1;
  bool is_sorted = true;
  for (int axis : reading_order(k)) {
    const auto stride = k.stride(b, axis);
    if (!stride || !stride->is_int() || !k.axes()[at(axis)].size.is_int()) return std::nullopt;
    if (stride->is_int(0) || k.axes()[at(axis)].size.is_int(1)) continue;
    if (k.axes()[at(axis)].dim >= k.ast_dims() || k.axes()[at(axis)].overlap > 0) return std::nullopt;  // padded, or read twice
    if (k.lanes_rest() && k.lanes_rest()->dim == k.axes()[at(axis)].dim) return std::nullopt;           // the axes do not reach all of it
    moving.push_back(axis);
    shape.push_back(k.axes()[at(axis)].size);
    old_strides.push_back(*stride);
    is_sorted = is_sorted && (before < 0 || stride->as_int() < before);
    before = stride->as_int();
  }
  const bool in_words = k.tensor() && k.instruction().words && b.op == k.tensor()->b;
  if (is_sorted && !in_words) return std::nullopt;
  Layout layout{std::vector<std::int64_t>(k.axes().size(), 0), ShapeTracker({View::create(shape, old_strides)}), in_words};
  std::int64_t stride = 1;
  for (auto it = moving.rbegin(); it != moving.rend(); it++) {
    layout.strides[at(*it)] = stride;
    stride *= k.axes()[at(*it)].size.as_int();
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
  return reads == 1 && arguments[index].elements.is_int() && buf.st.shows_all_once(arguments[index].elements.as_int());
}

std::vector<std::optional<Layout>> choose_layouts(const Kernel& k, const std::vector<KernelArgument>& arguments) {
  std::vector<std::optional<Layout>> layouts(arguments.size());
  for (const KernelBuf& b : k.bufs())
    if (b.op->op == Op::Load && can_be_laid_out(k, b, arguments)) layouts[at(b.op->mem().index)] = layout_of(k, b);
  return layouts;
}

}  // namespace etch
