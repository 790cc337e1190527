// Bounds under a condition. Expression and condition become a linear program: its variables are the products of atoms
// that occur; x//c and x%c are tied to x by 0 <= x - c*(x//c) < c, an index to its symbolic end, a product to its factors.
#include <algorithm>
#include <unordered_map>

#include "shape/eliminate.h"
#include "shape/int_math.h"
#include "shape/linear.h"
#include "shape/linear_bound.h"
#include "shape/poly.h"
#include "shape/walk.h"

namespace etch {
namespace {

constexpr std::size_t kMaxVars = 48, kMaxRows = 160;
constexpr std::size_t kMaxCuts = 200, kMaxWork = 40'000'000;
constexpr std::size_t kMaxAsked = 64;  // divisions of one expression that a condition may decide

// Replaces x%c by x - c*(x//c) in each term that is not a product.
Poly without_mods(Poly p) {
  for (int rounds = 0; rounds < 16; rounds++) {
    auto it = std::find_if(p.terms.begin(), p.terms.end(), [](const Term& t) { return t.mono->kind == NodeKind::Mod; });
    if (it == p.terms.end()) break;
    Term t = *it;
    p.terms.erase(it);
    Poly x = to_poly(t.mono->src[0]), c = to_poly(t.mono->src[1]);
    p = add(p, x, t.coef);
    p = add(p, multiply(c, to_poly(floordiv(t.mono->src[0], t.mono->src[1]))), -t.coef);
  }
  return p;
}

// A condition as polynomials that are >= 0 where it holds.
std::vector<Poly> facts_of(Sint valid) {
  std::vector<Poly> facts;
  if (valid.is_int()) return facts;
  const Node* n = valid.node();
  for (const Sint& c : n->kind == NodeKind::And ? n->src : std::vector<Sint>{valid}) {
    if (c.node()->kind != NodeKind::Lt) continue;
    Linear l = linear_of(c.node());
    facts.push_back(scale(l.poly, -1));
    facts.back().constant = checked_add(l.limit, -1);
  }
  return facts;
}

class Facts {
 public:
  explicit Facts(Sint valid) {
    for (const Poly& fact : facts_of(valid)) add_row(scale(fact, -1));
  }

  /// Sound range of p, or nothing if the condition can't hold.
  std::optional<std::pair<std::int64_t, std::int64_t>> range(const Poly& whole) {
    Poly p = without_mods(whole);
    std::vector<LinearProgram::Entry> up = entries(p), down;
    for (const LinearProgram::Entry& e : up) down.push_back({e.var, -e.coef});
    if (!complete()) return std::nullopt;
    auto low = lower_bound(program_, up), high = lower_bound(program_, down);
    return std::pair{low ? saturating_add(*low, p.constant) : kInt64Min, high ? saturating_add(-*high, p.constant) : kInt64Max};
  }

  /// True if p >= 0 is proved.
  bool nonnegative(const Poly& whole) {
    Poly p = without_mods(whole);
    std::vector<LinearProgram::Entry> objective = entries(p);
    if (!complete()) return true;
    std::size_t n = program_.low.size(), m = program_.rows.size();
    std::size_t work = (n + m) * n * (m + 2 * n);  // of one bound, about
    return proves_at_least(program_, objective, -p.constant, static_cast<int>(std::min(kMaxCuts, 1 + kMaxWork / (work + 1))));
  }

 private:
  std::size_t var(const Node* mono) {
    auto [it, added] = index_.emplace(mono, monos_.size());
    if (added) {
      monos_.push_back(mono);
      program_.low.push_back(mono->min);
      program_.high.push_back(mono->max);
    }
    return it->second;
  }

  std::vector<LinearProgram::Entry> entries(const Poly& p) {
    std::vector<LinearProgram::Entry> r;
    for (const Term& t : p.terms) r.push_back({var(t.mono), t.coef});
    return r;
  }

  // Adds the row whole <= 0.
  void add_row(const Poly& whole) {
    Poly p = without_mods(whole);
    if (p.terms.empty() || program_.rows.size() >= kMaxRows) return;
    program_.rows.push_back({entries(p), -p.constant});
  }

  // Adds rows that tie each variable to its operands, which may add new variables. False if the rows contradict each other.
  bool complete() {
    if (!propagate(&program_)) return false;
    for (; done_ < monos_.size() && done_ < kMaxVars; done_++) {
      const Node* n = monos_[done_];
      Poly self{{{n, 1}}, 0};
      if (n->kind == NodeKind::Variable) {
        if (!n->max_expr.is_int()) add_row(add(self, to_poly(n->max_expr), -1));
      } else if (n->kind == NodeKind::Div) {
        Poly x = to_poly(n->src[0]), c = to_poly(n->src[1]), cq = multiply(c, self);
        add_row(add(cq, x, -1));  // c*q <= x
        Poly rest = add(add(x, cq, -1), c, -1);
        rest.constant += 1;
        add_row(rest);  // x - c*q <= c - 1
      } else if (n->kind == NodeKind::Mod) {
        Poly below = add(self, to_poly(n->src[1]), -1);
        below.constant += 1;
        program_.rows.push_back({entries(below), -below.constant});
      } else if (n->kind == NodeKind::Mul) {
        tie_product(n, self);
      }
    }
    return propagate(&program_);
  }

