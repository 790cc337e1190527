#include "shape/shapetracker.h"

#include <algorithm>

#include "base/hash.h"
#include "shape/int_math.h"
#include "shape/merge.h"
#include "shape/poly.h"

namespace etch {
namespace {

// Position and validity of the element at `idxs` of one view; conditions are appended.
Sint through_view(const View& v, const std::vector<Sint>& idxs, std::vector<Sint>* conditions) {
  std::vector<Sint> terms{v.offset};
  if (v.is_empty()) conditions->push_back(0);  // a scalar that is padding has no axis whose mask could say so
  for (std::size_t k = 0; k < idxs.size(); k++) {
    if (!v.shape[k].is_int(1) && !v.strides[k].is_int(0)) terms.push_back(idxs[k] * v.strides[k]);
    if (!v.mask) continue;
    const auto& [begin, end] = (*v.mask)[k];
    if (!begin.is_int(0)) conditions->push_back(ge(idxs[k], begin));
    if (end != v.shape[k]) conditions->push_back(lt(idxs[k], end));
  }
  return sum(terms);
}

// The index of each axis for a flat row-major index.
std::vector<Sint> unflatten(Sint flat, const std::vector<Sint>& shape) {
  std::vector<Sint> idxs(shape.size(), 0);
  Sint step = 1;
  std::size_t first = 0;
  while (first < shape.size() && shape[first].is_int(1)) first++;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k].is_int(1)) continue;
    Sint digit = floordiv(flat, step);
    idxs[k] = k == first ? digit : floormod(digit, shape[k]);
    step = step * shape[k];
  }
  return idxs;
}

// The same for open sizes: one index after the other, each simplified as far as `valid` allows.
std::vector<Sint> unflatten_under(Sint flat, const std::vector<Sint>& shape, Sint valid) {
  std::vector<Sint> idxs(shape.size(), 0);
  std::size_t first = 0;
  while (first < shape.size() && shape[first].is_int(1)) first++;
  for (std::size_t k = shape.size(); k-- > first;) {
    if (shape[k].is_int(1)) continue;
    if (k == first) {
      idxs[k] = flat;
      break;
    }
    const auto split = shape[k].is_int() ? std::nullopt : quotient_under(flat, shape[k], valid);
    idxs[k] = split ? split->second : simplify_under(floormod(flat, shape[k]), valid);
    flat = split ? split->first : simplify_under(floordiv(flat, shape[k]), valid);
  }
  return idxs;
}

bool has_open_size(const View& v) {
  return std::ranges::any_of(v.shape, [](const Sint& s) { return !s.is_int(); });
}

}  // namespace

ShapeTracker ShapeTracker::from_shape(std::vector<Sint> shape) { return ShapeTracker({View::create(std::move(shape))}); }

ShapeTracker::ShapeTracker(std::vector<View> views) : views_(std::move(views)) {
  check(!views_.empty(), "a tracker has at least one view");
}

ShapeTracker ShapeTracker::with_rows_of(Sint n) const {
  std::vector<View> views;
  for (const View& v : views_) {
    std::vector<Sint> shape = v.shape, strides;
    std::optional<std::vector<Range>> mask = v.mask;
    for (const Sint& s : v.strides) strides.push_back(s * n);
    shape.push_back(n);
    strides.emplace_back(1);
    if (mask) mask->emplace_back(0, v.is_empty() ? Sint(0) : n);
    views.push_back(View::create(std::move(shape), std::move(strides), v.offset * n, std::move(mask)));
  }
  return ShapeTracker(std::move(views));
}

