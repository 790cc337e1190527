// Random expressions against plain evaluation, and the rules that tinygrad 0.8 breaks or lacks.
#include "shape/symbolic.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/error.h"
#include "support/expect_error.h"
#include "support/rounds.h"

namespace etch {
namespace {

using Values = std::map<std::string, std::int64_t>;

std::int64_t plain_div(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

struct Variable {
  std::string name;
  std::int64_t min, max;
  int bound_by;  // index of the variable that is its symbolic end (then max is not used), or -1
};

// An expression and, beside it, its value computed with plain integers.
struct Expr {
  Sint sym;
  std::function<std::int64_t(const Values&)> plain;
};

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : rng_(seed) {
    int n = pick(1, 4);
    for (int k = 0; k < n; k++) {
      std::int64_t lo = pick(0, 2);
      bool bound = k > 0 && pick(0, 3) == 0;
      vars_.push_back({std::string(1, static_cast<char>('a' + k)), bound ? 0 : lo, lo + pick(0, 9), bound ? pick(0, k - 1) : -1});
      const Variable& v = vars_.back();
      syms_vars_.push_back(bound ? syms_.variable(v.name, 0, syms_vars_[static_cast<std::size_t>(v.bound_by)])
                                 : syms_.variable(v.name, v.min, v.max));
    }
  }
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng_); }

  Expr expr(int depth) {
    if (depth == 0 || pick(0, 9) == 0) return leaf();
    Expr a = expr(depth - 1);
    int op = pick(0, 11);
    if (op <= 2)
      return binary(a, expr(depth - 1), [](Sint x, Sint y) { return x + y; }, [](std::int64_t x, std::int64_t y) { return x + y; });
    if (op == 3)
      return binary(a, expr(depth - 1), [](Sint x, Sint y) { return x - y; }, [](std::int64_t x, std::int64_t y) { return x - y; });
    if (op == 4)
      return binary(a, constant(pick(-4, 12)), [](Sint x, Sint y) { return x * y; }, [](std::int64_t x, std::int64_t y) { return x * y; });
    if (op == 5) return binary(a, leaf(), [](Sint x, Sint y) { return x * y; }, [](std::int64_t x, std::int64_t y) { return x * y; });
    if (op <= 7) return binary(a, divisor(), floordiv, plain_div);
    if (op <= 9) return binary(a, divisor(), floormod, [](std::int64_t x, std::int64_t y) { return x - y * plain_div(x, y); });
    if (op == 10) return binary(a, expr(depth - 1), lt, [](std::int64_t x, std::int64_t y) { return static_cast<std::int64_t>(x < y); });
    Expr b = expr(depth - 1), c = expr(depth - 1);
    return {ands({lt(a.sym, b.sym), ge(b.sym, c.sym)}),
            [=](const Values& v) { return static_cast<std::int64_t>(a.plain(v) < b.plain(v) && b.plain(v) >= c.plain(v)); }};
  }

  // All assignments within the ranges, at most `most`.
  std::vector<Values> assignments(std::size_t most) {
    std::vector<Values> all{{}};
    for (const Variable& v : vars_) {
      std::vector<Values> next;
      for (const Values& some : all) {
        std::int64_t hi = v.bound_by < 0 ? v.max : some.at(vars_[static_cast<std::size_t>(v.bound_by)].name);
        for (std::int64_t x = v.min; x <= hi; x++) {
          next.push_back(some);
          next.back()[v.name] = x;
        }
      }
      all = std::move(next);
    }
    while (all.size() > most) {
      std::swap(all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))], all.back());
      all.pop_back();
    }
    return all;
  }

 private:
  Expr constant(std::int64_t c) {
    return {c, [=](const Values&) { return c; }};
  }
  Expr leaf() {
    if (pick(0, 3) == 0) return constant(pick(-9, 9));
    auto k = static_cast<std::size_t>(pick(0, static_cast<int>(vars_.size()) - 1));
    std::string name = vars_[k].name;
    return {syms_vars_[k], [=](const Values& v) { return v.at(name); }};
  }
  Expr divisor() {
    if (pick(0, 3) == 0) {  // a variable made positive
      Expr e = leaf();
      if (!e.sym.is_int())
        return binary(e, constant(1), [](Sint x, Sint y) { return x + y; }, [](std::int64_t x, std::int64_t y) { return x + y; });
    }
    std::int64_t c = pick(-6, 12);
    return constant(c == 0 ? 5 : c);
  }
  template <class F, class G>
  Expr binary(Expr a, Expr b, F f, G g) {
    return {f(a.sym, b.sym), [=](const Values& v) { return static_cast<std::int64_t>(g(a.plain(v), b.plain(v))); }};
  }

  std::mt19937 rng_;
  Symbols syms_;
  std::vector<Variable> vars_;
  std::vector<Sint> syms_vars_;
};

