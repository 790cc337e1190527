// Floor division and modulo. Every rule is an identity of floor arithmetic for all integers; where a rule needs a bound
// it asks bounds().
#include <algorithm>

#include "shape/eliminate.h"
#include "shape/int_math.h"
#include "shape/open_sizes.h"
#include "shape/poly.h"

namespace etch {
namespace {

Poly constant_poly(std::int64_t c) { return Poly{{}, c}; }

// Divisors of k (greater than 1) that divide some coefficient: the places where p can be cut into f*A + B.
std::vector<std::int64_t> cut_candidates(const Poly& p, std::int64_t k) {
  std::vector<std::int64_t> all;
  for (const Term& t : p.terms) all.push_back(gcd64(t.coef, k));
  for (std::size_t i = 0, n = all.size(); i < n; i++) {
    for (std::size_t j = 0; j < i; j++) all.push_back(gcd64(all[i], all[j]));
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase(all, 1);
  return all;
}

// p = f*A + B with B in [j*f, (j+1)*f) for one j. The constant goes to B.
bool cut(const Poly& p, std::int64_t f, Poly* a, Poly* b, std::int64_t* j) {
  *a = *b = Poly{};
  b->constant = p.constant;
  for (const Term& t : p.terms) {
    if (t.coef % f == 0) {
      a->terms.push_back({t.mono, t.coef / f});
    } else {
      b->terms.push_back(t);
    }
  }
  if (a->terms.empty() || b->terms.empty()) return false;
  std::pair<std::int64_t, std::int64_t> range = bounds(*b);
  if (is_saturated(range.first) || is_saturated(range.second)) return false;
  *j = floor_div(range.first, f);
  return floor_div(range.second, f) == *j;
}

bool one_block(std::pair<std::int64_t, std::int64_t> range, std::int64_t k, std::int64_t* block) {
  if (is_saturated(range.first) || is_saturated(range.second)) return false;
  *block = floor_div(range.first, k);
  return floor_div(range.second, k) == *block;
}

// The only term X//c of p with coefficient 1, if no other term is a division by an int.
const Node* single_division(const Poly& p) {
  const Node* found = nullptr;
  for (const Term& t : p.terms) {
    if (t.mono->kind != NodeKind::Div || !t.mono->src[1].is_int()) continue;
    if (found != nullptr || t.coef != 1) return nullptr;
    found = t.mono;
  }
  return found;
}

// c*(p - X//c) + X, the numerator when the division X//c is merged into one around p.
Poly absorb_division(const Poly& p, const Node* division) {
  std::int64_t c = division->src[1].as_int();
  Poly r = scale(p, c);
  std::erase_if(r.terms, [&](const Term& t) { return t.mono == division; });
  return add(r, to_poly(division->src[0]));
}

// -1 - p: floor(p/k) = -1 - floor((-1-p)/k) and p%k = k-1 - (-1-p)%k. A flipped index thus shares its divisions with the
// index itself.
Poly complement(const Poly& p) {
  Poly r = scale(p, -1);
  r.constant -= 1;
  return r;
}

bool mostly_negative(const Poly& p) {
  auto negative = 2 * std::count_if(p.terms.begin(), p.terms.end(), [](const Term& t) { return t.coef < 0; });
  auto all = static_cast<std::ptrdiff_t>(p.terms.size());
  return negative > all || (negative == all && p.terms[0].coef < 0);
}

// Steps that turn a quotient q into the requested result: q % modulus or -1 - q, then out + q.
struct Pending {
  Poly out = {};
  std::int64_t modulus = 0;  // 0: none
  bool complement = false;
};

// p//k where no coefficient of p is divisible by k, gcd(content, k) = 1 and 0 <= constant < k. nullopt: *p and *k have been replaced by
// simpler ones, and the result is their quotient after the steps of `pending`.
std::optional<Sint> div_reduced(Poly* p, std::int64_t* k, Pending* pending) {
  std::pair<std::int64_t, std::int64_t> range = bounds(*p);
  if (std::int64_t block; one_block(range, *k, &block)) return block;
  if (const Node* d = single_division(*p)) {
    std::int64_t wide;
    if (!__builtin_mul_overflow(*k, d->src[1].as_int(), &wide)) {
      *p = absorb_division(*p, d);
      *k = wide;
      return std::nullopt;
    }
  }
  for (std::int64_t f : cut_candidates(*p, *k)) {
    Poly a, b;
    std::int64_t j;
    if (!cut(*p, f, &a, &b, &j)) continue;
    a.constant = j;
    *p = std::move(a);
    *k /= f;
    return std::nullopt;
  }
  if (mostly_negative(*p)) {
    *p = complement(*p);
    pending->complement = true;
    return std::nullopt;
  }
  if (p->terms.size() == 1 && p->constant == 0 && p->terms[0].coef == 1) {
    const Node* m = p->terms[0].mono;
    if (m->kind == NodeKind::Mod && m->src[1].is_int() && m->src[1].as_int() % *k == 0) {  // (x%c)//k = (x//k) % (c//k)
      *p = to_poly(m->src[0]);
      pending->modulus = m->src[1].as_int() / *k;
      return std::nullopt;
    }
  }
  check_fits(!is_saturated(range.first));
  std::int64_t shift = range.first < 0 ? -floor_div(range.first, *k) : 0;  // so that the numerator is never negative
  p->constant = checked_add(p->constant, checked_mul(shift, *k));
  return make_divmod(NodeKind::Div, from_poly(*p), *k) - shift;
}

// Returns p//k for the part of p that k divides, and reduces *p and *k to a rest with the same remaining quotient.
Poly take_multiples(Poly* p, std::int64_t* k) {
  Poly out, rest;
  for (const Term& t : p->terms) {
    if (t.coef % *k == 0) {
      out.terms.push_back({t.mono, t.coef / *k});
    } else {
      rest.terms.push_back(t);
    }
  }
  out.constant = floor_div(p->constant, *k);
  rest.constant = floor_mod(p->constant, *k);
  std::int64_t g = gcd64(content(rest), *k);
  if (g > 1 && !rest.terms.empty()) {
    for (Term& t : rest.terms) t.coef /= g;
    rest.constant /= g;
    *k /= g;
  }
  *p = std::move(rest);
  return out;
}

Sint div_int(Poly p, std::int64_t k) {
  std::vector<Pending> pending;
  std::optional<Sint> q;
  while (!q) {
    check(k != 0, "nothing is divided by 0");
    if (k < 0) {
      p = scale(p, -1);
      k = -k;
    }
    if (k == 1) {
      q = simplified(p);
      break;
    }
    pending.push_back({.out = take_multiples(&p, &k)});
    if (p.terms.empty()) {
      q = 0;
    } else {
      q = k == 1 ? simplified(p) : div_reduced(&p, &k, &pending.back());
    }
  }
  for (; !pending.empty(); pending.pop_back()) {
    const Pending& then = pending.back();
    if (then.modulus != 0) q = floormod(*q, then.modulus);
    if (then.complement) q = Sint(-1) - *q;
    q = from_poly(then.out) + *q;
  }
  return *q;
}

// Coefficients modulo k; a term m*(X%c) becomes m*X where k divides m*c.
Poly reduce_mod(Poly p, std::int64_t k) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Term& t : p.terms) t.coef = floor_mod(t.coef, k);
    std::erase_if(p.terms, [](const Term& t) { return t.coef == 0; });
    p.constant = floor_mod(p.constant, k);
    for (const Term t : p.terms) {
      if (t.mono->kind != NodeKind::Mod || !t.mono->src[1].is_int()) continue;
      std::int64_t mc;
      if (__builtin_mul_overflow(t.coef, t.mono->src[1].as_int(), &mc) || mc % k != 0) continue;
      std::erase_if(p.terms, [&](const Term& u) { return u.mono == t.mono; });
      p = add(p, to_poly(t.mono->src[0]), t.coef);
      changed = true;
      break;
    }
  }
  return p;
}

