// Every operation on every type, against tables computed by numpy.
#include <gtest/gtest.h>

#include <set>

#include "interp/interp.h"
#include "support/op_table.h"

namespace etch {
namespace {

TEST(Ops, AgreeWithNumpy) {
  for (const test::OpRow& row : test::read_op_table(ETCH_TEST_DATA "/ops")) {
    LazyOps ops;
    const LazyOp* store = test::op_store(ops, row);
    std::vector<const Array*> inputs;
    for (const Array& a : row.args) inputs.push_back(&a);
    EXPECT_EQ(test::op_mismatch(row, interp_evaluate(store, inputs), 1), "");
  }
}

TEST(Ops, TheTableHasEveryLegalPair) {
  std::set<std::pair<Op, DType>> seen;
  for (const test::OpRow& row : test::read_op_table(ETCH_TEST_DATA "/ops")) seen.emplace(row.op, row.args.back().dtype());
  for (int o = 0; o < static_cast<int>(std::size(kOps)); o++)
    for (int d = 0; d < kDTypeCount; d++) {
      const auto op = static_cast<Op>(o);
      const auto dtype = static_cast<DType>(d);
      if (info(op).group == OpGroup::Buffer || !is_legal(op, dtype)) continue;
      EXPECT_TRUE(seen.contains({op, dtype})) << name_of(op) << " " << name_of(dtype);
    }
}

// What C leaves undefined, INTERP defines: truncated, then modulo 2^bits; 0 of NaN and infinity. By hand.
TEST(Ops, CastsOfFloatsThatDoNotFit) {
  const struct {
    DType to;
    double value;
    std::int64_t expected;
  } kRows[] = {
      {DType::Int8, 300, 44},          {DType::Int8, -129, 127},          {DType::UInt8, -1, 255}, {DType::UInt8, 256.9, 0},
      {DType::Int32, 4294967297.0, 1}, {DType::Int64, 1e300, 0},          {DType::UInt64, -1, -1}, {DType::Int16, INFINITY, 0},
      {DType::Int64, NAN, 0},          {DType::UInt32, -2.5, 4294967294},
  };
  for (const auto& row : kRows) {
    LazyOps ops;
    const ShapeTracker st = ShapeTracker::from_shape({});
    const LazyOp* store = ops.store(0, ops.cast(ops.load(1, DType::Float64, st), row.to), st);
    const Array in = Array::scalar(Scalar::of_double(DType::Float64, row.value));
    EXPECT_EQ(interp_evaluate(store, {&in}).int_at(0), row.expected) << row.value << " to " << name_of(row.to);
  }
}

// Floats stay in double from leaf to store; a cast to a narrower type rounds.
TEST(Ops, FloatsAreRoundedAtNarrowingCastsAndAtTheStore) {
  const auto evaluate_sum = [](bool with_cast) {
    LazyOps ops;
    const ShapeTracker st = ShapeTracker::from_shape({1});
    const LazyOp *a = ops.load(1, DType::Float32, st), *b = ops.load(2, DType::Float32, st);
    const LazyOp* sum = ops.elementwise(Op::Add, {a, b});
    if (with_cast) sum = ops.cast(ops.cast(sum, DType::Float16), DType::Float32);
    const Array x = Array::of_doubles(DType::Float32, {1}, std::vector<double>{1.0}),
                y = Array::of_doubles(DType::Float32, {1}, std::vector<double>{0x1p-30});
    return interp_evaluate(ops.store(0, ops.elementwise(Op::Sub, {sum, a}), st), {&x, &y}).double_at(0);
  };
  EXPECT_EQ(evaluate_sum(false), 0x1p-30);  // in float32 it would be 0
  EXPECT_EQ(evaluate_sum(true), 0.0);
}

}  // namespace
}  // namespace etch
