// Conditions: comparisons in the form (sum of terms) < constant, and their conjunction.
#include <algorithm>

#include "shape/int_math.h"
#include "shape/linear.h"
#include "shape/poly.h"

namespace etch {
namespace {

// The node, with negative terms moved to the right: a - b < 3 is a < (b+3), -a < -7 is 7 < a.
Sint make_lt(const Poly& p, std::int64_t limit) {
  Poly left, right;
  for (const Term& t : p.terms) {
    if (t.coef > 0) {
      left.terms.push_back(t);
    } else {
      right.terms.push_back({t.mono, -t.coef});
    }
  }
  if (right.terms.empty() || (!left.terms.empty() && limit > 0)) {
    right.constant = limit;
  } else {
    left.constant = -limit;
  }
  Node n{.kind = NodeKind::Lt,
         .owner = nullptr,
         .min = 0,
         .max = 1,
         .src = {from_poly(left), from_poly(right)},
         .name = {},
         .max_expr = 0,
         .upper = {},
         .hash = 0};
  return Sint(*owner_of(p)->intern(std::move(n)));
}

bool is_condition(const Node* n) { return n->kind == NodeKind::Lt || n->kind == NodeKind::And; }

// Drops terms too small to matter: 4a+b < 16 with b < 4 is a < 4.
bool drop_small(Poly* p, std::int64_t* limit) {
  for (const Term& big : p->terms) {
    std::int64_t g = std::abs(big.coef);
    if (g == 1) continue;
    Poly keep, small;
    for (const Term& t : p->terms) (t.coef % g == 0 ? keep : small).terms.push_back(t);
    if (small.terms.empty()) continue;
    std::pair<std::int64_t, std::int64_t> range = bounds(small);
    if (is_saturated(range.first) || is_saturated(range.second)) continue;
    std::int64_t high = ceil_div(checked_add(*limit, -range.first), g);
    if (high != ceil_div(checked_add(*limit, -range.second), g)) continue;
    for (Term& t : keep.terms) t.coef /= g;
    *p = std::move(keep);
    *limit = high;
    return true;
  }
  return false;
}

// The only division by an int in p, if its coefficient is 1 or -1.
const Term* bare_division(const Poly& p) {
  const Term* found = nullptr;
  for (const Term& t : p.terms) {
    if (t.mono->kind != NodeKind::Div || !t.mono->src[1].is_int()) continue;
    if (found != nullptr || std::abs(t.coef) != 1) return nullptr;
    found = &t;
  }
  return found;
}

// a + x//c < t is c*a + x < c*t; a - x//c < t is c*a - x < c*(t-1) + 1.
Poly without_division(Poly p, std::int64_t* limit, Term division) {
  Sint x = division.mono->src[0];
  std::int64_t c = division.mono->src[1].as_int();
  std::erase_if(p.terms, [&](const Term& t) { return t.mono == division.mono; });
  Poly wide = add(scale(p, c), to_poly(x), division.coef);
  *limit = division.coef > 0 ? checked_mul(*limit, c) : checked_add(checked_mul(*limit - 1, c), 1);
  *limit = checked_add(*limit, -wide.constant);
  wide.constant = 0;
  return joined(wide);
}

// p < limit
Sint less(Poly p, std::int64_t limit) {
  while (true) {
    limit = checked_add(limit, -p.constant);
    p.constant = 0;
    std::pair<std::int64_t, std::int64_t> range = bounds(p);
    if (range.second < limit && !is_saturated(range.second)) return 1;
    if (range.first >= limit && !is_saturated(range.first)) return 0;
    std::int64_t g = content(p);
    if (g > 1) {
      for (Term& t : p.terms) t.coef /= g;
      limit = ceil_div(limit, g);
    }
    if (drop_small(&p, &limit)) continue;
    const Term* d = bare_division(p);
    if (d == nullptr) break;
    p = without_division(p, &limit, Term(*d));
  }
  if (p.terms.size() == 1 && is_condition(p.terms[0].mono)) {
    const Node* c = p.terms[0].mono;
    if (p.terms[0].coef < 0) return Sint(*c);  // -c < 0
    // No deeper recursion: a comparison of a single comparison is simplified to that one or its opposite.
    if (c->kind == NodeKind::Lt) return ge(c->src[0], c->src[1]);
  }
  return make_lt(p, limit);
}

// x as a condition: x != 0.
Sint truth(Sint x) {
  if (x.is_int()) return x.as_int() != 0;
  if (is_condition(x.node())) return x;
  if (x.min() >= 0) return lt(0, x);
  if (x.max() <= 0) return lt(x, 0);
  return lt(0, x * x);
}

// Appends the comparisons of a conjunction; none of these is a conjunction itself.
void flatten(Sint x, std::vector<Sint>* out) {
  Sint c = truth(x);
  if (!c.is_int() && c.node()->kind == NodeKind::And) {
    out->insert(out->end(), c.node()->src.begin(), c.node()->src.end());
  } else {
    out->push_back(c);
  }
}

bool same_terms(const Poly& a, const Poly& b, std::int64_t factor) {
  if (a.terms.size() != b.terms.size()) return false;
  for (std::size_t k = 0; k < a.terms.size(); k++) {
    if (a.terms[k].mono != b.terms[k].mono || a.terms[k].coef != b.terms[k].coef * factor) return false;
  }
  return true;
}

}  // namespace

Linear linear_of(const Node* condition) {
  check(condition->kind == NodeKind::Lt, "a comparison is a Lt node");
  Poly p = add(to_poly(condition->src[0]), to_poly(condition->src[1]), -1);
  Linear r{p, -p.constant};
  r.poly.constant = 0;
  return r;
}

Sint lt(Sint a, Sint b) {
  if (a.is_int() && b.is_int()) return a.as_int() < b.as_int();
  if (a == b) return 0;
  return less(joined(add(to_poly(a), to_poly(b), -1)), 0);
}

Sint ge(Sint a, Sint b) {
  if (a.is_int() && b.is_int()) return a.as_int() >= b.as_int();
  return lt(b - 1, a);
}

Sint eq(Sint a, Sint b) { return ands({ge(a, b), ge(b, a)}); }

Sint ands(const std::vector<Sint>& conditions) {
  std::vector<Sint> flat;
  for (const Sint& c : conditions) flatten(c, &flat);
  std::vector<Linear> kept;
  for (const Sint& c : flat) {
    if (c.is_int()) {
      if (c.as_int() == 0) return 0;
      continue;
    }
    Linear now = linear_of(c.node());
    bool known = false;
    for (Linear& k : kept) {
      if (same_terms(now.poly, k.poly, 1)) {
        k.limit = std::min(k.limit, now.limit);
        known = true;
      } else if (same_terms(now.poly, k.poly, -1) && checked_add(now.limit, k.limit) <= 1) {
        return 0;  // x < a and -x < b, that is -b < x: nothing between
      }
    }
    if (!known) kept.push_back(std::move(now));
  }
  // A condition may have been tightened after it was compared with its opposite.
  for (const Linear& a : kept) {
    for (const Linear& b : kept) {
      if (same_terms(a.poly, b.poly, -1) && a.limit + b.limit <= 1) return 0;
    }
  }
  if (kept.empty()) return 1;
  std::vector<Sint> src;
  for (const Linear& k : kept) src.push_back(make_lt(k.poly, k.limit));
  if (src.size() == 1) return src[0];
  std::sort(src.begin(), src.end(), [](const Sint& a, const Sint& b) { return compare(a.node(), b.node()) < 0; });
  Node n{.kind = NodeKind::And, .owner = nullptr, .min = 0, .max = 1, .src = src, .name = {}, .max_expr = 0, .upper = {}, .hash = 0};
  return Sint(*src[0].node()->owner->intern(std::move(n)));
}

std::optional<Sint> try_min(Sint a, Sint b) {
  if (proves_nonnegative(b - a)) return a;
  if (proves_nonnegative(a - b)) return b;
  return std::nullopt;
}

std::optional<Sint> try_max(Sint a, Sint b) {
  if (proves_nonnegative(b - a)) return b;
  if (proves_nonnegative(a - b)) return a;
  return std::nullopt;
}

}  // namespace etch
