#include "shape/eliminate.h"

#include <algorithm>
#include <map>
#include <set>

#include "shape/int_math.h"

namespace etch {
namespace {

constexpr int kSteps = 1000;              // polynomials examined for one question
constexpr int kSignSteps = 40;            // of which this many for the sign of one factor
constexpr int kMaxDepth = 24;             // atoms replaced one after the other
constexpr int kCandidates = 3;            // atoms tried at each step
constexpr std::int64_t kMaxCases = 4096;  // values of the sizes that are all tried

// Bounds least <= p <= greatest, by bounding each term by itself.
std::int64_t least(const Poly& p) {
  std::int64_t low = p.constant;
  for (const Term& t : p.terms) low = saturating_add(low, saturating_mul(t.coef > 0 ? t.mono->min : t.mono->max, t.coef));
  return low;
}

bool is_never_negative(const Poly& p) {
  const std::int64_t low = least(p);
  return low >= 0 && !is_saturated(low);
}
bool is_never_positive(const Poly& p) { return is_never_negative(scale(p, -1)); }
bool is_positive(const Poly& p) {
  const std::int64_t low = least(p);
  return low > 0 && !is_saturated(low);
}

// p without positive factors that all of its terms have in common; its sign stays the same.
Poly reduced(Poly p) {
  while (p.constant == 0 && p.terms.size() > 1) {
    const std::vector<const Node*> atoms = atoms_of(p.terms[0].mono);
    const auto common = std::ranges::find_if(atoms, [&](const Node* a) {
      const Node* rest;
      return a->min > 0 && std::ranges::all_of(p.terms, [&](const Term& t) { return divide_mono(t.mono, a, &rest); });
    });
    if (common == atoms.end()) break;
    Poly smaller;
    for (const Term& t : p.terms) {
      const Node* rest = nullptr;
      divide_mono(t.mono, *common, &rest);
      smaller = add(smaller, rest == nullptr ? Poly{{}, t.coef} : Poly{{{rest, t.coef}}, 0});
    }
    p = std::move(smaller);
  }
  const std::int64_t g = content(p);
  if (g <= 1) return p;
  for (Term& t : p.terms) t.coef /= g;
  p.constant = floor_div(p.constant, g);
  return p;
}

// Writes each atom as its least value plus a rest >= 0 and multiplies out, so that each term of p can be bounded by itself.
bool shifted_is_nonnegative(const Poly& p) {
  std::map<std::vector<const Node*>, std::int64_t> terms;  // products of rests; only summed up
  std::int64_t constant = p.constant;
  for (const Term& t : p.terms) {
    const std::vector<const Node*> atoms = atoms_of(t.mono);
    if (atoms.size() > 6) return false;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << atoms.size()); chosen++) {
      std::int64_t coef = t.coef;
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
        std::int64_t& sum = terms[rests];
        sum = checked_add(sum, coef);
      }
    }
  }
  std::int64_t low = constant;
  for (const auto& [rests, coef] : terms) {
    if (coef >= 0) continue;
    std::int64_t term = coef;
    for (const Node* a : rests) term = saturating_mul(term, saturating_add(a->max, saturating_neg(a->min)));
    low = saturating_add(low, term);
  }
  return low >= 0 && !is_saturated(low);
}

// Conditions are stored without divisions: 4*y < H for 2*y < (H+1)//2. For each quotient of p the facts are stated in terms of it again
// and divided by their common factor, which is stronger for integers: 4*y + 1 <= H <= 2*((H+1)//2).
std::vector<Poly> with_quotients(const Poly& p, const std::vector<Poly>& facts) {
  std::vector<Poly> all;
  for (const Node* q : distinct_atoms(p)) {
    if (q->kind != NodeKind::Div || !q->src[1].is_int()) continue;
    const Poly x = to_poly(q->src[0]);
    const std::int64_t d = q->src[1].as_int();
    Poly rest = add(x, Poly{{{q, 1}}, 0}, -d);  // x % d
    for (const Poly& fact : facts) {
      for (const Term& t : fact.terms) {
        const auto in_x = std::ranges::find(x.terms, t.mono, &Term::mono);
        if (in_x == x.terms.end() || t.coef % in_x->coef != 0) continue;
        const std::int64_t k = t.coef / in_x->coef;  // the multiple that cancels t
        Poly said = add(fact, rest, -k);
        if (k > 0) said.constant = checked_add(said.constant, checked_mul(k, d - 1));
        all.push_back(reduced(std::move(said)));
      }
    }
  }
  all.insert(all.end(), facts.begin(), facts.end());  // stronger facts are tried first
  return all;
}

