#include "shape/merge.h"

#include <algorithm>

#include "shape/int_math.h"
#include "shape/linear.h"
#include "shape/poly.h"
#include "shape/shapetracker.h"

namespace etch {
namespace {

Symbols* owner_of_views(const std::vector<View>& views) {
  for (const View& v : views) {
    for (const Sint& s : v.shape) {
      if (!s.is_int()) return s.node()->owner;
    }
    for (const Sint& s : v.strides) {
      if (!s.is_int()) return s.node()->owner;
    }
    if (!v.offset.is_int()) return v.offset.node()->owner;
    if (!v.mask) continue;
    for (const Range& m : *v.mask) {
      if (!m.first.is_int()) return m.first.node()->owner;
      if (!m.second.is_int()) return m.second.node()->owner;
    }
  }
  return nullptr;
}

// Adds the condition to `mask` as a range [begin, end) of one index, with the other end open; false if it is not such a range.
bool as_range(const Linear& c, const std::vector<Sint>& idxs, const IndexProbe& probe, std::vector<Range>* mask) {
  for (std::size_t k = 0; k < idxs.size(); k++) {
    Sint whole = from_poly(c.poly);
    if (!probe.depends_on(whole, k)) continue;
    auto factor = probe.stride(whole, k);
    if (!factor || !factor->is_int()) return false;
    Sint rest = whole - idxs[k] * *factor;
    for (std::size_t j = 0; j < idxs.size(); j++) {
      if (probe.depends_on(rest, j)) return false;
    }
    std::int64_t f = factor->as_int();
    if (f == 0) return false;
    Range& m = (*mask)[k];
    if (f > 0) {  // i < ceil((limit - rest) / f)
      auto end = try_min(m.second, floordiv(Sint(c.limit) - rest + (f - 1), f));
      if (!end) return false;
      m.second = *end;
    } else {  // i > (rest - limit) / -f
      auto begin = try_max(m.first, floordiv(rest - c.limit, -f) + 1);
      if (!begin) return false;
      m.first = *begin;
    }
    return true;
  }
  return false;
}

// One view equal to all of `views`, by simplifying the index expression.
std::optional<View> merge_symbolically(const std::vector<View>& views) {
  const std::vector<Sint>& shape = views.back().shape;
  IndexProbe probe(views);
  ShapeTracker::Index at = ShapeTracker(views).expr_idxs(probe.idxs());
  if (at.valid.is_int(0)) return View::create(shape, std::nullopt, 0, std::vector<Range>(shape.size(), Range{0, 0}));
  std::vector<Sint> strides;
  Sint offset = at.idx;
  for (std::size_t k = 0; k < shape.size(); k++) {
    auto s = probe.stride(at.idx, k);
    if (!s) return std::nullopt;
    strides.push_back(*s);
    offset -= *s * probe.idxs()[k];
  }
  std::vector<Range> mask;
  for (const Sint& s : shape) mask.push_back({0, s});
  if (at.valid.is_int()) return View::create(shape, std::move(strides), offset);
  std::vector<Sint> conditions = at.valid.node()->kind == NodeKind::And ? at.valid.node()->src : std::vector<Sint>{at.valid};
  for (const Sint& c : conditions) {
    if (!as_range(linear_of(c.node()), probe.idxs(), probe, &mask)) return std::nullopt;
  }
  return View::create(shape, std::move(strides), offset, std::move(mask));
}

// Where the outer view shows elements, what is known of its indices is more than their ranges: the views are merged there alone.
std::optional<View> merge_inside(const View& inner, const View& outer);

std::optional<View> merge_two(const View& inner, const View& outer) {
  if (inner.contiguous) return outer;
  if (outer.contiguous && product(inner.shape) == product(outer.shape)) {
    if (auto v = inner.reshape(outer.shape)) return v;
  }
  if (auto v = merge_symbolically({inner, outer})) return v;
  if (auto v = merge_inside(inner, outer)) return v;
  return merge_by_trial({inner, outer});
}

std::optional<View> merge_inside(const View& inner, const View& outer) {
  if (!outer.mask || !all_ints(outer)) return std::nullopt;
  std::vector<Range> around;
  for (std::size_t k = 0; k < outer.shape.size(); k++)
    around.emplace_back((*outer.mask)[k].first, outer.shape[k] - (*outer.mask)[k].second);
  const View inside = outer.shrink(*outer.mask);
  if (inside.mask) return std::nullopt;
  const std::optional<View> merged = merge_two(inner, inside);
  return merged ? std::optional(merged->pad(around)) : std::nullopt;
}

}  // namespace

IndexProbe::IndexProbe(const std::vector<View>& views) {
  Symbols* owner = owner_of_views(views);
  if (owner == nullptr) {
    own_ = std::make_unique<Symbols>();
    owner = own_.get();
  }
  const std::vector<Sint>& shape = views.back().shape;
  for (std::size_t k = 0; k < shape.size(); k++) {
    bool fixed = shape[k].is_int() && shape[k].as_int() <= 1;
    idxs_.push_back(fixed ? Sint(0) : owner->variable("idx" + std::to_string(k), 0, shape[k] - 1));
  }
}

bool IndexProbe::depends_on(Sint x, std::size_t axis) const { return !idxs_[axis].is_int() && mentions(x, idxs_[axis].node()); }

std::optional<Sint> IndexProbe::stride(Sint x, std::size_t axis) const {
  if (idxs_[axis].is_int()) return Sint(0);
  const Node* index = idxs_[axis].node();
  Poly factor;
  for (const Term& t : to_poly(x).terms) {
    if (!mentions(Sint(*t.mono), index)) continue;
    const Node* rest = nullptr;
    if (!divide_mono(t.mono, index, &rest)) return std::nullopt;
    if (rest == nullptr) {
      factor = add(factor, Poly{{}, t.coef});
      continue;
    }
    for (std::size_t k = 0; k < idxs_.size(); k++) {
      if (depends_on(Sint(*rest), k)) return std::nullopt;
    }
    factor = add(factor, Poly{{{rest, t.coef}}, 0});
  }
  return from_poly(factor);
}

namespace {

// Whether the last view alone shows that nothing is read: it has no elements, or only padding.
bool reads_nothing(const View& last) {
  auto zero = [](const Sint& s) { return s.is_int(0); };
  return last.is_empty() || std::any_of(last.shape.begin(), last.shape.end(), zero);
}

std::vector<View> nothing_read(const View& last) {
  if (last.mask) return {last};
  return {View::create(last.shape)};
}

}  // namespace

std::vector<View> merge_last_view(std::vector<View> views) {
  if (views.size() > 1 && reads_nothing(views.back())) return nothing_read(views.back());
  bool changed = true;
  while (views.size() > 1 && changed) {
    auto merged = merge_two(views[views.size() - 2], views.back());
    changed = merged.has_value();
    if (!changed) break;
    views.pop_back();
    views.back() = std::move(*merged);
  }
  if (views.size() > 2) {
    if (auto one = merge_by_trial(views)) return {*one};
  }
  return views;
}

std::vector<View> merge_views(std::vector<View> views) {
  std::vector<View> done;
  for (View& v : views) {
    done.push_back(std::move(v));
    done = merge_last_view(std::move(done));
  }
  return done;
}

}  // namespace etch
