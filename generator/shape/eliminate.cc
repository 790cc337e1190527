#include "shape/eliminate.h"

#include <algorithm>
#include <map>

#include "shape/int_math.h"

namespace etch {
namespace {

constexpr int kSteps = 500;          // polynomials looked at for one question
constexpr int kSignSteps = 40;       // of them for the sign of one factor
constexpr int kMaxDepth = 24;        // atoms replaced one after the other
constexpr int kCandidates = 3;       // atoms tried first at each step
constexpr int64_t kMaxCases = 4096;  // values of the sizes that are all tried

// least <= p <= greatest, each term by itself.
int64_t least(const Poly& p) {
  int64_t low = p.constant;
  for (const Term& t : p.terms) low = saturating_add(low, saturating_mul(t.coef > 0 ? t.mono->min : t.mono->max, t.coef));
  return low;
}

bool is_never_negative(const Poly& p) {
  const int64_t low = least(p);
  return low >= 0 && !is_saturated(low);
}
bool is_never_positive(const Poly& p) { return is_never_negative(scale(p, -1)); }
bool is_positive(const Poly& p) {
  const int64_t low = least(p);
  return low > 0 && !is_saturated(low);
}

// p / g where p >= 0 asks the same of both.
Poly reduced(Poly p) {
  const int64_t g = content(p);
  if (g <= 1) return p;
  for (Term& t : p.terms) t.coef /= g;
  p.constant = floor_div(p.constant, g);
  return p;
}

// With each atom as its least value and a rest that is not negative, p is a sum of which each term can be bounded by itself.
bool shifted_is_nonnegative(const Poly& p) {
  std::map<std::vector<const Node*>, int64_t> terms;  // products of rests; only summed up
  int64_t constant = p.constant;
  for (const Term& t : p.terms) {
    const std::vector<const Node*> atoms = atoms_of(t.mono);
    if (atoms.size() > 6) return false;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << atoms.size()); chosen++) {
      int64_t coef = t.coef;
      std::vector<const Node*> rests;
      for (std::size_t k = 0; k < atoms.size(); k++) {
        if (chosen >> k & 1)
          rests.push_back(atoms[k]);
        else
          coef = checked_mul(coef, atoms[k]->min);
      }
      if (coef == 0) continue;
      if (rests.empty()) {
        constant = checked_add(constant, coef);
      } else {
        int64_t& sum = terms[rests];
        sum = checked_add(sum, coef);
      }
    }
  }
  int64_t low = constant;
  for (const auto& [rests, coef] : terms) {
    if (coef >= 0) continue;
    int64_t term = coef;
    for (const Node* a : rests) term = saturating_mul(term, saturating_add(a->max, saturating_neg(a->min)));
    low = saturating_add(low, term);
  }
  return low >= 0 && !is_saturated(low);
}

class Elimination {
 public:
  explicit Elimination(const std::vector<Poly>& facts) : facts_(facts) {}

  bool nonnegative(const Poly& p) {
    steps_ = kSteps;
    return prove(reduced(p), 0) || every_case(p);
  }

 private:
  // factor * atom >= value, or <= value; the factor is positive.
  struct End {
    Poly factor, value;
  };

  bool prove(const Poly& p, int depth) {
    if (is_never_negative(p)) return true;
    if (p.terms.empty() || --steps_ < 0 || depth > kMaxDepth || is_never_positive(add(p, Poly{{}, 1}))) return false;
    int tried = 0;
    for (const Node* a : candidates(p)) {
      Poly factor, rest;
      if (!split_by(p, a, &factor, &rest)) continue;
      if (++tried > kCandidates) break;
      if (a->kind == NodeKind::Div && factor.terms.empty() && std::abs(factor.constant) == 1) {
        if (prove(reduced(without_division(a, factor.constant > 0, rest)), depth + 1)) return true;
        continue;
      }
      const int sign = sign_of(factor, depth);
      if ((sign < 0 || at_an_end(lower_ends(a), factor, rest, depth)) && (sign > 0 || at_an_end(upper_ends(a), factor, rest, depth)))
        return true;
    }
    return shifted_is_nonnegative(p);
  }

  // x//d + rest >= 0 is x >= -d*rest, and rest - x//d >= 0 is x < d*(rest + 1).
  static Poly without_division(const Node* a, bool positive, const Poly& rest) {
    const Poly x = to_poly(a->src[0]), d = to_poly(a->src[1]), wide = multiply(d, rest);
    if (positive) return add(wide, x);
    Poly p = add(add(wide, d), x, -1);
    p.constant = checked_add(p.constant, -1);
    return p;
  }