class Elimination {
 public:
  Elimination(const Poly& p, const std::vector<Poly>& facts) : facts_(with_quotients(p, facts)) {
    find_sizes(p);
    for (const Poly& fact : facts) find_sizes(fact);
  }

  bool nonnegative(const Poly& p) {
    steps_ = kSteps;
    return prove(reduced(p), 0) || every_case(p);
  }

 private:
  // factor * atom >= value, or <= value; the factor is positive. Stronger ends come first.
  struct End {
    Poly factor, value;
  };

  bool prove(const Poly& p, int depth) {
    if (is_never_negative(p)) return true;
    if (p.terms.empty() || --steps_ < 0 || depth > kMaxDepth || is_never_positive(add(p, Poly{{}, 1}))) return false;
    if (!failed_.insert(key_of(p)).second) return false;  // tried before, with another order of atoms
    int tried = 0;
    for (const Node* a : candidates(p)) {
      Poly factor, rest;
      if (!split_by(p, a, &factor, &rest)) continue;
      if (++tried > kCandidates) break;
      if (a->kind == NodeKind::Div && factor.terms.empty() && std::abs(factor.constant) == 1 &&
          prove(reduced(without_division(a, factor.constant > 0, rest)), depth + 1))
        return true;
      const int sign = sign_of(factor, depth);
      if ((sign < 0 || at_an_end(lower_ends(a, p), factor, rest, depth)) && (sign > 0 || at_an_end(upper_ends(a, p), factor, rest, depth)))
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

  // Whether factor * a + rest is proved >= 0 at one of the ends. If the factor's sign shows that the least value is there (or the other
  // end is proved too), it is >= 0 everywhere.
  bool at_an_end(const std::vector<End>& ends, const Poly& factor, const Poly& rest, int depth) {
    return std::ranges::any_of(
        ends, [&](const End& e) { return prove(reduced(add(multiply(e.factor, rest), multiply(factor, e.value))), depth + 1); });
  }

  // Finds the open sizes: the atoms at which ranges of indices end, and those in quotients of sizes.
  void find_sizes(const Poly& p) {
    for (const Node* a : distinct_atoms(p)) {
      const std::vector<const Node*> unknown = variables(Sint(*a));
      const bool is_index = std::ranges::any_of(unknown, [](const Node* v) { return !v->max_expr.is_int(); });
      if (!is_index && a->kind != NodeKind::Variable) sizes_.insert(unknown.begin(), unknown.end());
      for (const Node* v : unknown) {
        const std::vector<const Node*> ends = variables(v->max_expr);
        sizes_.insert(ends.begin(), ends.end());
      }
    }
  }

  // The atoms that no other atom's range depends on, in this order: indices below open sizes and quotients of them, other indices,
  // quotients of sizes, sizes.
  std::vector<const Node*> candidates(const Poly& p) const {
    const std::vector<const Node*> atoms = distinct_atoms(p);
    std::vector<const Node*> found;
    for (const Node* a : atoms) {
      const bool needed = std::ranges::any_of(atoms, [&](const Node* b) {
        return b != a && (mentions(b->max_expr, a) || std::ranges::any_of(b->src, [&](const Sint& s) { return mentions(s, a); }));
      });
      if (!needed) found.push_back(a);
    }
    // If one quotient is made of another, the coarser one comes first.
    std::ranges::stable_sort(found, {}, [&](const Node* a) { return std::pair(rank(a), a->kind == NodeKind::Div ? a->max : 0); });
    return found;
  }

  int rank(const Node* a) const {
    if (a->kind == NodeKind::Variable) return sizes_.contains(a) ? 3 : a->max_expr.is_int() ? 1 : 0;
    const auto is_index = [](const Node* v) { return !v->max_expr.is_int(); };
    return std::ranges::any_of(variables(Sint(*a)), is_index) ? 0 : 2;
  }

  using Key = std::vector<std::pair<const Node*, std::int64_t>>;
  static Key key_of(const Poly& p) {
    Key key{{nullptr, p.constant}};
    for (const Term& t : p.terms) key.emplace_back(t.mono, t.coef);
    return key;
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

  std::vector<End> lower_ends(const Node* a, const Poly& p) const {
    std::vector<End> ends = ends_of_facts(a, 1);
    if (a->kind == NodeKind::Div && a->src[1].min() > 0) {  // d * (x//d) >= x - d + 1
      add_rounded_ends(a, 1, &ends);
      for (const auto& [x, d] : finer_quotients(a, p)) ends.push_back({Poly{{}, d}, add(x, Poly{{}, 1 - d})});
      const Poly x = to_poly(a->src[0]), d = to_poly(a->src[1]);
      ends.push_back({d, add(add(x, d, -1), Poly{{}, 1})});
    }
    ends.push_back({kOne, Poly{{}, a->min}});
    return ends;
  }

  std::vector<End> upper_ends(const Node* a, const Poly& p) const {
    std::vector<End> ends = ends_of_facts(a, -1);
    if (a->kind == NodeKind::Variable && !a->max_expr.is_int()) ends.push_back({kOne, to_poly(a->max_expr)});
    if (a->upper && !(a->kind == NodeKind::Variable && *a->upper == a->max_expr)) ends.push_back({kOne, to_poly(*a->upper)});
    if (a->kind == NodeKind::Div && a->src[1].min() > 0) {
      add_rounded_ends(a, -1, &ends);
      for (const auto& [x, d] : finer_quotients(a, p)) ends.push_back({Poly{{}, d}, x});
      ends.push_back({to_poly(a->src[1]), to_poly(a->src[0])});
    }
    if (!is_saturated(a->max)) ends.push_back({kOne, Poly{{}, a->max}});
    return ends;
  }

  // A quotient in terms of other quotients of p, as (numerator, divisor): (H+7)//8 is ((H+3)//4 + 1)//2, and H//3 is ((H*2)//3)//2.
  static std::vector<std::pair<Poly, std::int64_t>> finer_quotients(const Node* quotient, const Poly& p) {
    std::vector<std::pair<Poly, std::int64_t>> found;
    if (!quotient->src[1].is_int()) return found;
    const Poly x = to_poly(quotient->src[0]);
    for (const Node* q : distinct_atoms(p)) {
      if (q == quotient || q->kind != NodeKind::Div || !q->src[1].is_int()) continue;
      const Poly finer = to_poly(q->src[0]);
      const std::int64_t c = q->src[1].as_int(), m = std::max<std::int64_t>(1, finer.terms[0].coef / x.terms[0].coef);
      const std::int64_t d = checked_mul(quotient->src[1].as_int(), m);  // x//d is (m*x + e)//(m*d) for e from 0 to m - 1
      Poly apart = add(scale(x, m), finer, -1);
      const std::int64_t e = floor_mod(-apart.constant, c);
      if (d % c != 0 || d == c || content(apart) % c != 0 || e >= m) continue;
      apart.constant += e;
      for (Term& t : apart.terms) t.coef /= c;
      apart.constant /= c;
      found.emplace_back(add(apart, Poly{{{q, 1}}, 0}), d / c);
    }
    return found;
  }

  // For x//d where x is an index plus an int, or an int minus an index: divides the index's ends that follow from facts. As they are
  // rounded, this is stronger than d * (x//d) <= x.
  void add_rounded_ends(const Node* quotient, std::int64_t sign, std::vector<End>* ends) const {
    const Poly x = to_poly(quotient->src[0]);
    if (x.terms.size() != 1 || x.terms[0].mono->kind != NodeKind::Variable || !quotient->src[1].is_int()) return;
    const std::int64_t coef = x.terms[0].coef;
    for (const End& e : ends_of_facts(x.terms[0].mono, coef > 0 ? sign : -sign)) {
      if (!e.factor.terms.empty() || e.factor.constant != 1) continue;
      Poly end = scale(e.value, coef);
      end.constant = checked_add(end.constant, x.constant);
      ends->push_back({kOne, to_poly(floordiv(from_poly(end), quotient->src[1]))});
    }
  }

  // g*a + h >= 0 is an end of a, where g has the sign.
  std::vector<End> ends_of_facts(const Node* a, std::int64_t sign) const {
    std::vector<End> ends;
    for (const Poly& fact : facts_) {
      Poly g, h;
      if (!split_by(fact, a, &g, &h)) continue;
      g = scale(g, sign);
      if (is_positive(g)) ends.push_back({g, scale(h, -sign)});
    }
    return ends;
  }

  // Tries all values of the sizes, if these are the only unknowns and there are few values.
  bool every_case(const Poly& p) const {
    const Sint x = from_poly(p);
    if (x.is_int()) return x.as_int() >= 0;
    const std::vector<const Node*> unknown = variables(x);
    std::int64_t cases = 1;
    std::map<std::string, std::int64_t> values;
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

  const Poly kOne{{}, 1};
  const std::vector<Poly> facts_;
  std::set<const Node*> sizes_;  // looked up only
  std::set<Key> failed_;         // looked up only
  int steps_ = 0;
};

}  // namespace

bool has_open_size(const Poly& p) {
  return std::ranges::any_of(p.terms, [](const Term& t) { return t.mono->kind == NodeKind::Mul || t.mono->upper; });
}

bool proves_by_elimination(const Poly& p, const std::vector<Poly>& facts) {
  try {
    return Elimination(p, facts).nonnegative(p);
  } catch (const IndexOverflow&) {
    return false;  // numbers too large to decide anything
  }
}

}  // namespace etch
