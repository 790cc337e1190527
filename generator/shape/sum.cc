// Sums: the ring operations, and the identities that join divisions and remainders of one numerator.
#include <algorithm>
#include <optional>

#include "shape/int_math.h"
#include "shape/poly.h"

namespace etch {
namespace {

bool is_div_or_mod(const Node* n) { return n->kind == NodeKind::Div || n->kind == NodeKind::Mod; }

std::int64_t coefficient(const Poly& p, const Node* mono) {
  for (const Term& t : p.terms) {
    if (t.mono == mono) return t.coef;
  }
  return 0;
}

Poly without(Poly p, const Node* mono) {
  std::erase_if(p.terms, [&](const Term& t) { return t.mono == mono; });
  return p;
}

Poly one(const Node* mono, std::int64_t coef = 1) { return Poly{{{mono, coef}}, 0}; }

// x = y modulo c, coefficient by coefficient (c an int, or an expression: then only if equal).
bool congruent(Sint x, Sint y, Sint c) {
  if (x == y) return true;
  if (!c.is_int()) return false;
  Poly d = add(to_poly(x), to_poly(y), -1);
  return content(d) % c.as_int() == 0 && d.constant % c.as_int() == 0;
}

// Whether p has every term of `part` with exactly that coefficient.
bool contains(const Poly& p, const Poly& part) {
  return std::all_of(part.terms.begin(), part.terms.end(), [&](const Term& t) { return coefficient(p, t.mono) == t.coef; });
}

// The parts of (g*y + r) % (g*c) = g*(y%c) + r with the largest possible g: factor g, y, c and r.
struct Remainder {
  std::int64_t factor = 1;
  Sint y, c;
  std::int64_t rest = 0;
};

Remainder remainder_of(const Node* mod) {
  Remainder r{1, mod->src[0], mod->src[1], 0};
  if (!r.c.is_int()) return r;
  Poly y = to_poly(r.y);
  std::int64_t g = gcd64(content(y), r.c.as_int());
  if (g == 1) return r;
  for (Term& t : y.terms) t.coef /= g;
  r.rest = floor_mod(y.constant, g);
  y.constant = floor_div(y.constant, g);
  return {g, from_poly(y), r.c.as_int() / g, r.rest};
}

// m*(y%c) + m*c*(x//c) = m*x where x = y (mod c).
std::optional<Poly> join_mod_with_div(const Poly& p, const Term& mod) {
  Remainder r = remainder_of(mod.mono);
  std::int64_t m = mod.coef * r.factor;
  for (const Term& t : p.terms) {
    for (const Node* a : atoms_of(t.mono)) {
      if (a->kind != NodeKind::Div || a->src[1] != r.c || !congruent(a->src[0], r.y, r.c)) continue;
      Poly both = scale(multiply(one(a), to_poly(r.c)), m);
      if (!contains(p, both)) continue;
      Poly with_x = add(add(without(p, mod.mono), both, -1), to_poly(a->src[0]), m);
      return add(with_x, Poly{{}, r.rest}, mod.coef);
    }
  }
  return std::nullopt;
}

// m*(y%c) + m*c*((z + x//c) % d) = m*((c*z + x) % (c*d)) where x = y (mod c).
// Each join makes the modulus larger, which bounds the recursion.
std::optional<Poly> join_mod_with_mod(const Poly& p, const Term& mod) {
  if (!mod.mono->src[1].is_int()) return std::nullopt;
  Remainder r = remainder_of(mod.mono);
  std::int64_t c = r.c.as_int(), m = mod.coef * r.factor;
  for (const Term& t : p.terms) {
    std::int64_t want;
    if (t.mono->kind != NodeKind::Mod || __builtin_mul_overflow(m, c, &want) || t.coef != want) continue;
    Poly z = to_poly(t.mono->src[0]);
    for (const Term& u : z.terms) {
      if (u.coef != 1 || u.mono->kind != NodeKind::Div || u.mono->src[1] != Sint(c) || !congruent(u.mono->src[0], r.y, c)) continue;
      Poly numerator = add(scale(without(z, u.mono), c), to_poly(u.mono->src[0]));
      Sint merged = floormod(from_poly(numerator), t.mono->src[1] * c);
      Poly rest = add(without(without(p, mod.mono), t.mono), Poly{{}, r.rest}, mod.coef);
      return add(rest, to_poly(merged), m);
    }
  }
  return std::nullopt;
}

// m*x - m*c*(x//c) = m*(x%c).
std::optional<Poly> subtract_div(const Poly& p, const Term& div) {
  if (!div.mono->src[1].is_int()) return std::nullopt;
  std::int64_t c = div.mono->src[1].as_int();
  if (div.coef % c != 0) return std::nullopt;
  std::int64_t m = -(div.coef / c);
  Poly x = scale(to_poly(div.mono->src[0]), m);
  if (!contains(p, x)) return std::nullopt;
  return add(add(without(p, div.mono), x, -1), to_poly(floormod(div.mono->src[0], c)), m);
}

// x//c + (x+1)//c + ... + (x+c-1)//c = x.
std::optional<Poly> join_staggered(const Poly& p, const Term& div) {
  if (!div.mono->src[1].is_int() || div.mono->src[1].as_int() > static_cast<std::int64_t>(p.terms.size())) return std::nullopt;
  std::int64_t c = div.mono->src[1].as_int();
  Poly base = to_poly(div.mono->src[0]);
  base.constant = 0;
  std::vector<const Node*> found(static_cast<std::size_t>(c), nullptr);
  Poly rest = p, whole = base;
  for (const Term& t : p.terms) {
    if (t.mono->kind != NodeKind::Div || t.mono->src[1] != Sint(c) || t.coef != div.coef) continue;
    Poly d = add(to_poly(t.mono->src[0]), base, -1);
    if (!d.terms.empty()) continue;
    auto slot = static_cast<std::size_t>(floor_mod(d.constant, c));
    if (found[slot] != nullptr) continue;
    found[slot] = t.mono;
    whole.constant = checked_add(whole.constant, floor_div(d.constant, c));
    rest = without(rest, t.mono);
  }
  if (std::find(found.begin(), found.end(), nullptr) != found.end()) return std::nullopt;
  return add(rest, whole, div.coef);
}

std::optional<Poly> join_once(const Poly& p) {
  for (const Term& t : p.terms) {
    if (t.mono->kind == NodeKind::Mod) {
      if (auto r = join_mod_with_div(p, t)) return r;
      if (auto r = join_mod_with_mod(p, t)) return r;
    }
  }
  for (const Term& t : p.terms) {
    if (t.mono->kind == NodeKind::Div) {
      if (auto r = subtract_div(p, t)) return r;
      if (auto r = join_staggered(p, t)) return r;
    }
  }
  return std::nullopt;
}

}  // namespace

Poly joined(const Poly& p) {
  if (p.terms.size() < 2) return p;
  Poly now = p;
  while (std::any_of(now.terms.begin(), now.terms.end(), [](const Term& t) { return is_div_or_mod(t.mono); })) {
    auto next = join_once(now);
    if (!next) break;
    now = std::move(*next);
  }
  return now;
}

Sint operator+(Sint a, Sint b) {
  if (a.is_int() && b.is_int()) return checked_add(a.as_int(), b.as_int());
  if (a.is_int(0)) return b;
  if (b.is_int(0)) return a;
  return simplified(add(to_poly(a), to_poly(b)));
}

Sint operator-(Sint a, Sint b) {
  if (a == b) return 0;
  if (b.is_int(0)) return a;
  if (a.is_int() && b.is_int()) return checked_add(a.as_int(), checked_mul(b.as_int(), -1));
  return simplified(add(to_poly(a), to_poly(b), -1));
}

Sint operator-(Sint a) { return a * -1; }

Sint operator*(Sint a, Sint b) {
  if (a.is_int() && b.is_int()) return checked_mul(a.as_int(), b.as_int());
  if (a.is_int(0) || b.is_int(0)) return 0;
  if (a.is_int(1)) return b;
  if (b.is_int(1)) return a;
  if (b.is_int()) return from_poly(scale(to_poly(a), b.as_int()));
  if (a.is_int()) return from_poly(scale(to_poly(b), a.as_int()));
  return simplified(multiply(to_poly(a), to_poly(b)));
}

Sint sum(const std::vector<Sint>& terms) {
  Poly total;
  for (const Sint& t : terms) total = add(total, to_poly(t));
  return simplified(total);
}

Sint product(const std::vector<Sint>& factors) {
  Sint r = 1;
  for (const Sint& f : factors) r = r * f;
  return r;
}

std::optional<Sint> checked_product(const std::vector<Sint>& factors) {
  std::int64_t largest = 1;
  for (const Sint& f : factors) {
    if (f.is_int(0)) return Sint(0);
  }
  for (const Sint& f : factors) {
    std::int64_t magnitude = std::max(saturating_neg(f.min()), f.max());
    if (is_saturated(magnitude) || __builtin_mul_overflow(largest, std::max<std::int64_t>(magnitude, 1), &largest)) return std::nullopt;
  }
  return product(factors);
}

}  // namespace etch