ShapeTracker::Index ShapeTracker::expr_idxs(const std::vector<Sint>& idxs) const {
  check(idxs.size() == shape().size(), "one index per axis");
  for (const View& v : views_) {
    if (v.is_empty()) return {0, 0};
  }
  std::vector<Sint> conditions;
  Sint idx = through_view(views_.back(), idxs, &conditions);
  for (std::size_t k = views_.size() - 1; k-- > 0;) {
    const View& v = views_[k];
    if (v.contiguous) continue;
    const bool is_open = has_open_size(v) || has_open_size(views_[k + 1]);
    idx = through_view(v, is_open ? unflatten_under(idx, v.shape, ands(conditions)) : unflatten(idx, v.shape), &conditions);
  }
  Sint valid = ands(conditions);
  if (valid.is_int(0)) return {0, 0};
  return {views_.size() == 1 ? idx : simplify_under(idx, valid), valid};
}

ShapeTracker::Index ShapeTracker::expr_node(Sint flat) const {
  auto zero = [](const Sint& s) { return s.is_int(0); };
  if (std::any_of(shape().begin(), shape().end(), zero)) return {0, 0};
  return expr_idxs(unflatten(flat, shape()));
}

namespace {

ShapeTracker with_last(const std::vector<View>& views, View last) {
  std::vector<View> r(views.begin(), views.end() - 1);
  r.push_back(std::move(last));
  return ShapeTracker(merge_last_view(std::move(r)));
}

}  // namespace

ShapeTracker ShapeTracker::reshape(const std::vector<Sint>& new_shape) const {
  if (auto v = views_.back().reshape(new_shape)) return with_last(views_, std::move(*v));
  std::vector<View> r = views_;
  r.push_back(View::create(new_shape));
  return ShapeTracker(merge_last_view(std::move(r)));
}

ShapeTracker ShapeTracker::reshape(const std::vector<Sint>& new_shape, const std::map<std::string, std::int64_t>& values) const {
  Sint before = size(), after = product(new_shape);
  if (before == after) return reshape(new_shape);
  check(evaluate(before, values) == evaluate(after, values), "reshape keeps the number of elements");
  std::vector<View> r = views_;
  r.push_back(View::create(new_shape));
  return ShapeTracker(merge_last_view(std::move(r)));
}

ShapeTracker ShapeTracker::permute(const std::vector<int>& axes) const { return with_last(views_, views_.back().permute(axes)); }
ShapeTracker ShapeTracker::expand(const std::vector<Sint>& new_shape) const { return with_last(views_, views_.back().expand(new_shape)); }
ShapeTracker ShapeTracker::pad(const std::vector<Range>& amounts) const { return with_last(views_, views_.back().pad(amounts)); }
ShapeTracker ShapeTracker::shrink(const std::vector<Range>& ranges) const { return with_last(views_, views_.back().shrink(ranges)); }
ShapeTracker ShapeTracker::stride(const std::vector<std::int64_t>& steps) const { return with_last(views_, views_.back().stride(steps)); }

ShapeTracker ShapeTracker::simplify() const { return ShapeTracker(merge_views(views_)); }

ShapeTracker ShapeTracker::operator+(const ShapeTracker& other) const {
  std::vector<View> r = views_;
  for (const View& v : other.views_) {
    r.push_back(v);
    r = merge_last_view(std::move(r));
  }
  return ShapeTracker(std::move(r));
}

std::optional<ShapeTracker> ShapeTracker::invert(const std::vector<Sint>& out_shape) const {
  ShapeTracker r = from_shape(shape());
  for (std::size_t k = views_.size(); k-- > 0;) {
    auto undo = views_[k].invert();
    const std::vector<Sint>& below = k == 0 ? out_shape : views_[k - 1].shape;
    if (!undo || undo->size() != product(below)) return std::nullopt;
    r = (r + ShapeTracker({*undo})).reshape(below);
  }
  return r;
}

std::vector<std::optional<Sint>> ShapeTracker::real_strides(bool ignore_valid) const {
  const View& last = views_.back();
  std::vector<std::optional<Sint>> r(last.shape.size());
  if (views_.size() == 1) {
    const std::vector<bool> masked = masked_axes();
    for (std::size_t k = 0; k < r.size(); k++) {
      if (ignore_valid || !masked[k]) r[k] = last.strides[k];
    }
    return r;
  }
  IndexProbe probe(views_);
  Index at = expr_idxs(probe.idxs());
  for (std::size_t k = 0; k < r.size(); k++) {
    if (!ignore_valid && probe.depends_on(at.valid, k)) continue;
    r[k] = probe.stride(at.idx, k);
  }
  return r;
}

