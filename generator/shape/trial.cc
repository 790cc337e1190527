// Views with plain integers: merging by trying all indices, and the largest position read.
#include <algorithm>
#include <queue>

#include "shape/int_math.h"
#include "shape/merge.h"

namespace etch {
namespace {

constexpr std::int64_t kMaxTrials = 1 << 16, kMaxMaskedTrials = 1 << 13;
constexpr int kMaxBoxes = 1 << 16;

struct Axis {
  std::int64_t size, stride, begin, end;
};

struct PlainView {
  std::vector<Axis> axes;
  std::int64_t offset;
  bool empty;
};

std::vector<PlainView> plain(const std::vector<View>& views) {
  std::vector<PlainView> r;
  for (const View& v : views) {
    PlainView p{{}, v.offset.as_int(), v.is_empty()};
    for (std::size_t k = 0; k < v.shape.size(); k++) {
      std::int64_t size = v.shape[k].as_int();
      bool masked = v.mask.has_value();
      p.axes.push_back(
          {size, v.strides[k].as_int(), masked ? (*v.mask)[k].first.as_int() : 0, masked ? (*v.mask)[k].second.as_int() : size});
    }
    r.push_back(std::move(p));
  }
  return r;
}

// Position of a flat index through one view, -1 if masked.
std::int64_t through(const PlainView& v, std::int64_t flat) {
  std::int64_t at = v.offset;
  for (std::size_t k = v.axes.size(); k-- > 0;) {
    const Axis& a = v.axes[k];
    std::int64_t i = flat % a.size;
    flat /= a.size;
    if (i < a.begin || i >= a.end) return -1;
    at += i * a.stride;
  }
  return at;
}

std::int64_t through_all(const std::vector<PlainView>& views, std::int64_t flat) {
  for (std::size_t n = views.size(); n-- > 0 && flat >= 0;) flat = through(views[n], flat);
  return flat;
}

using Ends = std::vector<std::pair<std::int64_t, std::int64_t>>;  // [begin, end) per axis of the last view

// Upper bound of the position through v for flat indices in [low, high]; -1 if all are masked.
std::int64_t bound_through(const PlainView& v, std::int64_t low, std::int64_t high) {
  std::int64_t at = v.offset, best = -1;
  // While the digits of both ends agree they are fixed; at the first that differs there are three cases: the lowest
  // digit with a restricted rest, those between with any rest, the highest. All are covered by [low digit, high digit]
  // with any rest, which is what is used.
  std::int64_t inner = 1;
  for (const Axis& a : v.axes) inner *= a.size;
  for (std::size_t k = 0; k < v.axes.size(); k++) {
    const Axis& a = v.axes[k];
    inner /= a.size;
    std::int64_t first = low / inner % a.size, last = high / inner % a.size;
    if (first == last) {
      if (first < a.begin || first >= a.end) return -1;
      at += first * a.stride;
      continue;
    }
    first = std::max(first, a.begin);
    last = std::min(last, a.end - 1);
    if (first > last) return -1;
    best = at + std::max(first * a.stride, last * a.stride);
    for (std::size_t j = k + 1; j < v.axes.size(); j++) {
      best += std::max(v.axes[j].begin * v.axes[j].stride, (v.axes[j].end - 1) * v.axes[j].stride);
    }
    return best;
  }
  return at;
}

// The same for the lower bound; used between views only.
std::int64_t lower_through(const PlainView& v, std::int64_t low, std::int64_t high) {
  PlainView mirrored = v;
  mirrored.offset = -v.offset;
  for (Axis& a : mirrored.axes) a.stride = -a.stride;
  constexpr std::int64_t kLift = std::int64_t{1} << 40;  // keeps it positive, -1 means masked
  mirrored.offset += kLift;
  std::int64_t r = bound_through(mirrored, low, high);
  return r < 0 ? -1 : kLift - r;
}

std::int64_t upper_bound(const std::vector<PlainView>& views, const Ends& box) {
  const PlainView& last = views.back();
  std::int64_t low = last.offset, high = last.offset;
  for (std::size_t k = 0; k < box.size(); k++) {
    std::int64_t a = box[k].first * last.axes[k].stride, b = (box[k].second - 1) * last.axes[k].stride;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  for (std::size_t n = views.size() - 1; n-- > 0;) {
    std::int64_t next_high = bound_through(views[n], low, high);
    if (next_high < 0) return -1;
    low = n == 0 ? 0 : std::max<std::int64_t>(0, lower_through(views[n], low, high));
    high = next_high;
  }
  return high;
}

}  // namespace

bool all_ints(const View& v) {
  auto is_int = [](const Sint& s) { return s.is_int(); };
  if (!v.offset.is_int() || !std::all_of(v.shape.begin(), v.shape.end(), is_int) ||
      !std::all_of(v.strides.begin(), v.strides.end(), is_int))
    return false;
  return !v.mask || std::all_of(v.mask->begin(), v.mask->end(), [](const Range& m) { return m.first.is_int() && m.second.is_int(); });
}

std::int64_t largest_position(const std::vector<View>& views) {
  std::vector<PlainView> all = plain(views);
  Ends whole;
  for (const Axis& a : all.back().axes) whole.push_back({a.begin, a.end});
  for (const PlainView& v : all) {
    if (v.empty) return -1;
  }
  // Best first: the box that could reach furthest is cut in two until it is one index.
  auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::priority_queue<std::pair<std::int64_t, Ends>, std::vector<std::pair<std::int64_t, Ends>>, decltype(less)> open(less);
  open.push({upper_bound(all, whole), whole});
  for (int n = 0; n < kMaxBoxes && !open.empty(); n++) {
    auto [bound, box] = open.top();
    open.pop();
    if (bound < 0) return -1;
    auto widest = std::max_element(box.begin(), box.end(), [](auto& a, auto& b) { return a.second - a.first < b.second - b.first; });
    if (box.empty() || widest->second - widest->first == 1 || all.size() == 1) return bound;
    std::int64_t middle = widest->first + (widest->second - widest->first) / 2;
    Ends left = box, right = box;
    left[static_cast<std::size_t>(widest - box.begin())].second = middle;
    right[static_cast<std::size_t>(widest - box.begin())].first = middle;
    open.push({upper_bound(all, left), left});
    open.push({upper_bound(all, right), right});
  }
  return open.empty() ? -1 : open.top().first;
}

namespace {

// Steps a row-major index; the last axis runs fastest.
void advance(std::vector<std::int64_t>* index, const std::vector<Axis>& axes) {
  for (std::size_t k = axes.size(); k-- > 0 && ++(*index)[k] == axes[k].size;) (*index)[k] = 0;
}

struct Extent {
  std::vector<std::int64_t> first, last;  // smallest box around the valid indices
  std::int64_t corner = -1;               // flat index of its first element
};

// The valid indices if they are a box, nothing otherwise or if there are none; *any tells these two apart.
std::optional<Extent> valid_box(const std::vector<PlainView>& views, std::int64_t size, bool* any) {
  const std::vector<Axis>& axes = views.back().axes;
  std::vector<std::int64_t> index(axes.size(), 0);
  Extent e{index, index, -1};
  std::int64_t valid = 0, box = 1;
  for (std::int64_t p = 0; p < size; p++, advance(&index, axes)) {
    if (through_all(views, p) < 0) continue;
    if (valid++ == 0) e = {index, index, p};
    for (std::size_t k = 0; k < axes.size(); k++) {
      e.first[k] = std::min(e.first[k], index[k]);
      e.last[k] = std::max(e.last[k], index[k]);
    }
  }
  *any = valid > 0;
  for (std::size_t k = 0; k < axes.size(); k++) box *= e.last[k] - e.first[k] + 1;
  if (box != valid) return std::nullopt;
  return e;
}

std::int64_t flatten(const std::vector<std::int64_t>& index, const std::vector<Axis>& axes) {
  std::int64_t flat = 0;
  for (std::size_t k = 0; k < axes.size(); k++) flat = flat * axes[k].size + index[k];
  return flat;
}

// Tests samples of a property that every single view has: if indices a and b are valid, so are the two indices that exchange some
// of their coordinates, and the positions of these two have the same sum as those of a and b.
bool looks_like_one_view(const std::vector<PlainView>& views) {
  constexpr int kSamples = 48;
  const std::vector<Axis>& axes = views.back().axes;
  std::uint64_t state = 88172645463325252u;  // xorshift; a fixed seed, the result is the same in every run
  auto random = [&](std::int64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::int64_t>(state % static_cast<std::uint64_t>(below));
  };
  auto sample = [&] {
    std::vector<std::int64_t> index;
    for (const Axis& a : axes) index.push_back(random(3) == 0 ? random(a.size) : random(2) == 0 ? 0 : a.size - 1);
    return index;
  };
  for (int n = 0; n < kSamples; n++) {
    std::vector<std::int64_t> a = sample(), b = sample();
    std::int64_t at_a = through_all(views, flatten(a, axes)), at_b = through_all(views, flatten(b, axes));
    if (at_a < 0 || at_b < 0) continue;
    for (std::size_t k = 0; k < axes.size(); k++) {
      if (random(2) == 0) std::swap(a[k], b[k]);
    }
    std::int64_t mixed_a = through_all(views, flatten(a, axes)), mixed_b = through_all(views, flatten(b, axes));
    if (mixed_a < 0 || mixed_b < 0 || mixed_a + mixed_b != at_a + at_b) return false;
  }
  return true;
}

bool is_masked(const PlainView& v) {
  return std::any_of(v.axes.begin(), v.axes.end(), [](const Axis& a) { return a.begin > 0 || a.end < a.size; });
}

}  // namespace

std::optional<View> merge_by_trial(const std::vector<View>& views) {
  if (!std::all_of(views.begin(), views.end(), all_ints)) return std::nullopt;
  std::vector<PlainView> all = plain(views);
  const std::vector<Axis>& axes = all.back().axes;
  bool masked = std::any_of(all.begin(), all.end(), is_masked), any = true;
  std::int64_t size = 1;
  for (const Axis& a : axes) {
    if (__builtin_mul_overflow(size, a.size, &size) || size > (masked ? kMaxMaskedTrials : kMaxTrials)) return std::nullopt;
  }
  if (!looks_like_one_view(all)) return std::nullopt;
  const std::vector<Sint>& shape = views.back().shape;
  Extent e{std::vector<std::int64_t>(axes.size(), 0), {}, 0};
  for (const Axis& a : axes) e.last.push_back(a.size - 1);
  if (masked) {
    auto box = valid_box(all, size, &any);
    if (!any) return View::create(shape, std::nullopt, 0, std::vector<Range>(shape.size(), Range{0, 0}));
    if (!box) return std::nullopt;
    e = *box;
  }
  std::int64_t start = through_all(all, e.corner), offset = start, step = 1;
  std::vector<std::int64_t> strides(axes.size(), 0), index(axes.size(), 0);
  for (std::size_t k = axes.size(); k-- > 0; step *= axes[k].size) {
    if (e.last[k] > e.first[k]) strides[k] = through_all(all, e.corner + step) - start;
    offset -= strides[k] * e.first[k];
  }
  for (std::int64_t p = 0; p < size; p++, advance(&index, axes)) {
    std::int64_t expect = offset;
    for (std::size_t k = 0; k < axes.size(); k++) expect += strides[k] * index[k];
    std::int64_t got = through_all(all, p);
    if (got >= 0 && got != expect) return std::nullopt;
  }
  std::vector<Sint> steps(strides.begin(), strides.end());
  if (shape.empty()) return View::create(shape, steps, offset);
  std::vector<Range> mask;
  for (std::size_t k = 0; k < axes.size(); k++) mask.push_back({e.first[k], e.last[k] + 1});
  return View::create(shape, std::move(steps), offset, std::move(mask));
}

}  // namespace etch
