#include "shape/axis_links.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "shape/int_math.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

/// One view, in numbers.
struct Box {
  Ints shape, strides, begin, end;  // begin, end: what the mask shows
  std::int64_t offset = 0;
};

/// How an axis goes on through one view: its indices [begin, end) are the indices start, start + 1, ... of the axis below, each `block`
/// times.
struct Step {
  int axis = 0;
  std::int64_t begin = 0, end = 0, start = 0, block = 1;
  std::int64_t unit = 0;  // elements below from one index to the next; 0: the axis begins here
  std::int64_t rest = 0;  // of the first position shown: what is less than a unit, and what is whole rows of the axis below
  std::int64_t rows = 0;
};

/// An axis from where it begins to the top.
struct Thread {
  int base_axis = -1;
  std::size_t first = 0;  // the view that steps[0] goes through
  std::vector<Step> steps;
};

bool are_ints(const std::vector<Sint>& values) {
  return std::ranges::all_of(values, [](const Sint& v) { return v.is_int(); });
}

Ints as_ints(const std::vector<Sint>& values) {
  Ints ints;
  for (const Sint& v : values) ints.push_back(v.as_int());
  return ints;
}

std::optional<Box> box_of(const View& view) {
  if (!are_ints(view.shape) || !are_ints(view.strides) || !view.offset.is_int()) return std::nullopt;
  Box box{as_ints(view.shape), as_ints(view.strides), Ints(view.shape.size(), 0), as_ints(view.shape), view.offset.as_int()};
  if (!view.mask) return box;
  for (std::size_t i = 0; i < box.shape.size(); i++) {
    const auto& [begin, end] = (*view.mask)[i];
    if (!begin.is_int() || !end.is_int() || begin.as_int() >= end.as_int()) return std::nullopt;
    box.begin[i] = begin.as_int();
    box.end[i] = end.as_int();
  }
  return box;
}

/// Whether `axis` of `box` runs along axis `below` of what is below it. All other axes have to stay within one index of that, or to move
/// by whole rows of it.
std::optional<Step> step_along(const Box& box, std::size_t axis, const Ints& shape, std::size_t below) {
  std::int64_t unit = 1;
  for (std::size_t i = below + 1; i < shape.size(); i++) unit *= shape[i];
  const std::int64_t n = shape[below], stride = box.strides[axis];
  if (stride <= 0 || unit % stride != 0) return std::nullopt;
  Step step{.axis = static_cast<int>(axis), .begin = box.begin[axis], .end = box.end[axis], .block = unit / stride, .unit = unit};
  const bool is_whole = step.begin == 0 && step.end == box.shape[axis] && box.shape[axis] == n * step.block;
  if (step.block > 1 && !is_whole) return std::nullopt;
  std::int64_t low = box.offset + step.begin * stride, reach = (step.block - 1) * stride;
  for (std::size_t i = 0; i < box.shape.size(); i++) {
    if (i == axis || box.strides[i] == 0 || box.strides[i] % (unit * n) == 0) continue;
    const std::int64_t a = box.strides[i] * box.begin[i], b = box.strides[i] * (box.end[i] - 1);
    low += std::min(a, b);
    reach += std::max(a, b) - std::min(a, b);
  }
  step.rows = floor_div(low, unit * n);
  const std::int64_t inside = low - step.rows * unit * n;
  step.start = inside / unit;
  step.rest = low - step.rows * unit * n - step.start * unit;
  if (step.rest + reach >= unit || step.start + (step.end - step.begin + step.block - 1) / step.block > n) return std::nullopt;
  return step;
}

/// The levels of a tracker: what is below each view, and the views.
struct Levels {
  std::vector<Ints> below;
  std::vector<Box> boxes;
};

