// Polynomials: conversion, sums and products.
#include "shape/poly.h"

#include <algorithm>
#include <tuple>

#include "shape/int_math.h"

namespace etch {
namespace {

bool is_open_product(const Node* n) { return n->kind == NodeKind::Mul && !n->src[1].is_int(); }

Term to_term(const Node* n) {
  if (n->kind == NodeKind::Mul && n->src[1].is_int()) return {n->src[0].node(), n->src[1].as_int()};
  return {n, 1};
}

Node plain(NodeKind kind, std::vector<Sint> src) {
  return Node{.kind = kind, .owner = nullptr, .min = 0, .max = 0, .src = std::move(src), .name = {}, .max_expr = 0, .upper = {}, .hash = 0};
}

// The node of a product; both operands are known.
const Node* product_node(Symbols* owner, Sint a, Sint b) {
  Node n = plain(NodeKind::Mul, {a, b});
  if (const Node* known = owner->find(&n)) return known;
  n.min = kInt64Max, n.max = kInt64Min;
  for (std::int64_t x : {a.min(), a.max()}) {
    for (std::int64_t y : {b.min(), b.max()}) {
      n.min = std::min(n.min, saturating_mul(x, y));
      n.max = std::max(n.max, saturating_mul(x, y));
    }
  }
  return owner->intern(std::move(n));
}

Sint term_node(const Term& t) { return t.coef == 1 ? Sint(*t.mono) : Sint(*product_node(t.mono->owner, Sint(*t.mono), t.coef)); }

bool term_less(const Term& a, const Term& b) { return compare(a.mono, b.mono) < 0; }

}  // namespace

Symbols* owner_of(const Poly& p) { return p.terms.empty() ? nullptr : p.terms[0].mono->owner; }

Poly to_poly(Sint x) {
  Poly p;
  if (x.is_int()) {
    p.constant = x.as_int();
  } else if (x.node()->kind == NodeKind::Sum) {
    p.terms.reserve(x.node()->src.size());
    for (const Sint& s : x.node()->src) {
      if (s.is_int()) {
        p.constant = s.as_int();
      } else {
        p.terms.push_back(to_term(s.node()));
      }
    }
  } else {
    p.terms.push_back(to_term(x.node()));
  }
  return p;
}

Sint from_poly(const Poly& p) {
  if (p.terms.empty()) return p.constant;
  if (p.terms.size() == 1 && p.constant == 0) return term_node(p.terms[0]);
  std::vector<Sint> src;
  src.reserve(p.terms.size() + 1);
  for (const Term& t : p.terms) src.push_back(term_node(t));
  if (p.constant != 0) src.push_back(p.constant);
  Node n = plain(NodeKind::Sum, std::move(src));
  Symbols* owner = p.terms[0].mono->owner;
  if (const Node* known = owner->find(&n)) return Sint(*known);
  std::tie(n.min, n.max) = bounds(p);
  if (n.min == n.max && !is_saturated(n.min)) return n.min;
  return Sint(*owner->intern(std::move(n)));
}

Poly add(const Poly& a, const Poly& b, std::int64_t b_factor) {
  if (b_factor == 0) return a;
  Poly r;
  r.constant = checked_add(a.constant, checked_mul(b.constant, b_factor));
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto i = a.terms.begin(), j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    int c = i == a.terms.end() ? 1 : j == b.terms.end() ? -1 : compare(i->mono, j->mono);
    if (c < 0) {
      r.terms.push_back(*i++);
    } else if (c > 0) {
      r.terms.push_back({j->mono, checked_mul(j->coef, b_factor)});
      j++;
    } else {
      std::int64_t coef = checked_add(i->coef, checked_mul(j->coef, b_factor));
      if (coef != 0) r.terms.push_back({i->mono, coef});
      i++, j++;
    }
  }
  return r;
}

Poly scale(const Poly& a, std::int64_t factor) {
  Poly r;
  if (factor == 0) return r;
  r.constant = checked_mul(a.constant, factor);
  r.terms.reserve(a.terms.size());
  for (const Term& t : a.terms) r.terms.push_back({t.mono, checked_mul(t.coef, factor)});
  return r;
}

std::vector<const Node*> atoms_of(const Node* mono) {
  std::vector<const Node*> atoms;
  while (is_open_product(mono)) {  // right-nested: (a * (b * c))
    atoms.push_back(mono->src[0].node());
    mono = mono->src[1].node();
  }
  atoms.push_back(mono);
  return atoms;
}

