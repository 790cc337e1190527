// Bounds of polynomials. A sum of independent products reaches its extremes at the ends of the ranges; a variable whose
// range ends at an expression is put at that end first, so that (b in [0, n-1]) gives b - n < 0.
#include <algorithm>
#include <optional>

#include "shape/int_math.h"
#include "shape/poly.h"

namespace etch {
namespace {

bool is_product(const Node* n) { return n->kind == NodeKind::Mul; }

bool is_simple(const Poly& p) {
  for (const Term& t : p.terms) {
    if (is_product(t.mono) || t.mono->upper) return false;
  }
  return true;
}

std::int64_t interval_lower(const Poly& p) {
  std::int64_t lo = p.constant;
  for (const Term& t : p.terms) {
    lo = saturating_add(lo, saturating_mul(t.coef > 0 ? t.mono->min : t.mono->max, t.coef));
    if (is_saturated(lo)) return kInt64Min;
  }
  return lo;
}

std::int64_t interval_upper(const Poly& p) {
  std::int64_t hi = p.constant;
  for (const Term& t : p.terms) {
    hi = saturating_add(hi, saturating_mul(t.coef > 0 ? t.mono->max : t.mono->min, t.coef));
    if (is_saturated(hi)) return kInt64Max;
  }
  return hi;
}

// Lower bound of a univariate polynomial over few values, by trying all of them.
std::optional<std::int64_t> enumerate_lower(const Poly& p, const Node* a) {
  if (is_saturated(a->max) || a->max - a->min > 256) return std::nullopt;
  std::vector<std::size_t> degrees;
  for (const Term& t : p.terms) degrees.push_back(atoms_of(t.mono).size());
  std::int64_t lo = kInt64Max;
  for (std::int64_t v = a->min; v <= a->max; v++) {
    std::int64_t sum = p.constant;
    for (std::size_t k = 0; k < p.terms.size(); k++) {
      std::int64_t value = p.terms[k].coef;
      for (std::size_t power = degrees[k]; power > 0; power--) value = saturating_mul(value, v);
      sum = saturating_add(sum, value);
    }
    if (is_saturated(sum)) return std::nullopt;
    lo = std::min(lo, sum);
  }
  return lo;
}

// Each call replaces an atom by an end of its range. *budget is the number of calls that may follow, which also bounds the depth.
std::int64_t lower(const Poly& p, int* budget) {
  if (is_simple(p) || --*budget < 0) return interval_lower(p);
  std::vector<const Node*> atoms = distinct_atoms(p);
  if (atoms.size() == 1 && !atoms[0]->upper) {
    if (auto lo = enumerate_lower(p, atoms[0])) return *lo;
  }
  auto depended_on = [&](const Node* a) {
    return std::any_of(atoms.begin(), atoms.end(), [&](const Node* b) { return b != a && b->upper && mentions(*b->upper, a); });
  };
  auto in_product = [&](const Node* a) {
    return std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& t) {
      const Node* rest;
      return is_product(t.mono) && divide_mono(t.mono, a, &rest);
    });
  };
  for (int pass = 0; pass < 2; pass++) {  // first those with symbolic ends, then other factors of products
    for (const Node* a : atoms) {
      if ((pass == 0) != a->upper.has_value() || depended_on(a)) continue;
      if (pass == 1 && !in_product(a)) continue;
      Poly factor, rest;
      if (!split_by(p, a, &factor, &rest)) continue;
      std::int64_t best = kInt64Max;
      int sign = factor.terms.empty() ? (factor.constant > 0 ? 1 : -1) : 0;
      if (sign >= 0) best = std::min(best, lower(add(rest, factor, a->min), budget));
      if (sign <= 0) {
        Poly end = a->upper ? to_poly(*a->upper) : Poly{{}, a->max};
        best = std::min(best, lower(add(rest, multiply(factor, end)), budget));
      }
      return a->upper ? std::max(best, interval_lower(p)) : best;
    }
  }
  return interval_lower(p);
}

}  // namespace

bool split_by(const Poly& p, const Node* a, Poly* factor, Poly* rest) {
  for (const Term& t : p.terms) {
    const Node* other = nullptr;
    if (!divide_mono(t.mono, a, &other)) {
      rest->terms.push_back(t);
    } else if (other == nullptr) {
      factor->constant = t.coef;
    } else {
      const Node* again = nullptr;
      if (divide_mono(other, a, &again)) return false;
      factor->terms.push_back({other, t.coef});
    }
  }
  rest->constant = p.constant;
  std::sort(factor->terms.begin(), factor->terms.end(), [](const Term& x, const Term& y) { return compare(x.mono, y.mono) < 0; });
  return true;
}

std::vector<const Node*> distinct_atoms(const Poly& p) {
  std::vector<const Node*> all;
  for (const Term& t : p.terms) {
    for (const Node* a : atoms_of(t.mono)) {
      if (std::find(all.begin(), all.end(), a) == all.end()) all.push_back(a);
    }
  }
  return all;
}

std::pair<std::int64_t, std::int64_t> bounds(const Poly& p) {
  constexpr int kBudget = 150;  // polynomials looked at; each variable can double them
  int budget_low = kBudget, budget_high = kBudget;
  std::int64_t lo = lower(p, &budget_low);
  std::int64_t hi = is_simple(p) ? interval_upper(p) : saturating_neg(lower(scale(p, -1), &budget_high));
  return {lo, hi};
}

std::optional<Sint> upper_expr(const Poly& p) {
  if (std::none_of(p.terms.begin(), p.terms.end(), [](const Term& t) { return t.mono->upper || is_product(t.mono); })) return std::nullopt;
  Poly left = p;
  bool changed = false;
  for (int rounds = 0; rounds < 64; rounds++) {
    std::vector<const Node*> atoms = distinct_atoms(left);
    auto it = std::find_if(atoms.begin(), atoms.end(), [&](const Node* a) {
      return a->upper &&
             std::none_of(atoms.begin(), atoms.end(), [&](const Node* b) { return b != a && b->upper && mentions(*b->upper, a); });
    });
    if (it == atoms.end()) break;
    Poly factor, rest;
    if (!split_by(left, *it, &factor, &rest)) return std::nullopt;
    std::pair<std::int64_t, std::int64_t> sign = bounds(factor);
    if (sign.first >= 0) {
      left = add(rest, multiply(factor, to_poly(*(*it)->upper)));
    } else if (sign.second <= 0) {
      left = add(rest, factor, (*it)->min);
    } else {
      return std::nullopt;
    }
    changed = true;
  }
  if (!changed) return std::nullopt;
  return from_poly(left);
}

}  // namespace etch