std::optional<Levels> levels_of(const ShapeTracker& st, const std::vector<Sint>& base_shape) {
  if (!are_ints(base_shape)) return std::nullopt;
  Levels levels{{as_ints(base_shape)}, {}};
  for (const View& view : st.views()) {
    std::optional<Box> box = box_of(view);
    if (!box) return std::nullopt;
    levels.below.push_back(box->shape);
    levels.boxes.push_back(*std::move(box));
  }
  levels.below.pop_back();
  return levels;
}

/// Follows an axis below view `first` to the top; false if it does not get there.
bool follow(const Levels& levels, std::size_t first, int axis, Thread& thread) {
  for (std::size_t k = first; k < levels.boxes.size(); k++) {
    std::optional<Step> step;
    for (std::size_t a = 0; a < levels.boxes[k].shape.size() && !step; a++)
      step = step_along(levels.boxes[k], a, levels.below[k], static_cast<std::size_t>(axis));
    if (!step) return false;
    axis = step->axis;
    thread.steps.push_back(*step);
  }
  return true;
}

std::vector<Thread> threads_of(const Levels& levels) {
  std::vector<Thread> threads;
  const auto add = [&](Thread thread, std::size_t next, int axis) {
    if (!follow(levels, next, axis, thread)) return;
    const int top = thread.steps.back().axis;
    if (std::ranges::none_of(threads, [&](const Thread& t) { return t.steps.back().axis == top; })) threads.push_back(std::move(thread));
  };
  for (std::size_t axis = 0; axis < levels.below[0].size(); axis++)
    if (levels.below[0][axis] > 1) add({static_cast<int>(axis), 0, {}}, 0, static_cast<int>(axis));
  for (std::size_t k = 0; k < levels.boxes.size(); k++) {
    const Box& box = levels.boxes[k];
    for (std::size_t axis = 0; axis < box.shape.size(); axis++) {
      if (box.shape[axis] <= 1 || box.strides[axis] != 0) continue;
      Step begins{.axis = static_cast<int>(axis), .begin = box.begin[axis], .end = box.end[axis]};
      add({-1, k, {begins}}, k + 1, static_cast<int>(axis));
    }
  }
  return threads;
}

/// What the indices of the thread's axis at each level show, as AxisLink::from tells; of the base first if the thread begins there.
std::vector<Ints> indices_of(const Levels& levels, const Thread& thread) {
  std::vector<Ints> indices(1);
  const std::int64_t n = thread.base_axis < 0 ? 0 : levels.below[0][static_cast<std::size_t>(thread.base_axis)];
  for (std::int64_t i = 0; i < n; i++) indices[0].push_back(i);
  std::int64_t padding = 0;
  for (std::size_t k = 0; k < thread.steps.size(); k++) {
    const Step& step = thread.steps[k];
    Ints from;
    for (std::int64_t i = 0; i < levels.boxes[thread.first + k].shape[static_cast<std::size_t>(step.axis)]; i++) {
      const bool shows = i >= step.begin && i < step.end;
      if (!shows)
        from.push_back(--padding);
      else
        from.push_back(step.unit == 0 ? i : indices[k][static_cast<std::size_t>(step.start + (i - step.begin) / step.block)]);
    }
    indices.push_back(std::move(from));
  }
  return indices;
}

/// Where an index of the thread's axis is several positions below, these run along other axes, too, and meet what pads those.
bool meets_other_padding(const Levels& levels, const Thread& thread) {
  bool meets = false;
  for (std::size_t k = 0; k < thread.steps.size(); k++) {
    if (thread.steps[k].block == 1) continue;
    for (std::size_t view = 0; view < thread.first + k; view++) {
      const Box& box = levels.boxes[view];
      const int own = view < thread.first ? -1 : thread.steps[view - thread.first].axis;
      for (std::size_t axis = 0; axis < box.shape.size(); axis++)
        meets = meets || (static_cast<int>(axis) != own && box.end[axis] - box.begin[axis] != box.shape[axis]);
    }
  }
  return meets;
}

