#include "interp/access.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace etch::interp {

std::vector<std::int64_t> fixed(const std::vector<Sint>& values, const VarValues& vars) {
  std::vector<std::int64_t> result;
  for (const Sint& v : values) result.push_back(v.is_int() ? v.as_int() : evaluate(v, vars));
  return result;
}

std::vector<FixedView> fixed(const ShapeTracker& st, const VarValues& vars) {
  std::vector<FixedView> result;
  for (const View& view : st.views()) {
    FixedView f;
    if (view.mask && view.mask->empty()) {  // a scalar that is padding, as an axis of one element that is
      result.push_back({{1}, {0}, 0, {0}, {0}});
      continue;
    }
    f.shape = fixed(view.shape, vars);
    f.strides = fixed(view.strides, vars);
    f.offset = evaluate(view.offset, vars);
    if (view.mask) {
      for (const auto& [begin, end] : *view.mask) {
        f.mask_begin.push_back(evaluate(begin, vars));
        f.mask_end.push_back(evaluate(end, vars));
      }
    }
    result.push_back(std::move(f));
  }
  return result;
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

std::int64_t size_of(const Domain& domain) {
  std::int64_t n = 1;
  for (const Loop& loop : domain) n *= loop.size;
  return n;
}

bool depends_on(const std::vector<FixedView>& views, int axis) {
  const FixedView& view = views.back();
  const auto a = static_cast<std::size_t>(axis);
  if (view.shape[a] <= 1) return false;
  if (view.strides[a] != 0) return true;
  return !view.mask_begin.empty() && (view.mask_begin[a] > 0 || view.mask_end[a] < view.shape[a]);
}

Access::Access(const std::vector<FixedView>& views, const Domain& domain) {
  const FixedView& top = views.back();
  offset_ = top.offset;
  for (const Loop& loop : domain) {
    sizes_.push_back(loop.size);
    strides_.push_back(top.strides[static_cast<std::size_t>(loop.axis)]);
  }
  for (std::size_t a = 0; a < top.mask_begin.size(); a++) {
    if (top.mask_begin[a] <= 0 && top.mask_end[a] >= top.shape[a]) continue;
    Bound bound{std::vector<std::int64_t>(domain.size()), 0, top.mask_begin[a], top.mask_end[a]};
    bool walked = false;
    for (std::size_t k = 0; k < domain.size(); k++) {
      if (domain[k].axis != static_cast<int>(a)) continue;
      bound.coefs[k] = 1;
      walked = true;
    }
    if (walked) {
      bounds_.push_back(std::move(bound));
    } else if (bound.begin > 0 || bound.end <= 0) {
      all_padding_ = true;
    }
  }
  std::size_t left = views.size() - 1;
  while (left > 0 && !all_padding_ && fold(views[left - 1])) left--;
  rest_.assign(views.begin(), views.begin() + static_cast<std::ptrdiff_t>(left));
  merge_loops();
}

std::pair<std::int64_t, std::int64_t> Access::valid_range(std::size_t loop) const {
  std::int64_t from = 0, to = sizes_[loop];
  for (const Bound& b : bounds_) {
    if (b.coefs[loop] != 1) continue;
    bool alone = true;
    for (std::size_t k = 0; k < b.coefs.size(); k++) alone = alone && (k == loop || b.coefs[k] == 0);
    if (!alone) continue;
    from = std::max(from, b.begin - b.offset);
    to = std::min(to, b.end - b.offset);
  }
  return {from, to};
}

// Splits a loop that runs over several axes of `view` into one loop for each axis; the order of the walk stays the same.
void Access::split_for(const FixedView& view) {
  std::int64_t boundary = 1;
  for (std::size_t j = view.shape.size(); j-- > 0;) {
    boundary *= view.shape[j];
    if (boundary == 0) return;
    for (std::size_t k = 0; k < sizes_.size(); k++) {
      const std::int64_t s = std::abs(strides_[k]);
      if (s == 0 || s >= boundary || boundary % s != 0) continue;
      const std::int64_t inner = boundary / s;
      if (sizes_[k] <= inner || sizes_[k] % inner != 0) continue;
      const auto at = static_cast<std::ptrdiff_t>(k);
      sizes_.insert(sizes_.begin() + at, sizes_[k] / inner);
      sizes_[k + 1] = inner;
      strides_.insert(strides_.begin() + at, strides_[k] * inner);
      for (Bound& b : bounds_) b.coefs.insert(b.coefs.begin() + at, b.coefs[k] * inner);
      k++;
    }
  }
}

// Replaces the position in `view`'s index space by that in its buffer: possible if each coordinate of the view is an affine
// function of the loops, that is, if no carry goes from one coordinate to the next. False: nothing has changed.
bool Access::fold(const FixedView& view) {
  const Access before = *this;
  split_for(view);
  const std::size_t rank = view.shape.size(), loops = sizes_.size();
  std::vector<std::pair<std::int64_t, std::int64_t>> range(loops);
  std::int64_t lowest = offset_;  // the position where every loop is at the start of its valid range
  for (std::size_t k = 0; k < loops; k++) {
    range[k] = valid_range(k);
    if (range[k].first >= range[k].second) {
      all_padding_ = true;
      return true;
    }
    lowest += strides_[k] * range[k].first;
  }
  std::vector<Bound> coords(rank);
  std::vector<std::int64_t> left = strides_;
  for (std::size_t j = rank; j-- > 0;) {
    coords[j].coefs.resize(loops);
    coords[j].end = view.shape[j];
  }
  std::int64_t unit = element_count(view.shape);
  bool good = lowest >= 0 && lowest < unit;
  for (std::size_t j = 0; j < rank && good; j++) {
    unit /= view.shape[j];
    coords[j].offset = lowest / unit;
    lowest %= unit;
    std::int64_t min = coords[j].offset, max = min;
    for (std::size_t k = 0; k < loops; k++) {
      const std::int64_t c = left[k] / unit;
      left[k] %= unit;
      coords[j].coefs[k] = c;
      coords[j].offset -= c * range[k].first;
      const std::int64_t reach = c * (range[k].second - 1 - range[k].first);
      (reach < 0 ? min : max) += reach;
    }
    good = min >= 0 && max < view.shape[j];
  }
  if (!good) {
    *this = before;
    return false;
  }
  offset_ = view.offset;
  std::fill(strides_.begin(), strides_.end(), 0);
  for (std::size_t j = 0; j < rank; j++) {
    offset_ += coords[j].offset * view.strides[j];
    for (std::size_t k = 0; k < loops; k++) strides_[k] += coords[j].coefs[k] * view.strides[j];
    if (view.mask_begin.empty() || (view.mask_begin[j] <= 0 && view.mask_end[j] >= view.shape[j])) continue;
    coords[j].begin = view.mask_begin[j];
    coords[j].end = view.mask_end[j];
    bounds_.push_back(coords[j]);
  }
  return true;
}

// Drops loops of one iteration and joins adjacent loops that advance as one; leaves at least one loop.
void Access::merge_loops() {
  for (std::size_t k = sizes_.size(); k-- > 0;) {
    const bool single = sizes_[k] == 1;
    bool joins = !single && k + 1 < sizes_.size() && strides_[k] == strides_[k + 1] * sizes_[k + 1];
    for (const Bound& b : bounds_) joins = joins && b.coefs[k] == b.coefs[k + 1] * sizes_[k + 1];
    if (!single && !joins) continue;
    if (joins) sizes_[k + 1] *= sizes_[k];
    const auto at = static_cast<std::ptrdiff_t>(k);
    sizes_.erase(sizes_.begin() + at);
    strides_.erase(strides_.begin() + at);
    for (Bound& b : bounds_) b.coefs.erase(b.coefs.begin() + at);
  }
  if (!sizes_.empty()) return;
  sizes_.push_back(1);
  strides_.push_back(0);
  for (Bound& b : bounds_) b.coefs.push_back(0);
}

std::int64_t Access::unit_run() const { return strides_.back() == 1 && rest_.empty() ? sizes_.back() : 1; }

std::int64_t position_through(const std::vector<FixedView>& views, std::int64_t position) {
  for (std::size_t v = views.size(); v-- > 0;) {
    const FixedView& view = views[v];
    std::int64_t next = view.offset;
    for (std::size_t j = view.shape.size(); j-- > 0;) {
      const std::int64_t i = position % view.shape[j];
      position /= view.shape[j];
      if (!view.mask_begin.empty() && (i < view.mask_begin[j] || i >= view.mask_end[j])) return -1;
      next += i * view.strides[j];
    }
    position = next;
  }
  return position;
}

}  // namespace etch::interp
