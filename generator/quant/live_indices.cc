#include "quant/live_indices.h"

#include <algorithm>

#include "base/toposort.h"
#include "quant/collapse.h"
#include "quant/dead_channels.h"
#include "shape/axis_links.h"

namespace etch {
namespace {

constexpr std::int64_t kLongestAxis = 1 << 16;
constexpr std::int64_t kLargestConstant = 1 << 24;  // elements of which some are taken

bool is_reduced(const LazyBuffer* reduction, int axis) { return std::ranges::find(reduction->axes, axis) != reduction->axes.end(); }

}  // namespace

LiveIndices::LiveIndices(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t tile)
    : graph_(graph), ranges_(graph) {
  const std::vector<const LazyBuffer*> order = toposort<LazyBuffer>(outputs, sources);
  for (const LazyBuffer* b : order)
    if (!b->base->constant) ranges_.of(b);  // from the sources up
  for (const LazyBuffer* b : order) {
    if (!is_known(b)) visit(b);
    found_any_ = found_any_ || (!b->constant && is_known(b));
  }
  for (const LazyBuffer* b : outputs) need_all(b);
  settle();
  fill_tiles(tile);
  for (const LazyBuffer* exit : exits_)
    for (const int axis : exit->axes) found_any_ = found_any_ || has_dead(exit->src[0], axis);
}

void LiveIndices::settle() {
  for (bool again = true; again;) {
    again = false;
    for (auto exit = exits_.rbegin(); exit != exits_.rend(); exit++) again = need_for(*exit) || again;
  }
}

// Few of them fill half a tile, for which long instructions have another form.
void LiveIndices::fill_tiles(std::int64_t tile) {
  for (auto exit = exits_.rbegin(); exit != exits_.rend(); exit++) {
    const LazyBuffer* x = (*exit)->src[0];
    for (const int axis : (*exit)->axes) {
      if (!has_dead(x, axis)) continue;
      const std::vector<bool> live = of(x, axis);
      const std::int64_t left = std::ranges::count(live, true);
      const std::int64_t filled = tile > kChannelTile && left <= tile / 2 ? tile / 2 : tile;
      std::int64_t more = left == 0 ? 0 : (filled - left % filled) % filled;
      for (std::size_t i = 0; i < live.size() && more > 0; i++) {
        if (live[i]) continue;
        needed_[static_cast<std::size_t>(root(first(x, axis) + static_cast<int>(i)))] = true;
        more--;
      }
      settle();
    }
  }
}

bool LiveIndices::is_known(const LazyBuffer* buffer) {
  const LazyBuffer* base = buffer->base;
  if (base->constant) return true;
  const bool computes = base->kind == LazyKind::Compute || base->kind == LazyKind::Gather;
  if (!computes || is_float(base->dtype) || !base->st.size().is_int()) return false;
  const ValueRange* range = ranges_.of(base);
  return range != nullptr && range->is_point();
}

std::vector<int>& LiveIndices::first(const LazyBuffer* buffer) {
  const auto [found, is_new] = first_.try_emplace(buffer);
  if (!is_new) return found->second;
  for (const Sint& size : buffer->shape()) {
    const bool counts = size.is_int() && size.as_int() > 1 && size.as_int() <= kLongestAxis;
    found->second.push_back(counts ? static_cast<int>(parent_.size()) : -1);
    for (std::int64_t i = 0; counts && i < size.as_int(); i++) parent_.push_back(static_cast<int>(parent_.size()));
  }
  needed_.resize(parent_.size(), false);
  return found->second;
}

int LiveIndices::first(const LazyBuffer* buffer, int axis) const {
  const auto found = first_.find(buffer);
  return found == first_.end() ? -1 : found->second[static_cast<std::size_t>(axis)];
}

int LiveIndices::root(int number) const {
  auto at = [this](int n) -> int& { return parent_[static_cast<std::size_t>(n)]; };
  while (at(number) != number) number = at(number) = at(at(number));
  return number;
}

void LiveIndices::unite(int a, int b) {
  const int x = root(a), y = root(b);
  if (x == y) return;
  const auto low = static_cast<std::size_t>(std::min(x, y)), high = static_cast<std::size_t>(std::max(x, y));
  parent_[high] = static_cast<int>(low);
  needed_[low] = needed_[low] || needed_[high];
}

void LiveIndices::unite_axes(const LazyBuffer* a, int axis_of_a, const LazyBuffer* b, int axis_of_b) {
  const int x = first(a)[static_cast<std::size_t>(axis_of_a)], y = first(b)[static_cast<std::size_t>(axis_of_b)];
  if (x < 0) need(b, axis_of_b);
  if (y < 0) need(a, axis_of_a);
  if (x < 0 || y < 0) return;
  for (std::int64_t i = 0; i < a->shape()[static_cast<std::size_t>(axis_of_a)].as_int(); i++)
    unite(x + static_cast<int>(i), y + static_cast<int>(i));
}

void LiveIndices::need(const LazyBuffer* buffer, int axis) {
  const int start = first(buffer)[static_cast<std::size_t>(axis)];
  if (start < 0) return;
  for (std::int64_t i = 0; i < buffer->shape()[static_cast<std::size_t>(axis)].as_int(); i++)
    needed_[static_cast<std::size_t>(root(start + static_cast<int>(i)))] = true;
}

void LiveIndices::need_all(const LazyBuffer* buffer) {
  for (int axis = 0; axis < static_cast<int>(buffer->shape().size()); axis++) need(buffer, axis);
}

void LiveIndices::visit(const LazyBuffer* buffer) {
  switch (buffer->kind) {
    case LazyKind::View:
      visit_view(buffer);
      break;
    case LazyKind::Compute:
    case LazyKind::Contiguous:
      if (buffer->is_reduction())
        visit_reduction(buffer);
      else
        visit_operation(buffer);
      break;
    case LazyKind::Gather:
      visit_gather(buffer);
      break;
    case LazyKind::Input:
    case LazyKind::Data:
    case LazyKind::Const:
    case LazyKind::Index:
    case LazyKind::State:
    case LazyKind::Carried:
    case LazyKind::LoopResult:
    case LazyKind::External:
      need_all(buffer);
      for (const LazyBuffer* s : buffer->src) need_all(s);
      break;
  }
}

void LiveIndices::visit_view(const LazyBuffer* view) {
  const LazyBuffer* base = view->base;
  std::vector<bool> linked_below(base->shape().size(), false), linked(view->shape().size(), false);
  first(view), first(base);
  for (const AxisLink& link : axis_links(view->st, base->shape())) {
    const int top = first(view, link.axis), below = link.base_axis < 0 ? -1 : first(base, link.base_axis);
    if (top < 0 || (link.base_axis >= 0 && below < 0)) continue;
    linked[static_cast<std::size_t>(link.axis)] = true;
    std::unordered_map<std::int64_t, int> together;
    for (std::size_t i = 0; i < link.from.size(); i++) {
      const int index = top + static_cast<int>(i);
      unite(index, together.try_emplace(link.from[i], index).first->second);
      if (below >= 0 && link.from[i] >= 0) unite(index, below + static_cast<int>(link.from[i]));
    }
    if (link.base_axis >= 0) linked_below[static_cast<std::size_t>(link.base_axis)] = true;
  }
  for (int axis = 0; axis < static_cast<int>(linked.size()); axis++)
    if (!linked[static_cast<std::size_t>(axis)]) need(view, axis);
  for (int axis = 0; axis < static_cast<int>(linked_below.size()); axis++)
    if (!linked_below[static_cast<std::size_t>(axis)]) need(base, axis);
}

bool LiveIndices::can_take(const LazyBuffer* constant) {
  if (!constant->base->constant) return true;  // known by its range
  if (!constant->st.size().is_int()) return false;
  const Sint size = collapsed({&graph_, constant}).size();
  return size.is_int() && size.as_int() <= kLargestConstant;
}

void LiveIndices::visit_operation(const LazyBuffer* base) {
  first(base);
  for (const LazyBuffer* s : base->src) {
    if (is_known(s)) {
      if (!can_take(s)) need_all(base);
      continue;
    }
    for (int axis = 0; axis < static_cast<int>(base->shape().size()); axis++) unite_axes(base, axis, s, axis);
  }
}

void LiveIndices::visit_reduction(const LazyBuffer* reduction) {
  const LazyBuffer* x = reduction->src[0];
  const bool is_sum = reduction->op == Op::ReduceSum && !reduction->scan && reduction->dtype == DType::Int32;
  const bool is_counted =
      std::ranges::all_of(reduction->axes, [x](int axis) { return x->shape()[static_cast<std::size_t>(axis)].is_int(); });
  const bool is_exit = is_sum && is_counted && ranges_.of(x) != nullptr;
  for (int axis = 0; axis < static_cast<int>(reduction->shape().size()); axis++) {
    if (!is_reduced(reduction, axis))
      unite_axes(reduction, axis, x, axis);
    else if (!is_exit)
      need(x, axis), need(reduction, axis);
  }
  if (is_exit) exits_.push_back(reduction);
}

void LiveIndices::visit_gather(const LazyBuffer* gather) {
  const LazyBuffer *rows = gather->src[0], *positions = gather->src[1];
  if (is_known(positions) || !rows->base->constant || !can_take(rows)) {
    need_all(gather);
    for (const LazyBuffer* s : gather->src) need_all(s);
    return;
  }
  for (int axis = 0; axis < static_cast<int>(gather->shape().size()); axis++) unite_axes(gather, axis, positions, axis);
}

bool LiveIndices::need_for(const LazyBuffer* reduction) {
  const LazyBuffer* x = reduction->src[0];
  const ValueRange& range = *ranges_.of(x);
  const std::size_t rank = range.shape.size();
  std::vector<std::vector<bool>> live(rank);
  bool all = true;
  for (std::size_t axis = 0; axis < rank; axis++) {
    live[axis] = of(x, static_cast<int>(axis));
    if (is_reduced(reduction, static_cast<int>(axis))) all = all && std::ranges::find(live[axis], false) == live[axis].end();
  }
  if (all) return false;
  std::vector<std::vector<bool>> wanted = live;
  for_each_index(range.shape, [&](std::size_t i, const std::vector<std::int64_t>& at) {
    if (range.is_point(i)) return;
    for (std::size_t axis = 0; axis < rank; axis++)
      if (range.shape[axis] > 1 && !is_reduced(reduction, static_cast<int>(axis)) && !live[axis][static_cast<std::size_t>(at[axis])])
        return;
    for (const int a : reduction->axes) {
      const auto axis = static_cast<std::size_t>(a);
      if (range.shape[axis] > 1)
        wanted[axis][static_cast<std::size_t>(at[axis])] = true;
      else
        wanted[axis].assign(wanted[axis].size(), true);
    }
  });
  bool more = false;
  for (const int a : reduction->axes) {
    const auto axis = static_cast<std::size_t>(a);
    const int start = first(x, a);
    for (std::size_t i = 0; start >= 0 && i < wanted[axis].size(); i++) {
      if (!wanted[axis][i] || live[axis][i]) continue;
      needed_[static_cast<std::size_t>(root(start + static_cast<int>(i)))] = true;
      more = true;
    }
  }
  return more;
}

std::vector<bool> LiveIndices::of(const LazyBuffer* buffer, int axis) const {
  const Sint& size = buffer->shape()[static_cast<std::size_t>(axis)];
  const int start = first(buffer, axis);
  if (start < 0) return std::vector<bool>(size.is_int() ? static_cast<std::size_t>(size.as_int()) : 1, true);
  std::vector<bool> live;
  for (int i = 0; i < size.as_int(); i++) live.push_back(needed_[static_cast<std::size_t>(root(start + i))]);
  return live;
}

bool LiveIndices::has_dead(const LazyBuffer* buffer, int axis) const {
  const int start = first(buffer, axis);
  for (int i = 0; start >= 0 && i < buffer->shape()[static_cast<std::size_t>(axis)].as_int(); i++)
    if (!needed_[static_cast<std::size_t>(root(start + i))]) return true;
  return false;
}

}  // namespace etch