// Number of operations to compute p.
std::ptrdiff_t operations(const Poly& p) {
  auto factors = std::count_if(p.terms.begin(), p.terms.end(), [](const Term& t) { return t.coef != 1; });
  return factors + static_cast<std::ptrdiff_t>(p.terms.size()) - 1 + (p.constant != 0);
}

// Whether taking the common factor out of a modulo costs no operation: (4*a)%8 becomes (a%2)*4, but (6*a)%8 stays.
bool factoring_is_free(const Poly& p, std::int64_t g) {
  auto freed = std::count_if(p.terms.begin(), p.terms.end(), [&](const Term& t) { return t.coef == g; });
  freed += p.constant != 0 && p.constant < g;
  return freed >= 1 + (p.constant % g != 0);
}

// Recursion is at most 64 calls deep, twice that with complements: each call continues with a divisor of k.
Sint mod_int(const Poly& whole, std::int64_t k) {
  check(k != 0, "nothing is taken modulo 0");
  if (k < 0) return -mod_int(scale(whole, -1), -k);
  if (k == 1) return 0;
  std::int64_t block;
  if (one_block(bounds(whole), k, &block)) return simplified(add(whole, constant_poly(checked_mul(block, k)), -1));
  Poly p = reduce_mod(whole, k);
  if (p.terms.empty()) return p.constant;
  std::int64_t g = gcd64(content(p), k);
  if (g > 1 && factoring_is_free(p, g)) {
    Poly small = p;
    for (Term& t : small.terms) t.coef /= g;
    small.constant = p.constant / g;
    return mod_int(small, k / g) * g + p.constant % g;
  }
  if (one_block(bounds(p), k, &block)) return simplified(add(p, constant_poly(checked_mul(block, k)), -1));
  Poly balanced = p;
  for (Term& t : balanced.terms) t.coef = t.coef > k / 2 ? t.coef - k : t.coef;
  if (one_block(bounds(balanced), k, &block)) return simplified(add(balanced, constant_poly(checked_mul(block, k)), -1));
  for (std::int64_t f : cut_candidates(p, k)) {
    Poly a, b;
    std::int64_t j;
    if (!cut(p, f, &a, &b, &j)) continue;
    a.constant = j;
    b.constant -= j * f;
    return mod_int(a, k / f) * f + simplified(b);
  }
  Poly other = reduce_mod(complement(p), k);
  if (2 + operations(other) <= operations(p)) return k - 1 - mod_int(other, k);
  return make_divmod(NodeKind::Mod, from_poly(p), k);
}

