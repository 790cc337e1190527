// Internal to interp/: how a leaf is read in a given iteration order. A Domain is the order in which positions are visited; an
// Access is the leaf's ShapeTracker in that order, as one affine position with affine bounds if that is possible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "interp/interp.h"
#include "shape/shapetracker.h"

namespace etch::interp {

/// A View with its variables replaced by numbers.
struct FixedView {
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::vector<std::int64_t> mask_begin, mask_end;  // empty: no mask
};

std::vector<std::int64_t> fixed(const std::vector<Sint>& values, const VarValues& vars);
std::vector<FixedView> fixed(const ShapeTracker& st, const VarValues& vars);
std::int64_t element_count(const std::vector<std::int64_t>& shape);

/// One loop of a walk: axis `axis` of the leaf's shape, 0 <= i < size. Loops go from the outermost to the innermost; an axis
/// that no loop names stays at 0.
struct Loop {
  int axis = 0;
  std::int64_t size = 1;
};
using Domain = std::vector<Loop>;

std::int64_t size_of(const Domain& domain);

/// Whether what the views show depends on the index of `axis`.
bool depends_on(const std::vector<FixedView>& views, int axis);

/// The position in the buffer that element `position` (row-major) of the last view reads; -1: padding.
std::int64_t position_through(const std::vector<FixedView>& views, std::int64_t position);

class Access {
 public:
  Access(const std::vector<FixedView>& views, const Domain& domain);

  /// Visits positions [start, start + count) of the walk. Calls run(at, position, step, n) for n elements to read at position,
  /// position + step, ...; they are elements at, at + 1, ... of this visit. Calls pad(at, n) for n elements that are padding.
  template <class Run, class Pad>
  void walk(std::int64_t start, std::int64_t count, Run run, Pad pad) const;

  /// Length of the longest inner loop in which the position advances by one; 1 if there is none.
  std::int64_t unit_run() const;

 private:
  // begin <= offset + sum(coefs[k] * i_k) < end, or the element is padding
  struct Bound {
    std::vector<std::int64_t> coefs;
    std::int64_t offset = 0, begin = 0, end = 0;
  };

  void clip(const std::vector<std::int64_t>& value, std::int64_t& from, std::int64_t& to) const;
  bool fold(const FixedView& view);
  void split_for(const FixedView& view);
  void merge_loops();
  std::pair<std::int64_t, std::int64_t> valid_range(std::size_t loop) const;
  std::vector<std::int64_t> sizes_, strides_;
  std::int64_t offset_ = 0;
  std::vector<Bound> bounds_;
  std::vector<FixedView> rest_;  // views that could not be folded, in the order of ShapeTracker::views
  bool all_padding_ = false;
};

// Narrows [from, to) to the elements of an inner loop that are inside all bounds: an interval, since each bound is affine.
inline void Access::clip(const std::vector<std::int64_t>& value, std::int64_t& from, std::int64_t& to) const {
  for (std::size_t b = 0; b < bounds_.size(); b++) {
    const Bound& bound = bounds_[b];
    const std::int64_t c = bound.coefs.back();
    const auto outside = [&](std::int64_t i) { return value[b] + c * i < bound.begin || value[b] + c * i >= bound.end; };
    if (c == 0) {
      if (outside(0)) to = from;
    } else if (c == 1) {
      from = std::max(from, bound.begin - value[b]);
      to = std::min(to, bound.end - value[b]);
    } else {
      while (from < to && outside(from)) from++;
      while (from < to && outside(to - 1)) to--;
    }
  }
}

template <class Run, class Pad>
void Access::walk(std::int64_t start, std::int64_t count, Run run, Pad pad) const {
  if (count <= 0) return;
  if (all_padding_) return pad(std::int64_t{0}, count);
  const std::size_t rank = sizes_.size(), last = rank - 1;
  std::vector<std::int64_t> index(rank), value(bounds_.size());
  std::int64_t position = offset_;
  for (std::size_t b = 0; b < bounds_.size(); b++) value[b] = bounds_[b].offset;
  for (std::size_t k = rank, left = static_cast<std::size_t>(start); k-- > 0;) {
    const auto size = static_cast<std::size_t>(sizes_[k]);
    index[k] = static_cast<std::int64_t>(left % size);
    left /= size;
    position += index[k] * strides_[k];
    for (std::size_t b = 0; b < bounds_.size(); b++) value[b] += index[k] * bounds_[b].coefs[k];
  }
  const std::int64_t step = strides_[last];
  for (std::int64_t at = 0; at < count;) {
    const std::int64_t n = std::min(sizes_[last] - index[last], count - at);
    std::int64_t from = 0, to = n;
    clip(value, from, to);
    if (from >= to) {
      pad(at, n);
    } else {
      if (from > 0) pad(at, from);
      if (rest_.empty()) {
        run(at + from, position + from * step, step, to - from);
      } else {
        for (std::int64_t i = from; i < to; i++) {
          const std::int64_t p = position_through(rest_, position + i * step);
          if (p < 0) {
            pad(at + i, std::int64_t{1});
          } else {
            run(at + i, p, std::int64_t{1}, std::int64_t{1});
          }
        }
      }
      if (to < n) pad(at + to, n - to);
    }
    at += n;
    // To the first element of the next inner loop.
    position -= index[last] * step;
    for (std::size_t b = 0; b < bounds_.size(); b++) value[b] -= index[last] * bounds_[b].coefs[last];
    index[last] = 0;
    for (std::size_t k = last; k-- > 0;) {
      index[k]++;
      position += strides_[k];
      for (std::size_t b = 0; b < bounds_.size(); b++) value[b] += bounds_[b].coefs[k];
      if (index[k] < sizes_[k]) break;
      position -= sizes_[k] * strides_[k];
      for (std::size_t b = 0; b < bounds_.size(); b++) value[b] -= sizes_[k] * bounds_[b].coefs[k];
      index[k] = 0;
    }
  }
}

}  // namespace etch::interp
