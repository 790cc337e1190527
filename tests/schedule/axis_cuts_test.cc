// Axes of an AST that become several: sizes and axes as worked out by hand, and the same results as with whole axes.
#include "schedule/axis_cuts.h"

#include <gtest/gtest.h>

#include "interp/interp.h"

namespace etch {
namespace {

ShapeTracker rows(const std::vector<Sint>& shape) { return ShapeTracker::from_shape(shape); }

std::string cut(const AxisCuts& cuts, const std::vector<Sint>& shape) {
  const auto sizes = cuts.shape(shape);
  return sizes ? shape_text(*sizes) : "none";
}

TEST(AxisCuts, AreWhereAnAxisRunsAcrossABorder) {
  AxisCuts cuts(3);
  EXPECT_TRUE(cuts.empty());
  cuts.add(rows({2, 32, 6}), 8 * 6);
  EXPECT_EQ(cut(cuts, {2, 32, 6}), "[2,4,8,6]");
  cuts.add(rows({2, 32, 6}), 4 * 6);
  EXPECT_EQ(cut(cuts, {2, 32, 6}), "[2,4,2,4,6]");
  EXPECT_EQ(cut(cuts, {2, 1, 6}), "[2,1,1,1,6]") << "behind a reduction";
  EXPECT_EQ(cut(cuts, {2, 32, 6, 7}), "[2,4,2,4,6,7]") << "with the axis of positions of an indexed Load";
  EXPECT_EQ(cuts.axes({0, 1}), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(cuts.axes({2}), (std::vector<int>{4}));
}

TEST(AxisCuts, LeaveAxesThatDoNotRunAcross) {
  AxisCuts cuts(3);
  cuts.add(rows({2, 8, 6}), 8 * 6);   // a border at the end of the axis is the next axis's
  cuts.add(rows({2, 32, 6}), 5 * 6);  // 32 is no multiple of 5
  cuts.add(rows({2, 32, 6}), 4 * 6 + 1);
  cuts.add(rows({2, 1, 6}).expand({2, 32, 6}), 6);
  cuts.add(rows({2, 32, 6}).stride({1, -1, 1}), 8 * 6);
  EXPECT_TRUE(cuts.empty());
}

TEST(AxisCuts, OfOneAxisDivideEachOther) {
  AxisCuts cuts(1);
  cuts.add(rows({24}), 4);
  cuts.add(rows({24}), 6);
  EXPECT_EQ(cut(cuts, {24}), "none");
}

class CutKernels : public testing::Test {
 protected:
  static Array counting(std::int64_t n) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < n; i++) values.push_back((i * 37 + 11) % 101 - 50);
    return Array::of_ints(DType::Int32, {n}, values);
  }

  AxisCuts channels() const {
    AxisCuts cuts(2);
    cuts.add(rows({8, 6}), 2 * 6);
    return cuts;
  }

  LazyOps ops_;
  const Array x_ = counting(48), y_ = counting(48).reshaped({48});
};

// What is masked, gathered, a position, or summed and then spread again.
TEST_F(CutKernels, GiveTheSame) {
  const ShapeTracker padded = rows({6, 6}).pad({{1, 1}, {0, 0}}), whole = rows({8, 6});
  const LazyOp* load = ops_.load(1, DType::Int32, padded);
  const LazyOp* position = ops_.index(DType::Int32, whole.permute({1, 0}).reshape({8, 6}));
  const LazyOp* gathered = ops_.load_at(2, DType::Int32, rows({1, 1, 48}).expand({8, 6, 48}), position);
  const LazyOp* sum = ops_.elementwise(Op::Add, {ops_.elementwise(Op::Mul, {load, gathered}), position});
  const LazyOp* spread = ops_.expand(ops_.reduce(Op::ReduceSum, sum, {0, 1}), {8, 6});
  const LazyOp* three = ops_.constant(Scalar::of_int(DType::Int32, 3), rows({4, 6}).pad({{4, 0}, {0, 0}}));
  const LazyOp* store = ops_.store(0, ops_.elementwise(Op::Add, {ops_.elementwise(Op::Sub, {spread, sum}), three}), whole);
  const auto made = with_cut_axes(ops_, store, channels());
  ASSERT_TRUE(made);
  EXPECT_EQ(shape_text((*made)->shape), "[4,2,6]");
  EXPECT_EQ(interp_evaluate(*made, {&x_, &y_}).ints(), interp_evaluate(store, {&x_, &y_}).ints());
}

TEST_F(CutKernels, AreNoScansAlongACut) {
  const LazyOp* load = ops_.load(1, DType::Int32, rows({8, 6}));
  const auto running = [&](int axis) { return ops_.store(0, ops_.scan(Op::ReduceSum, load, axis), rows({8, 6})); };
  EXPECT_FALSE(with_cut_axes(ops_, running(0), channels()));
  const auto made = with_cut_axes(ops_, running(1), channels());
  ASSERT_TRUE(made);
  EXPECT_EQ(interp_evaluate(*made, {&x_}).ints(), interp_evaluate(running(1), {&x_}).ints());
}

}  // namespace
}  // namespace etch