struct Quotient {
  Sint div, mod;
};

// The atoms that every term of p has (p without constant), as one product; null if none.
const Node* common_factor(const Poly& p, const Poly& d) {
  if (p.constant != 0 || d.constant != 0 || p.terms.empty()) return nullptr;
  for (const Node* a : atoms_of(d.terms[0].mono)) {
    auto has = [&](const Term& t) {
      const Node* rest;
      return divide_mono(t.mono, a, &rest);
    };
    if (std::all_of(p.terms.begin(), p.terms.end(), has) && std::all_of(d.terms.begin(), d.terms.end(), has)) return a;
  }
  return nullptr;
}

Poly divide_all(const Poly& p, const Node* a) {
  Poly r;
  r.constant = 0;
  for (const Term& t : p.terms) {
    const Node* rest = nullptr;
    divide_mono(t.mono, a, &rest);
    if (rest == nullptr) {
      r.constant += t.coef;
    } else {
      r.terms.push_back({rest, t.coef});
    }
  }
  std::sort(r.terms.begin(), r.terms.end(), [](const Term& x, const Term& y) { return compare(x.mono, y.mono) < 0; });
  return r;
}

const Term& leading_term(const Poly& d) {
  const Term* best = &d.terms[0];
  for (const Term& t : d.terms) {
    if (atoms_of(t.mono).size() > atoms_of(best->mono).size()) best = &t;
  }
  return *best;
}

// The polynomial quotient by the leading term; with `exact`, only where the coefficient divides without remainder.
Poly leading_quotient(const Poly& p, const Poly& d, bool exact) {
  const Term& lead = leading_term(d);
  Poly q;
  for (const Term& t : p.terms) {
    const Node* rest = nullptr;
    if (!divide_mono(t.mono, lead.mono, &rest)) continue;
    if (exact && t.coef % lead.coef != 0) continue;
    std::int64_t factor = floor_div(t.coef, lead.coef);
    if (factor == 0) continue;
    q = add(q, rest == nullptr ? constant_poly(factor) : Poly{{{rest, factor}}, 0});
  }
  return q;
}

// r in [j*d, (j+1)*d) for a small j: then r//d = j.
bool small_quotient(const Poly& r, const Poly& d, const std::function<bool(const Poly&)>& nonnegative, std::int64_t* j) {
  for (std::int64_t guess : {0, -1, 1, 2, -2}) {
    Poly low = add(r, d, -guess);
    if (!nonnegative(low)) continue;
    Poly gap = add(d, low, -1);
    gap.constant -= 1;
    if (!nonnegative(gap)) continue;
    *j = guess;
    return true;
  }
  return false;
}

bool nonnegative_by_bounds(const Poly& p) { return bounds(p).first >= 0; }
bool nonnegative_by_elimination(const Poly& p) { return proves_by_elimination(p, {}); }

Quotient div_mod_poly(const Poly& p, const Poly& d);