AxisLink link_of(const Levels& levels, const Thread& thread) {
  return {thread.base_axis, thread.steps.back().axis, indices_of(levels, thread).back(), meets_other_padding(levels, thread)};
}

std::int64_t count(const std::vector<bool>& kept, std::int64_t begin, std::int64_t end) {
  return std::count(kept.begin() + begin, kept.begin() + end, true);
}
std::int64_t count(const std::vector<bool>& kept) { return count(kept, 0, static_cast<std::int64_t>(kept.size())); }

View kept_view(const Box& box, const Step& step, std::int64_t size_below, const std::vector<bool>& below, const std::vector<bool>& above) {
  Box r = box;
  const auto axis = static_cast<std::size_t>(step.axis);
  r.shape[axis] = count(above);
  r.begin[axis] = count(above, 0, step.begin);
  r.end[axis] = count(above, 0, step.end);
  if (step.unit != 0) {
    const std::int64_t row = step.unit * size_below, row_left = step.unit * count(below);
    std::int64_t low = step.rows * row_left + count(below, 0, step.start) * step.unit + step.rest;
    for (std::size_t i = 0; i < r.shape.size(); i++) {
      if (i == axis || r.strides[i] == 0) continue;
      if (r.strides[i] % row == 0)
        r.strides[i] = r.strides[i] / row * row_left;
      else
        low -= std::min(r.strides[i] * r.begin[i], r.strides[i] * (r.end[i] - 1));
    }
    r.offset = low - r.begin[axis] * r.strides[axis];
  }
  std::vector<Range> mask;
  for (std::size_t i = 0; i < r.shape.size(); i++) mask.emplace_back(r.begin[i], r.end[i]);
  return View::create({r.shape.begin(), r.shape.end()}, std::vector<Sint>(r.strides.begin(), r.strides.end()), r.offset, mask);
}

}  // namespace

std::vector<AxisLink> axis_links(const ShapeTracker& st, const std::vector<Sint>& base_shape) {
  const std::optional<Levels> levels = levels_of(st, base_shape);
  if (!levels) return {};
  std::vector<AxisLink> links;
  for (const Thread& thread : threads_of(*levels)) links.push_back(link_of(*levels, thread));
  return links;
}

ShapeTracker keep_indices(const ShapeTracker& st, const std::vector<Sint>& base_shape, const AxisLink& link,
                          const std::vector<bool>& of_base, const std::vector<bool>& of_view) {
  const std::optional<Levels> levels = levels_of(st, base_shape);
  check(levels.has_value(), "indices are kept where a view is linked");
  const std::vector<Thread> threads = threads_of(*levels);
  const auto found =
      std::ranges::find_if(threads, [&](const Thread& t) { return t.base_axis == link.base_axis && t.steps.back().axis == link.axis; });
  check(found != threads.end(), "indices are kept where a view is linked");
  // What a level shows of the same index is kept together. What the top does not show goes, unless it is in the base.
  const std::vector<Ints> indices = indices_of(*levels, *found);
  std::unordered_map<std::int64_t, bool> is_kept;
  for (std::size_t i = 0; i < of_base.size(); i++) is_kept[static_cast<std::int64_t>(i)] = of_base[i];
  for (std::size_t i = 0; i < of_view.size(); i++)
    check(is_kept.try_emplace(indices.back()[i], of_view[i]).first->second == of_view[i], "indices that show the same are kept together");
  std::vector<View> views = st.views();
  std::vector<bool> below;
  for (std::size_t k = 0; k < indices.size(); k++) {
    std::vector<bool> kept;
    for (const std::int64_t index : indices[k]) kept.push_back(is_kept[index]);
    if (k > 0) {
      const std::size_t view = found->first + k - 1;
      views[view] = kept_view(levels->boxes[view], found->steps[k - 1], std::ssize(below), below, kept);
    }
    below = std::move(kept);
  }
  return ShapeTracker(std::move(views));
}

}  // namespace etch