std::vector<int> ShapeTracker::unit_stride_axes(bool ignore_valid) const {
  std::vector<std::optional<Sint>> strides = real_strides(ignore_valid);
  std::vector<int> r;
  for (std::size_t k = 0; k < strides.size(); k++) {
    if (strides[k] && strides[k]->is_int(1)) r.push_back(static_cast<int>(k));
  }
  return r;
}

std::vector<bool> ShapeTracker::masked_axes() const {
  std::vector<bool> masked(shape().size());
  if (views_.size() == 1) {
    const View& v = views_.front();
    for (std::size_t k = 0; k < masked.size() && v.mask && !v.is_empty(); k++)
      masked[k] = !v.shape[k].is_int(1) && (*v.mask)[k] != Range{0, v.shape[k]};
    return masked;
  }
  IndexProbe probe(views_);
  const Sint valid = expr_idxs(probe.idxs()).valid;
  for (std::size_t k = 0; k < masked.size(); k++) masked[k] = probe.depends_on(valid, k);
  return masked;
}

bool ShapeTracker::shows_all_once(std::int64_t elements) const {
  return views_.size() == 1 && views_[0].offset.is_int(0) && shows_each_once(elements);
}

bool ShapeTracker::shows_each_once(std::int64_t elements) const {
  if (views_.size() != 1 || views_[0].mask || !views_[0].offset.is_int()) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // distance, size
  std::int64_t first = views_[0].offset.as_int();
  for (std::size_t d = 0; d < views_[0].shape.size(); d++) {
    if (!views_[0].shape[d].is_int() || !views_[0].strides[d].is_int()) return false;
    const std::int64_t size = views_[0].shape[d].as_int(), stride = views_[0].strides[d].as_int();
    if (stride == 0) continue;
    dims.emplace_back(std::abs(stride), size);
    if (stride < 0) first += stride * (size - 1);
  }
  std::ranges::sort(dims);
  std::int64_t n = 1;
  for (const auto& [distance, size] : dims) {
    if (distance != n) return false;
    n *= size;
  }
  return first == 0 && n == elements;
}

std::int64_t ShapeTracker::real_size() const {
  auto zero = [](const Sint& s) { return s.is_int(0); };
  if (std::any_of(shape().begin(), shape().end(), zero)) return 0;
  if (std::all_of(views_.begin(), views_.end(), all_ints)) return checked_add(largest_position(views_), 1);
  IndexProbe probe(views_);
  Index at = expr_idxs(probe.idxs());
  if (at.valid.is_int(0)) return 0;
  std::pair<std::int64_t, std::int64_t> range = bounds_under(at.idx, at.valid);
  return range.first > range.second ? 0 : checked_add(range.second, 1);
}

std::vector<const Node*> ShapeTracker::variables() const {
  std::vector<Sint> all;
  for (const View& v : views_) {
    all.insert(all.end(), v.shape.begin(), v.shape.end());
    all.insert(all.end(), v.strides.begin(), v.strides.end());
    all.push_back(v.offset);
    if (!v.mask) continue;
    for (const Range& m : *v.mask) {
      all.push_back(m.first);
      all.push_back(m.second);
    }
  }
  return etch::variables(all);
}

std::string ShapeTracker::to_text() const {
  std::string r = "ShapeTracker(";
  for (std::size_t k = 0; k < views_.size(); k++) r += (k ? ", " : "") + views_[k].to_text();
  return r + ")";
}

std::size_t ShapeTracker::hash() const {
  std::size_t h = 5;
  for (const View& v : views_) h = hash_mix(h, v.hash());
  return h;
}

}  // namespace etch