Quotient unresolved(const Poly& p, const Poly& d) {
  Sint divisor = from_poly(d);
  if (p.terms.size() == 1 && p.terms[0].coef == 1 && p.constant == 0 && p.terms[0].mono->kind == NodeKind::Div) {
    const Node* inner = p.terms[0].mono;  // (x//c)//d = x//(c*d); x is no such quotient again
    Sint q = floordiv(inner->src[0], inner->src[1] * divisor);
    return {q, make_divmod(NodeKind::Mod, Sint(*inner), divisor)};
  }
  std::int64_t low = bounds(p).first;
  check_fits(!is_saturated(low));
  std::int64_t shift = low < 0 ? ceil_div(-low, divisor.min()) : 0;
  Poly raised = add(p, d, shift);
  for (int tries = 0; tries < 4 && bounds(raised).first < 0; tries++) raised = add(p, d, shift = checked_mul(shift, 2));
  Sint numerator = from_poly(raised);
  return {make_divmod(NodeKind::Div, numerator, divisor) - shift, make_divmod(NodeKind::Mod, numerator, divisor)};
}

// Both are divisible by g, p up to a remainder below g: (g*p' + c) // (g*d') = p'//d'.
Quotient divide_by_content(const Poly& p, const Poly& d, std::int64_t g) {
  Poly small_p = p, small_d = d;
  for (Term& t : small_p.terms) t.coef /= g;
  for (Term& t : small_d.terms) t.coef /= g;
  small_p.constant = floor_div(p.constant, g);
  small_d.constant = d.constant / g;
  Quotient r = div_mod_poly(small_p, small_d);
  return {r.div, r.mod * g + floor_mod(p.constant, g)};
}

// Calls itself only with smaller coefficients or fewer factors.
Quotient div_mod_poly(const Poly& p, const Poly& d) {
  if (d.terms.empty()) return {div_int(p, d.constant), mod_int(p, d.constant)};
  std::int64_t g = gcd64(gcd64(content(d), d.constant), content(p));
  if (g > 1) return divide_by_content(p, d, g);
  if (const Node* a = common_factor(p, d)) {
    Quotient r = div_mod_poly(divide_all(p, a), divide_all(d, a));
    return {r.div, r.mod * Sint(*a)};
  }
  for (bool exact : {true, false}) {
    Poly q = leading_quotient(p, d, exact);
    Poly rest = add(p, multiply(q, d), -1);
    std::int64_t j;
    if (small_quotient(rest, d, nonnegative_by_bounds, &j)) return {simplified(add(q, constant_poly(j))), simplified(add(rest, d, -j))};
  }
  if (auto split = exact_quotient(p, d, nonnegative_by_elimination)) return {split->first, split->second};
  Poly q = leading_quotient(p, d, true);
  Quotient r = unresolved(add(p, multiply(q, d), -1), d);
  return {simplified(q) + r.div, r.mod};
}

Quotient div_mod(Sint a, Sint b) {
  if (b.max() < 0) {
    Quotient r = div_mod(-a, -b);
    return {r.div, -r.mod};
  }
  check_for_sizes(b.min() > 0, "a symbolic divisor is never 0", {b});
  return div_mod_poly(to_poly(a), to_poly(b));
}

}  // namespace

std::optional<std::pair<Sint, Sint>> exact_quotient(const Poly& p, const Poly& d, const std::function<bool(const Poly&)>& nonnegative) {
  if (d.terms.empty()) return std::nullopt;
  Poly q = leading_quotient(p, d, true);
  Poly rest = add(p, multiply(q, d), -1);
  std::int64_t j;
  if (!small_quotient(rest, d, nonnegative, &j)) return std::nullopt;
  return std::pair{simplified(add(q, constant_poly(j))), simplified(add(rest, d, -j))};
}

Sint floordiv(Sint a, Sint b) {
  if (!b.is_int()) return div_mod(a, b).div;
  if (a.is_int()) {
    check(b.as_int() != 0, "nothing is divided by 0");
    return floor_div(a.as_int(), b.as_int());
  }
  return div_int(to_poly(a), b.as_int());
}

Sint floormod(Sint a, Sint b) {
  if (!b.is_int()) return div_mod(a, b).mod;
  if (a.is_int()) {
    check(b.as_int() != 0, "nothing is taken modulo 0");
    return floor_mod(a.as_int(), b.as_int());
  }
  return mod_int(to_poly(a), b.as_int());
}

}  // namespace etch
