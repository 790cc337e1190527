#include "emit/formula.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

class Formula : public testing::Test {
 protected:
  const LazyOp* load(int buffer, ShapeTracker st) { return ops.load(buffer, DType::Float32, std::move(st)); }
  const LazyOp* number(double value, std::vector<Sint> shape) {
    const std::vector<Sint> ones(shape.size(), 1);
    return ops.constant(Scalar::of_double(DType::Float32, value), ShapeTracker::from_shape(ones).expand(shape));
  }
  const LazyOp* store(const LazyOp* value) { return ops.store(0, value, ShapeTracker::from_shape(value->shape)); }
  static ShapeTracker st(std::vector<Sint> shape) { return ShapeTracker::from_shape(std::move(shape)); }
  LazyOps ops;
};

using Lines = std::vector<std::string>;

TEST_F(Formula, Elementwise) {
  const LazyOp* a = load(1, st({4, 8}));
  const LazyOp* b = load(2, st({8}).reshape({1, 8}).expand({4, 8}));
  const LazyOp* v =
      ops.elementwise(Op::Max, {ops.elementwise(Op::Add, {ops.elementwise(Op::Mul, {a, number(0.5, {4, 8})}), b}), number(0, {4, 8})});
  EXPECT_EQ(formula(store(v), {{"out", {4, 8}}, {"a", {4, 8}}, {"b", {8}}}).lines, (Lines{"out[m][n] = relu(a[m][n] * 0.5 + b[n])"}));
}

TEST_F(Formula, MatrixProduct) {
  // [3,5] x [5,2]: axes m, n, k
  const LazyOp* a = load(1, st({3, 5}).reshape({3, 1, 5}).expand({3, 2, 5}));
  const LazyOp* w = load(2, st({5, 2}).permute({1, 0}).reshape({1, 2, 5}).expand({3, 2, 5}));
  const LazyOp* v = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {a, w}), {2});
  EXPECT_EQ(formula(store(v), {{"out", {3, 2}}, {"a", {3, 5}}, {"w", {5, 2}}}).lines, (Lines{"out[m][n] = sum[k](a[m][k] * w[k][n])"}));
}

TEST_F(Formula, PaddedWindow) {
  // A row of 8, window of 3 with padding 1, as the sum over j of in[x+j-1]: by three views side by side it would be a mask.
  const ShapeTracker padded = st({8}).pad({{1, 1}});
  const ShapeTracker windows(
      {View::create({10}, std::vector<Sint>{1}, -1, std::vector<Range>{{1, 9}}), View::create({8, 3}, std::vector<Sint>{1, 1})});
  ASSERT_EQ(padded.shape()[0], Sint(10));
  const LazyOp* v = ops.reduce(Op::ReduceMax, load(1, windows), {1});
  EXPECT_EQ(formula(store(v), {{"out", {8}}, {"in", {8}}}).lines, (Lines{"out[n] = max[k](in[n+k-1]?)"}));
}

TEST_F(Formula, FlipsAndSteps) {
  EXPECT_EQ(formula(store(load(1, st({8}).stride({-1}))), {{"out", {8}}, {"in", {8}}}).lines, (Lines{"out[n] = in[-n+7]"}));
  EXPECT_EQ(formula(store(load(1, st({8, 6}).stride({2, 3}))), {{"out", {4, 2}}, {"in", {8, 6}}}).lines,
            (Lines{"out[m][n] = in[2*m][3*n]"}));
}

// Each tree has axes of its own; values go on to be numbered.
TEST_F(Formula, OfTwoTrees) {
  const auto twice = [&](const LazyOp* x) {
    return ops.elementwise(Op::Mul, {ops.elementwise(Op::Sqrt, {x}), ops.elementwise(Op::Sqrt, {x})});
  };
  const LazyOp* second = ops.store(1, twice(load(3, st({2, 3}))), st({2, 3}));
  const LazyOp* root = ops.store(0, twice(load(2, st({8}))), st({8}), {second});
  EXPECT_EQ(formula(root, {{"out", {8}}, {"out_2", {2, 3}}, {"in", {8}}, {"in_2", {2, 3}}}).lines,
            (Lines{"t0 = sqrt(in[n])", "out[n] = t0 * t0", "t2 = sqrt(in_2[m][n])", "out_2[m][n] = t2 * t2"}));
}