  // factor * a + rest at one of the ends: where it is not negative there, and the factor's sign says that it is least there (or the
  // other end is looked at too), it is not negative anywhere.
  bool at_an_end(const std::vector<End>& ends, const Poly& factor, const Poly& rest, int depth) {
    return std::ranges::any_of(
        ends, [&](const End& e) { return prove(reduced(add(multiply(e.factor, rest), multiply(factor, e.value))), depth + 1); });
  }

  // Atoms on which the range of no other atom of p depends; sizes last.
  static std::vector<const Node*> candidates(const Poly& p) {
    const std::vector<const Node*> atoms = distinct_atoms(p);
    std::vector<const Node*> inner, sizes;
    for (const Node* a : atoms) {
      const bool needed = std::ranges::any_of(atoms, [&](const Node* b) {
        return b != a && (mentions(b->max_expr, a) || std::ranges::any_of(b->src, [&](const Sint& s) { return mentions(s, a); }));
      });
      if (needed) continue;
      (a->kind == NodeKind::Variable && a->max_expr.is_int() ? sizes : inner).push_back(a);
    }
    inner.insert(inner.end(), sizes.begin(), sizes.end());
    return inner;
  }

  int sign_of(const Poly& factor, int depth) {
    if (is_never_negative(factor)) return 1;
    if (is_never_positive(factor)) return -1;
    const int before = steps_;
    for (int sign : {1, -1}) {
      steps_ = std::min(before, kSignSteps);
      const bool proved = prove(scale(factor, sign), depth + 1);
      steps_ = before - 1;
      if (proved) return sign;
    }
    return 0;
  }

  std::vector<End> lower_ends(const Node* a) const {
    std::vector<End> ends = ends_of_facts(a, 1);
    if (a->kind == NodeKind::Div && a->src[1].min() > 0) {  // d * (x//d) >= x - d + 1
      const Poly x = to_poly(a->src[0]), d = to_poly(a->src[1]);
      ends.push_back({d, add(add(x, d, -1), Poly{{}, 1})});
    }
    ends.push_back({Poly{{}, 1}, Poly{{}, a->min}});
    return ends;
  }

  std::vector<End> upper_ends(const Node* a) const {
    std::vector<End> ends = ends_of_facts(a, -1);
    const Poly one{{}, 1};
    if (a->kind == NodeKind::Variable && !a->max_expr.is_int()) ends.push_back({one, to_poly(a->max_expr)});
    if (a->kind == NodeKind::Div && a->src[1].min() > 0) ends.push_back({to_poly(a->src[1]), to_poly(a->src[0])});
    if (a->upper && !(a->kind == NodeKind::Variable && *a->upper == a->max_expr)) ends.push_back({one, to_poly(*a->upper)});
    if (!is_saturated(a->max)) ends.push_back({one, Poly{{}, a->max}});
    return ends;
  }

  // g*a + h >= 0 is an end of a, where g has the sign.
  std::vector<End> ends_of_facts(const Node* a, int64_t sign) const {
    std::vector<End> ends;
    for (const Poly& fact : facts_) {
      Poly g, h;
      if (!split_by(fact, a, &g, &h)) continue;
      g = scale(g, sign);
      if (is_positive(g)) ends.push_back({g, scale(h, -sign)});
    }
    return ends;
  }

  // All values of the sizes, where they are the only unknowns and few.
  bool every_case(const Poly& p) const {
    const Sint x = from_poly(p);
    if (x.is_int()) return x.as_int() >= 0;
    const std::vector<const Node*> unknown = variables(x);
    int64_t cases = 1;
    std::map<std::string, int64_t> values;
    for (const Node* v : unknown) {
      if (!v->max_expr.is_int() || (cases = saturating_mul(cases, v->max - v->min + 1)) > kMaxCases) return false;
      values[v->name] = v->min;
    }
    for (;;) {
      if (evaluate(x, values) < 0) return false;
      std::size_t k = 0;
      while (k < unknown.size() && ++values[unknown[k]->name] > unknown[k]->max) values[unknown[k]->name] = unknown[k]->min, k++;
      if (k == unknown.size()) return true;
    }
  }

  const std::vector<Poly>& facts_;
  int steps_ = 0;
};

}  // namespace

bool has_open_size(const Poly& p) {
  return std::ranges::any_of(p.terms, [](const Term& t) { return t.mono->kind == NodeKind::Mul || t.mono->upper; });
}

bool proves_by_elimination(const Poly& p, const std::vector<Poly>& facts) {
  try {
    return Elimination(facts).nonnegative(p);
  } catch (const IndexOverflow&) {
    return false;  // numbers too large to decide anything
  }
}

}  // namespace etch