TEST(Symbolic, RandomExpressionsHaveTheirValue) {
  int divisions = 0;
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::rounds(6000)); seed++) {
    Fuzzer f(seed);
    Expr e = f.expr(4);
    for (const Values& v : f.assignments(40)) {
      std::int64_t truth = e.plain(v);
      ASSERT_EQ(evaluate(e.sym, v), truth) << "seed " << seed << ": " << to_text(e.sym);
      ASSERT_LE(e.sym.min(), truth) << "seed " << seed << ": " << to_text(e.sym);
      ASSERT_GE(e.sym.max(), truth) << "seed " << seed << ": " << to_text(e.sym);
    }
    divisions += to_text(e.sym).find("//") != std::string::npos;
  }
  EXPECT_GT(divisions, test::rounds(600));  // the expressions are not all trivial
}

// C's / and % are floor division only where nothing is negative.
void expect_c_divisions(Sint x, const Values& v, unsigned seed) {
  if (x.is_int()) return;
  const Node& n = *x.node();
  for (const Sint& s : n.src) expect_c_divisions(s, v, seed);
  if (n.kind != NodeKind::Div && n.kind != NodeKind::Mod) return;
  ASSERT_GE(evaluate(n.src[0], v), 0) << "seed " << seed << ": " << to_text(x);
  ASSERT_GT(evaluate(n.src[1], v), 0) << "seed " << seed << ": " << to_text(x);
}

TEST(Symbolic, NoNegativeNumberIsDivided) {
  for (unsigned seed = 10000; seed < 10000 + static_cast<unsigned>(test::rounds(1000)); seed++) {
    Fuzzer f(seed);
    Expr e = f.expr(4);
    for (const Values& v : f.assignments(10)) expect_c_divisions(e.sym, v, seed);
  }
}

TEST(Symbolic, BoundsUnderAConditionAreSound) {
  int narrowed = 0, empty = 0;
  for (unsigned seed = 20000; seed < 20000 + static_cast<unsigned>(test::rounds(3000)); seed++) {
    Fuzzer f(seed);
    Expr e = f.expr(3), a = f.expr(2), b = f.expr(2);
    Sint valid = ands({lt(a.sym, b.sym), ge(e.sym, 2)});
    std::pair<std::int64_t, std::int64_t> range = bounds_under(e.sym, valid);
    Sint simpler = simplify_under(e.sym, valid);
    narrowed += range.first > e.sym.min() || range.second < e.sym.max();
    empty += range.first > range.second;
    for (const Values& v : f.assignments(60)) {
      std::int64_t truth = e.plain(v);
      if (!(a.plain(v) < b.plain(v) && truth >= 2)) continue;
      ASSERT_LE(range.first, truth) << "seed " << seed << ": " << to_text(e.sym) << " where " << to_text(valid);
      ASSERT_GE(range.second, truth) << "seed " << seed << ": " << to_text(e.sym) << " where " << to_text(valid);
      ASSERT_EQ(evaluate(simpler, v), truth) << "seed " << seed << ": " << to_text(e.sym) << " where " << to_text(valid);
    }
  }
  EXPECT_GT(narrowed, test::rounds(500));
  EXPECT_GT(empty, test::rounds(50));
}

TEST(Symbolic, SubstitutionKeepsTheValue) {
  for (unsigned seed = 30000; seed < 30000 + static_cast<unsigned>(test::rounds(1000)); seed++) {
    Fuzzer f(seed);
    Expr e = f.expr(4);
    for (const Values& v : f.assignments(6)) {
      Sint x = substitute(e.sym, {{"a", v.at("a")}});
      for (const Node* n : variables(x)) ASSERT_NE(name(*n), "a");
      ASSERT_EQ(evaluate(x, v), e.plain(v)) << "seed " << seed << ": " << to_text(e.sym) << " a=" << v.at("a");
    }
  }
}

