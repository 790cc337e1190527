// Every operation on every type, against tables computed by numpy and, for leaves and movement, where each element comes from.
#include <gtest/gtest.h>

#include "interp/interp.h"
#include "support/every_op.h"
#include "support/rounding_cases.h"

namespace etch {
namespace {

class EveryOp : public testing::TestWithParam<test::OpOnBackend> {};
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(test::every_op_on({"interp"})), test::name_of_row);

TEST_P(EveryOp, IsRightForEveryType) {
  LazyOps ops;
  for (const test::OpKernel& kernel : test::kernels_of(ops, GetParam().op)) {
    std::vector<const Array*> inputs;
    for (const Array& a : kernel.row.args) inputs.push_back(&a);
    EXPECT_EQ(test::op_mismatch(kernel.row, interp_evaluate(kernel.store, inputs), 1), "");
  }
}

// Conversions that are undefined in C are defined by INTERP: truncated, then modulo 2^bits; NaN and infinity give 0. By hand.
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

TEST(Ops, EachResultIsRounded) {
  for (const test::RoundingCase& c : test::kRoundingCases) {
    LazyOps ops;
    const Array x = Array::of_doubles(c.dtype, {test::kRoundingSize}, test::kRoundingInput);
    for (const test::RoundingChain& chain : test::rounding_chains(ops, c))
      EXPECT_EQ(interp_evaluate(chain.store, {&x}).doubles(), chain.expected) << chain.name;
  }
}

// (1 + e)^2 - (1 + 2e) is e^2 where the product is exact, 0 where it is rounded to the type first. By hand.
TEST(Ops, ASumRoundsOnceAndAConvertedProductBefore) {
  const struct {
    DType product, sum;
    double e, expected;
  } rows[] = {
      {DType::Float32, DType::Float32, 0x1p-12, 0x1p-24}, {DType::Float64, DType::Float64, 0x1p-26, 0x1p-52},
      {DType::Float32, DType::Float64, 0x1p-12, 0},       {DType::Float16, DType::Float32, 0x1p-6, 0},
      {DType::BFloat16, DType::Float32, 0x1p-5, 0},
  };
  for (const auto& row : rows)
    for (const std::int64_t results : {1, 4000}) {  // as blocks, as a matrix product
      LazyOps ops;
      const ShapeTracker st({View::create({results, 2}, std::vector<Sint>{0, 1})});
      const LazyOp* product = ops.elementwise(Op::Mul, {ops.load(1, row.product, st), ops.load(2, row.product, st)});
      const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.cast(product, row.sum), {1});
      const Array x = Array::of_doubles(row.product, {2}, std::vector<double>{1 + row.e, -1}),
                  y = Array::of_doubles(row.product, {2}, std::vector<double>{1 + row.e, 1 + 2 * row.e});
      const Array got = interp_evaluate(ops.store(0, sum, ShapeTracker::from_shape(sum->shape)), {&x, &y});
      EXPECT_EQ(got.double_at(0), row.expected) << name_of(row.product) << " in " << name_of(row.sum) << ", results " << results;
      EXPECT_EQ(got.double_at(results - 1), row.expected);
    }
}

}  // namespace
}  // namespace etch