const Node* product_of(const std::vector<const Node*>& atoms) {
  const Node* r = atoms.back();
  for (std::size_t k = atoms.size() - 1; k-- > 0;) r = product_node(r->owner, Sint(*atoms[k]), Sint(*r));
  return r;
}

const Node* multiply_monos(const Node* a, const Node* b) {
  std::vector<const Node*> atoms = atoms_of(a);
  for (const Node* n : atoms_of(b)) atoms.push_back(n);
  std::sort(atoms.begin(), atoms.end(), [](const Node* x, const Node* y) { return compare(x, y) < 0; });
  // A condition is 0 or 1, so its square is itself.
  auto boolean = [](const Node* n) { return n->kind == NodeKind::Lt || n->kind == NodeKind::And; };
  atoms.erase(std::unique(atoms.begin(), atoms.end(), [&](const Node* x, const Node* y) { return x == y && boolean(x); }), atoms.end());
  return product_of(atoms);
}

bool divide_mono(const Node* a, const Node* b, const Node** rest) {
  *rest = nullptr;
  if (a == b) return true;
  if (!is_open_product(a)) return false;
  std::vector<const Node*> left;
  const Node* tail = b;  // the part of b that is not found yet; both are sorted
  for (const Node* n = a; n != nullptr; n = is_open_product(n) ? n->src[1].node() : nullptr) {
    const Node* atom = is_open_product(n) ? n->src[0].node() : n;
    const Node* want = tail == nullptr ? nullptr : is_open_product(tail) ? tail->src[0].node() : tail;
    if (atom == want) {
      tail = is_open_product(tail) ? tail->src[1].node() : nullptr;
    } else {
      left.push_back(atom);
    }
  }
  if (tail != nullptr) return false;
  *rest = left.empty() ? nullptr : product_of(left);
  return true;
}

Poly multiply(const Poly& a, const Poly& b) {
  if (b.terms.empty()) return scale(a, b.constant);
  if (a.terms.empty()) return scale(b, a.constant);
  Poly r = scale(a, b.constant);
  r = add(r, b, a.constant);
  r.constant = checked_mul(a.constant, b.constant);
  for (const Term& x : a.terms) {
    Poly row;
    for (const Term& y : b.terms) row.terms.push_back({multiply_monos(x.mono, y.mono), checked_mul(x.coef, y.coef)});
    std::sort(row.terms.begin(), row.terms.end(), term_less);
    Poly merged;
    for (const Term& t : row.terms) {
      if (!merged.terms.empty() && merged.terms.back().mono == t.mono) {
        merged.terms.back().coef = checked_add(merged.terms.back().coef, t.coef);
      } else {
        merged.terms.push_back(t);
      }
    }
    std::erase_if(merged.terms, [](const Term& t) { return t.coef == 0; });
    r = add(r, merged);
  }
  return r;
}

std::int64_t content(const Poly& p) {
  std::int64_t g = 0;
  for (const Term& t : p.terms) g = gcd64(g, t.coef);
  return g;
}

Sint make_divmod(NodeKind kind, Sint numerator, Sint divisor) {
  Symbols* owner = owner_of(numerator) ? owner_of(numerator) : owner_of(divisor);
  check(owner != nullptr && numerator.min() >= 0 && divisor.min() > 0, "a division node has a numerator >= 0 and a divisor > 0");
  Node n = plain(kind, {numerator, divisor});
  if (const Node* known = owner->find(&n)) return Sint(*known);
  if (kind == NodeKind::Div) {
    n.min = is_saturated(divisor.max()) ? 0 : numerator.min() / divisor.max();
    n.max = is_saturated(numerator.max()) ? kInt64Max : numerator.max() / divisor.min();
    if (auto up = upper_expr(to_poly(numerator)); up && up->min() >= 0) {
      n.upper = floordiv(*up, divisor);
      n.max = std::min(n.max, n.upper->max());
      if (n.upper->is_int()) n.upper.reset();
    }
  } else if (divisor.is_int()) {  // with (6*a+1)%8, only 1, 3, 5, 7
    Poly p = to_poly(numerator);
    std::int64_t g = gcd64(content(p), divisor.as_int());
    n.min = floor_mod(p.constant, g);
    n.max = std::min(numerator.max(), divisor.as_int() - g + n.min);
  } else {
    n.max = std::min(numerator.max(), is_saturated(divisor.max()) ? kInt64Max : divisor.max() - 1);
    n.upper = divisor - 1;
  }
  if (n.min == n.max) return n.min;
  return Sint(*owner->intern(std::move(n)));
}

}  // namespace etch