TEST(Symbolic, Texts) {
  Symbols s;
  Sint a = s.variable("a", 0, 7), b = s.variable("b", 0, 3), x = s.variable("x", 0, 63), n = s.variable("n", 1, 16);
  Sint i = s.variable("i", 0, n - 1);
  struct Row {
    Sint value;
    const char* text;
  };
  // By hand, from the arithmetic.
  const Row rows[] = {
      {a * 4 + b, "((a*4)+b)"},
      {floordiv(a * 4 + b, 4), "a"},
      {floormod(a * 4 + b, 4), "b"},
      {floordiv(x, 4) * 4 + floormod(x, 4), "x"},
      {x - floordiv(x, 4) * 4, "(x%4)"},
      {a * b - b * a, "0"},
      {lt(a, 3) + lt(a, 3), "((a<3)*2)"},
      {ands({lt(a, 3), lt(a, 5)}), "(a<3)"},
      {ands({lt(a, 3), ge(a, 3)}), "0"},
      {ands({lt(a, 3), lt(b, 2)}), "((a<3) and (b<2))"},
      {ands({}), "1"},
      {eq(a, 3), "((2<a) and (a<4))"},
      {eq(a, a), "1"},
      {ge(a, 3), "(2<a)"},
      {lt(a * 4 + b, 16), "(a<4)"},
      {lt(floordiv(a, 2), 2), "(a<4)"},
      {lt(i, n), "1"},
      {floordiv(a * n + i, n), "a"},
      {floormod(a * n + i, n), "i"},
      {floordiv(i * 25 + 3, 25), "i"},
      {floordiv(-a, 2), "(((1+a)//2)*-1)"},
      {floordiv(a, -2), "(((1+a)//2)*-1)"},
      {floordiv(Sint(7), -3), "-3"},
      {floormod(Sint(7), -3), "-2"},
      {floordiv(63 - x, 4), "(((x//4)*-1)+15)"},
      {floormod(63 - x, 4), "(((x%4)*-1)+3)"},
      {floordiv(lt(a, 3), 5), "0"},
  };
  for (const Row& r : rows) EXPECT_EQ(to_text(r.value), r.text);
}

TEST(Symbolic, TextsDoNotDependOnHistory) {
  Symbols s, t;
  Sint a = s.variable("a", 0, 7), b = s.variable("b", 0, 3);
  Sint tb = t.variable("b", 0, 3), before = t.variable("c", 0, 3) * tb, ta = t.variable("a", 0, 7);
  EXPECT_EQ(to_text(before), "(b*c)");
  EXPECT_EQ(to_text(floordiv(a + b * 3, 2) + b * a), to_text(ta * tb + floordiv(tb * 3 + ta, 2)));
  Sint x = a + b, y = tb + ta;
  ASSERT_EQ(x.node()->src.size(), y.node()->src.size());
  for (std::size_t k = 0; k < x.node()->src.size(); k++) EXPECT_EQ(to_text(x.node()->src[k]), to_text(y.node()->src[k]));
}

TEST(Symbolic, Errors) {
  Symbols s, other;
  Sint a = s.variable("a", 0, 7), n = s.variable("n", 1, 4);
  test::expect_error<InternalError>([&] { s.variable("x", -1, 3); }, "the lower bound of a variable is not negative");
  test::expect_error<InternalError>([&] { s.variable("x", 4, 3); }, "the upper bound of a variable is not below its lower bound");
  test::expect_error<InternalError>([&] { floordiv(a, 0); }, "nothing is divided by 0");
  test::expect_error<InternalError>([&] { floormod(a, 0); }, "nothing is taken modulo 0");
  test::expect_error<InternalError>([&] { floordiv(n, a); }, "a symbolic divisor is never 0");  // a can be 0
  test::expect_error<InternalError>([&] { a + other.variable("b", 0, 7); }, "all nodes of an expression have one owner");
  test::expect_error<InternalError>([&] { a.as_int(); }, "the value is a plain integer");
  test::expect_error<InternalError>([&] { Sint(INT64_MAX) * 2; }, "an index fits into 64 bits");
  test::expect_error<InternalError>([&] { a*(std::int64_t{1} << 62) * 4; }, "an index fits into 64 bits");
  EXPECT_EQ(s.variable("x", 3, 3), Sint(3));
}

TEST(Symbolic, LargeSizesAreChecked) {
  Symbols s;
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(checked_product({big, 4}), Sint(big * 4));
  EXPECT_FALSE(checked_product({big, big}));
  EXPECT_FALSE(checked_product({s.variable("n", 1, big), big}));
  EXPECT_EQ(checked_product({big, big, 0}), Sint(0));
  Sint x = s.variable("x", 0, INT64_MAX - 1);
  Sint y = x * 4;  // too large to bound: then nothing is claimed
  EXPECT_EQ(y.max(), INT64_MAX);
  EXPECT_EQ(lt(y, 5).max(), 1);
}

}  // namespace
}  // namespace etch
