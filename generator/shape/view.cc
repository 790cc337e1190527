#include "shape/view.h"

#include <algorithm>

#include "base/hash.h"
#include "shape/int_math.h"
#include "shape/open_sizes.h"

namespace etch {
namespace {

bool is_full(const Range& m, Sint size) { return m.first.max() <= 0 && proves_nonnegative(m.second - size); }

// Clamps [begin, end) to [0, size) as far as it can be decided. An end that can't be compared stays, which has the same meaning.
Range clamp(Range m, Sint size) {
  if (auto begin = try_max(m.first, 0)) m.first = *begin;
  if (auto end = try_min(m.second, size)) m.second = *end;
  return m;
}

bool is_nothing(const Range& m) { return proves_nonnegative(m.first - m.second); }

View all_masked(std::vector<Sint> shape) {
  std::size_t rank = shape.size();
  return View{std::move(shape), std::vector<Sint>(rank, 0), 0, std::vector<Range>(rank, Range{0, 0}), false};
}

// If only one index of an axis is valid, its contribution moves to the offset.
void fold_single_indices(View* v) {
  for (std::size_t k = 0; k < v->shape.size(); k++) {
    const Range& m = (*v->mask)[k];
    if (!(m.second - m.first).is_int(1) || v->strides[k].is_int(0)) continue;
    v->offset += v->strides[k] * m.first;
    v->strides[k] = 0;
  }
}

}  // namespace

std::vector<Sint> strides_for_shape(const std::vector<Sint>& shape) {
  std::vector<Sint> strides(shape.size(), 0);
  Sint step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (!shape[k].is_int(1)) strides[k] = step;
    step = step * shape[k];
  }
  return strides;
}

View View::create(std::vector<Sint> shape, std::optional<std::vector<Sint>> strides, Sint offset, std::optional<std::vector<Range>> mask) {
  for (const Sint& s : shape) check_for_sizes(s.min() >= 0 || proves_nonnegative(s), "a size is not negative", {s});
  std::vector<Sint> row_major = strides_for_shape(shape);
  View v{std::move(shape), strides ? std::move(*strides) : row_major, offset, std::move(mask), false};
  check(v.strides.size() == v.shape.size() && (!v.mask || v.mask->size() == v.shape.size()),
        "a view has one stride and one range per axis");
  for (std::size_t k = 0; k < v.shape.size(); k++) {
    if (v.shape[k].is_int(1)) v.strides[k] = 0;
  }
  if (v.mask && v.shape.empty()) return v;  // a scalar that is padding
  if (v.mask) {
    bool hides = false;
    for (std::size_t k = 0; k < v.shape.size(); k++) {
      Range& m = (*v.mask)[k];
      m = clamp(m, v.shape[k]);
      if (is_nothing(m)) return all_masked(std::move(v.shape));
      if (is_full(m, v.shape[k])) {
        m = {0, v.shape[k]};
      } else {
        hides = true;
      }
    }
    if (hides) {
      fold_single_indices(&v);
    } else {
      v.mask.reset();
    }
  }
  v.contiguous = v.offset.is_int(0) && !v.mask && v.strides == row_major;
  return v;
}

bool View::has_fixed_shape() const {
  return std::ranges::all_of(shape, [](const Sint& d) { return d.is_int(); });
}

bool View::is_empty() const {
  auto zero = [](const Sint& s) { return s.is_int(0); };
  if (std::any_of(shape.begin(), shape.end(), zero)) return true;
  if (mask && mask->empty()) return true;
  return mask && std::any_of(mask->begin(), mask->end(), [](const Range& m) { return m.second.is_int(0); });
}

View View::permute(const std::vector<int>& axes) const {
  check(axes.size() == shape.size(), "a permutation names every axis once");
  std::vector<bool> seen(axes.size(), false);
  std::vector<Sint> new_shape, new_strides;
  std::vector<Range> new_mask;
  for (int axis : axes) {
    auto k = static_cast<std::size_t>(axis);
    check(axis >= 0 && k < shape.size() && !seen[k], "a permutation names every axis once");
    seen[k] = true;
    new_shape.push_back(shape[k]);
    new_strides.push_back(strides[k]);
    if (mask) new_mask.push_back((*mask)[k]);
  }
  return create(std::move(new_shape), std::move(new_strides), offset, mask ? std::optional(std::move(new_mask)) : std::nullopt);
}

View View::expand(const std::vector<Sint>& new_shape) const {
  check(new_shape.size() == shape.size(), "expand keeps the rank");
  if (is_empty()) return mask ? all_masked(new_shape) : create(new_shape, strides, offset);
  std::vector<Range> new_mask = mask.value_or(std::vector<Range>{});
  for (std::size_t k = 0; k < shape.size(); k++) {
    check_for_sizes(new_shape[k] == shape[k] || shape[k].is_int(1), "only axes of size 1 are expanded", {shape[k], new_shape[k]});
    if (!mask || new_shape[k] == shape[k]) continue;
    check_for_sizes(is_full(new_mask[k], 1), "an expanded axis is valid as a whole", {new_mask[k].first, new_mask[k].second});
    new_mask[k] = {0, new_shape[k]};
  }
  return create(new_shape, strides, offset, mask ? std::optional(std::move(new_mask)) : std::nullopt);
}