// The turn behind that of a loop, with the first one behind the last: in rows of four.
TEST_F(Formula, PartsOfSumsAreIndices) {
  Symbols symbols;
  const Sint next = floormod(symbols.variable("step", 0, 4) + 1, 5);
  const LazyOp* rows = load(1, ShapeTracker({View::create({4, 3}, std::vector<Sint>{3, 1}, next * 12)}));
  EXPECT_EQ(formula(store(rows), {{"out", {4, 3}}, {"in", {20, 3}}}).lines, (Lines{"out[m][n] = in[m+4*((step+1)%5)][n]"}));
}

TEST_F(Formula, SharedValuesGetALineEach) {
  const LazyOp* a = load(1, st({4}));
  const LazyOp* e = ops.elementwise(Op::Exp, {a});
  const LazyOp* v = ops.elementwise(Op::Div, {e, ops.elementwise(Op::Add, {e, number(1, {4})})});
  EXPECT_EQ(formula(store(v), {{"out", {4}}, {"in", {4}}}).lines, (Lines{"t0 = exp(in[n])", "out[n] = t0 / (t0 + 1.0)"}));
}

TEST_F(Formula, ParenthesesOnlyWhereNeeded) {
  const LazyOp* a = load(1, st({4}));
  const LazyOp* b = load(2, st({4}));
  const LazyOp* c = load(3, st({4}));
  const auto text = [&](const LazyOp* v) { return formula(store(v), {{"o", {4}}, {"a", {4}}, {"b", {4}}, {"c", {4}}}).lines.front(); };
  EXPECT_EQ(text(ops.elementwise(Op::Sub, {a, ops.elementwise(Op::Sub, {b, c})})), "o[n] = a[n] - (b[n] - c[n])");
  EXPECT_EQ(text(ops.elementwise(Op::Sub, {ops.elementwise(Op::Sub, {a, b}), c})), "o[n] = a[n] - b[n] - c[n]");
  EXPECT_EQ(text(ops.elementwise(Op::Mul, {ops.elementwise(Op::Add, {a, b}), c})), "o[n] = (a[n] + b[n]) * c[n]");
  const auto both = [&](Op op, const LazyOp* x, const LazyOp* y) { return ops.elementwise(op, {x, y}); };
  EXPECT_EQ(text(both(Op::Mul, a, both(Op::Div, b, c))), "o[n] = a[n] * (b[n] / c[n])");
  EXPECT_EQ(text(both(Op::Div, both(Op::Mul, a, b), c)), "o[n] = a[n] * b[n] / c[n]");
  EXPECT_EQ(text(both(Op::Mul, a, both(Op::Mul, b, c))), "o[n] = a[n] * b[n] * c[n]");
  EXPECT_EQ(text(ops.elementwise(Op::Where, {ops.elementwise(Op::CmpLt, {a, b}), c, a})), "o[n] = a[n] < b[n] ? c[n] : a[n]");
}

TEST_F(Formula, LongOnesAreCut) {
  const LazyOp* v = load(1, st({4}));
  for (int i = 0; i < 30; i++) v = ops.elementwise(Op::Add, {ops.elementwise(Op::Sin, {v}), v});
  const Lines lines = formula(store(v), {{"out", {4}}, {"in", {4}}}, 5).lines;
  EXPECT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[3].substr(0, 4), "... ");
  EXPECT_EQ(lines[4].substr(0, 9), "out[n] = ");
}

TEST_F(Formula, VariableSizes) {
  Symbols symbols;
  const Sint batch = symbols.variable("batch", 1, 8);
  const LazyOp* v = ops.elementwise(Op::Neg, {load(1, st({batch, 3}))});
  EXPECT_EQ(formula(store(v), {{"out", {batch, 3}}, {"in", {batch, 3}}}).lines, (Lines{"out[m][n] = -in[m][n]"}));
}

}  // namespace
}  // namespace etch