  // m = a*b: the four products of (a - low a), (high a - a) and (b - low b), (high b - b) are not negative.
  void tie_product(const Node* n, const Poly& self) {
    const Node *a = n->src[0].node(), *b = n->src[1].node();
    if (is_saturated(a->max) || is_saturated(b->max) || is_saturated(a->min) || is_saturated(b->min)) return;
    std::size_t va = var(a), vb = var(b);
    std::int64_t la = program_.low[va], ha = program_.high[va], lb = program_.low[vb], hb = program_.high[vb];
    Poly pa{{{a, 1}}, 0}, pb{{{b, 1}}, 0};
    auto row = [&](std::int64_t ca, std::int64_t cb, std::int64_t sign) {  // sign * (m - cb*a - ca*b + ca*cb) <= 0
      std::int64_t corner;
      if (__builtin_mul_overflow(ca, cb, &corner)) return;
      Poly p = add(add(self, pa, -cb), pb, -ca);
      p.constant += corner;
      add_row(scale(p, sign));
    };
    row(la, lb, -1);
    row(ha, hb, -1);
    row(la, hb, 1);
    row(ha, lb, 1);
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      if (x->upper && y->min >= 0) add_row(add(self, multiply(to_poly(*x->upper), Poly{{{y, 1}}, 0}), -1));
    }
  }

  LinearProgram program_;
  std::vector<const Node*> monos_;
  std::unordered_map<const Node*, std::size_t> index_;
  std::size_t done_ = 0;
};

// src[0] // src[1] or src[0] % src[1], simplified as far as the condition allows.
Sint quotient_or_rest(bool div, const std::vector<Sint>& src, Sint valid) {
  if (!src[1].is_int()) {
    if (auto split = quotient_under(src[0], src[1], valid)) return div ? split->first : split->second;
  } else if (!src[0].is_int()) {
    std::pair<std::int64_t, std::int64_t> range = bounds_under(src[0], valid);
    std::int64_t k = src[1].as_int();
    bool known = range.first <= range.second && !is_saturated(range.first) && !is_saturated(range.second);
    if (known && floor_div(range.first, k) == floor_div(range.second, k)) {
      std::int64_t block = floor_div(range.first, k);
      return div ? Sint(block) : src[0] - block * k;
    }
  }
  return div ? floordiv(src[0], src[1]) : floormod(src[0], src[1]);
}

// x with every division and modulo replaced that the condition determines; if there are very many, only the innermost ones.
Sint simplify(const Node* x, Sint valid) {
  Found<Sint> done;
  const auto of = [&](Sint s) { return done.of(s, [](std::int64_t value) { return Sint(value); }); };
  const auto below = [](const Node* n) { return n->kind == NodeKind::Lt || n->kind == NodeKind::And ? Operands{} : operands(n); };
  std::size_t asked = 0;
  for (const Node* n : toposort<Node>({x}, below)) {
    std::vector<Sint> src;
    for (const Sint& s : below(n).src) src.push_back(of(s));
    switch (n->kind) {
      case NodeKind::Variable:
      case NodeKind::Lt:
      case NodeKind::And:
        done.set(n, Sint(*n));
        break;
      case NodeKind::Mul:
        done.set(n, src[0] * src[1]);
        break;
      case NodeKind::Sum:
        done.set(n, sum(src));
        break;
      case NodeKind::Div:
      case NodeKind::Mod:
        const bool div = n->kind == NodeKind::Div;
        if (++asked <= kMaxAsked)
          done.set(n, quotient_or_rest(div, src, valid));
        else
          done.set(n, div ? floordiv(src[0], src[1]) : floormod(src[0], src[1]));
        break;
    }
  }
  return done.at(x);
}

}  // namespace

std::optional<std::pair<Sint, Sint>> quotient_under(Sint x, Sint d, Sint valid) {
  const Poly numerator = to_poly(x), divisor = to_poly(d);
  const std::vector<Poly> facts = facts_of(valid);
  return exact_quotient(numerator, divisor, [&](const Poly& p) { return proves_by_elimination(p, facts); });
}

std::pair<std::int64_t, std::int64_t> bounds_under(Sint expr, Sint valid) {
  if (valid.is_int(0)) return {1, 0};
  std::pair<std::int64_t, std::int64_t> plain{expr.min(), expr.max()};
  Poly p = to_poly(expr);
  auto variable = [](const Term& t) { return t.mono->kind == NodeKind::Variable; };
  if (valid.is_int() && std::all_of(p.terms.begin(), p.terms.end(), variable)) return plain;  // exact already
  auto r = Facts(valid).range(p);
  if (!r) return {1, 0};
  return {std::max(plain.first, r->first), std::min(plain.second, r->second)};
}

bool proves_nonnegative(Sint expr, Sint valid) {
  if (valid.is_int(0) || expr.min() >= 0) return true;
  if (valid.is_int() && (expr.max() < 0 || expr.node()->kind == NodeKind::Variable)) return false;
  const Poly p = to_poly(expr);
  if (has_open_size(p) && proves_by_elimination(p, facts_of(valid))) return true;
  return Facts(valid).nonnegative(p);
}

bool proves_less(Sint expr, Sint bound, Sint valid) { return proves_nonnegative(bound - expr - 1, valid); }

Sint simplify_under(Sint expr, Sint valid) {
  if (expr.is_int() || valid.is_int()) return expr;
  return simplify(expr.node(), valid);
}

}  // namespace etch