View View::pad(const std::vector<Range>& amounts) const {
  check(amounts.size() == shape.size(), "pad names every axis");
  std::vector<Sint> new_shape;
  std::vector<Range> new_mask;
  Sint new_offset = offset;
  bool any = false;
  for (std::size_t k = 0; k < shape.size(); k++) {
    const auto& [before, after] = amounts[k];
    check_for_sizes(proves_nonnegative(before) && proves_nonnegative(after), "padding is not negative", {before, after});
    any = any || !before.is_int(0) || !after.is_int(0);
    new_shape.push_back(before + shape[k] + after);
    new_offset -= before * strides[k];
    Range m = mask ? (*mask)[k] : Range{0, shape[k]};
    new_mask.push_back({m.first + before, m.second + before});
  }
  if (!any) return *this;
  return create(std::move(new_shape), strides, new_offset, std::move(new_mask));
}

View View::shrink(const std::vector<Range>& ranges) const {
  check(ranges.size() == shape.size(), "shrink names every axis");
  std::vector<Sint> new_shape;
  std::vector<Range> new_mask;
  Sint new_offset = offset;
  for (std::size_t k = 0; k < shape.size(); k++) {
    const auto& [begin, end] = ranges[k];
    check_for_sizes(proves_nonnegative(begin), "a shrunk axis begins inside", {begin});
    if (shape[k].is_int() && end.is_int()) check(end.as_int() <= shape[k].as_int(), "a shrunk axis ends inside");
    new_shape.push_back(end - begin);
    new_offset += begin * strides[k];
    if (mask) new_mask.push_back({(*mask)[k].first - begin, (*mask)[k].second - begin});
  }
  return create(std::move(new_shape), strides, new_offset, mask ? std::optional(std::move(new_mask)) : std::nullopt);
}

View View::stride(const std::vector<std::int64_t>& steps) const {
  check(steps.size() == shape.size(), "stride names every axis");
  std::vector<Sint> new_shape, new_strides;
  std::vector<Range> new_mask;
  Sint new_offset = offset;
  for (std::size_t k = 0; k < shape.size(); k++) {
    check(steps[k] != 0 && steps[k] != kInt64Min, "a step is not 0");
    std::int64_t width = std::abs(steps[k]);
    auto steps_up_to = [&](Sint end) { return floordiv(end + (width - 1), width); };
    new_shape.push_back(steps_up_to(shape[k]));
    new_strides.push_back(strides[k] * steps[k]);
    if (steps[k] < 0) new_offset += strides[k] * (shape[k] - 1);
    if (!mask) continue;
    Range m = (*mask)[k];
    if (steps[k] < 0) m = {shape[k] - m.second, shape[k] - m.first};
    new_mask.push_back({steps_up_to(m.first), steps_up_to(m.second)});
  }
  return create(std::move(new_shape), std::move(new_strides), new_offset, mask ? std::optional(std::move(new_mask)) : std::nullopt);
}

std::optional<View> View::invert() const {
  View whole = create(shape);
  View v = *this;
  if (mask) {  // a shrink undoes a pad
    whole = whole.shrink(*mask);
    v = v.shrink(*mask);
  }
  std::vector<std::int64_t> flips;
  for (const Sint& s : v.strides) flips.push_back(s.max() < 0 ? -1 : 1);
  whole = whole.stride(flips);
  v = v.stride(flips);
  std::vector<int> order(shape.size());
  for (std::size_t k = 0; k < order.size(); k++) order[k] = static_cast<int>(k);
  auto stride_of = [&](int axis) { return v.strides[static_cast<std::size_t>(axis)]; };
  // Sorts axes by decreasing stride (symbolic strides by their upper bound).
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return stride_of(a).max() > stride_of(b).max(); });
  if (!v.permute(order).contiguous) return std::nullopt;
  return whole.permute(order);
}

std::string View::to_text() const {
  std::string r = "View(" + etch::to_text(shape) + ", strides=" + etch::to_text(strides) + ", offset=" + etch::to_text(offset);
  if (mask) {
    r += ", mask=(";
    for (std::size_t k = 0; k < mask->size(); k++) {
      r += (k ? ", (" : "(") + etch::to_text((*mask)[k].first) + ", " + etch::to_text((*mask)[k].second) + ")";
    }
    r += ")";
  }
  return r + (contiguous ? ", contiguous)" : ")");
}

std::size_t View::hash() const {
  std::size_t h = hash_all(hash_all(hash_mix(3, std::hash<Sint>{}(offset)), shape), strides);
  if (mask) {
    for (const Range& m : *mask) h = hash_mix(hash_mix(h, std::hash<Sint>{}(m.first)), std::hash<Sint>{}(m.second));
  }
  return h;
}

}  // namespace etch
