// The columns of ops.def against what numpy computed (tests/data/ops).
#include "ir/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "support/op_table.h"

namespace etch {
namespace {

/// The bits of a value; all NaNs are equal.
std::uint64_t key(const Scalar& s) { return s.is_nan() ? ~std::uint64_t{0} : s.bits(); }

/// The properties that all results of an operation have, over all types and operands of its tables.
struct Seen {
  bool gives_bool = true, commutes = true, idempotent = true, whole = true, exact = true;
  bool has_floats = false;
};

void look_at(const test::OpRow& row, Seen& seen) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> results;
  // The table's sums in bfloat16 are rounded twice, by way of float32.
  seen.exact = seen.exact && (row.ulp == 0 || row.result.dtype() == DType::BFloat16);
  seen.gives_bool = seen.gives_bool && row.result.dtype() == DType::Bool;
  seen.has_floats = seen.has_floats || is_float(row.result.dtype());
  for (std::int64_t k = 0; k < row.result.size(); k++) {
    const Scalar result = row.result.at(k);
    if (is_float(result.dtype()) && std::isfinite(result.as_double()))
      seen.whole = seen.whole && result.as_double() == std::floor(result.as_double());
    if (info(row.op).arity != 2) continue;
    const Scalar a = row.args[0].at(k), b = row.args[1].at(k);
    if (key(a) == key(b)) seen.idempotent = seen.idempotent && result.dtype() == a.dtype() && key(result) == key(a);
    results[{key(a), key(b)}] = key(result);
  }
  for (const auto& [operands, result] : results) {
    const auto swapped = results.find({operands.second, operands.first});
    seen.commutes = seen.commutes && (swapped == results.end() || swapped->second == result);
  }
}

TEST(OpTable, TraitsAndCostsAreWhatNumpyShows) {
  std::map<Op, Seen> all;
  for (const test::OpRow& row : test::read_op_table(ETCH_TEST_DATA "/ops"))
    if (!is_reduce(row.op) && !is_conversion(row.op)) look_at(row, all[row.op]);
  for (const auto& [op, seen] : all) {
    const bool is_binary = info(op).group == OpGroup::Binary;
    EXPECT_EQ(gives_bool(op), seen.gives_bool) << name_of(op);
    EXPECT_EQ(is_commutative(op), is_binary && seen.commutes) << name_of(op);
    EXPECT_EQ(is_idempotent(op), is_binary && seen.idempotent) << name_of(op);
    EXPECT_EQ(gives_whole_numbers(op), seen.has_floats && seen.whole) << name_of(op);
    EXPECT_EQ(is_library_call(op), !seen.exact) << name_of(op);
  }
}

TEST(OpTable, ColumnsHoldWhatTheirHeadingsSay) {
  for (const OpInfo& row : kOps) {
    EXPECT_EQ(row.types.find_first_not_of("fib"), std::string_view::npos) << row.name;
    EXPECT_EQ(row.traits.find_first_not_of("bcivwe"), std::string_view::npos) << row.name;
    EXPECT_GE(row.cost, 1) << row.name;
    EXPECT_EQ(row.word.empty(), row.group == OpGroup::Buffer) << row.name;
    EXPECT_EQ(row.word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos) << row.name;
    EXPECT_EQ(op_named(row.name), static_cast<Op>(&row - kOps));
  }
}

// By hand, as ONNX and numpy define reductions of nothing.
TEST(OpTable, ReductionsStartAtWhatChangesNothing) {
  const struct {
    Op op;
    DType dtype;
    const char* text;
  } rows[] = {
      {Op::ReduceSum, DType::Float32, "0.0"},      {Op::ReduceSum, DType::UInt8, "0"},
      {Op::ReduceProd, DType::Float16, "1.0"},     {Op::ReduceProd, DType::Int64, "1"},
      {Op::ReduceMax, DType::Float32, "-inf"},     {Op::ReduceMax, DType::Float64, "-inf"},
      {Op::ReduceMax, DType::Int8, "-128"},        {Op::ReduceMax, DType::UInt16, "0"},
      {Op::ReduceMax, DType::Bool, "false"},       {Op::ReduceMax, DType::Int64, "-9223372036854775808"},
      {Op::ReduceMin, DType::BFloat16, "inf"},     {Op::ReduceMin, DType::UInt64, "18446744073709551615"},
      {Op::ReduceMin, DType::Int32, "2147483647"}, {Op::ReduceMin, DType::Bool, "true"},
  };
  for (const auto& row : rows) EXPECT_EQ(start_of(row.op, row.dtype).to_text(), row.text) << name_of(row.op) << " " << name_of(row.dtype);
}

// numpy's step(start, x) is x; 0.0 + -0.0 is 0.0, which equals it.
TEST(OpTable, AStepFromTheStartIsTheElement) {
  std::set<std::pair<Op, DType>> found;
  for (const test::OpRow& row : test::read_op_table(ETCH_TEST_DATA "/ops"))
    for (const ReduceInfo& reduction : kReductions) {
      if (row.op != reduction.step) continue;
      const DType dtype = row.result.dtype();
      ASSERT_EQ(info(reduction.op).types.size(), info(reduction.step).types.size()) << name_of(reduction.op);
      const Scalar start = start_of(reduction.op, dtype);
      for (std::int64_t k = 0; k < row.result.size(); k++) {
        if (row.args[0].at(k) != start) continue;
        const Scalar x = row.args[1].at(k), got = row.result.at(k);
        EXPECT_TRUE(key(got) == key(x) || (is_float(dtype) && got.as_double() == x.as_double())) << row.name() << " " << x.to_text();
        found.emplace(reduction.op, dtype);
      }
    }
  for (const ReduceInfo& reduction : kReductions)
    for (int d = 0; d < kDTypeCount; d++)
      if (is_legal(reduction.op, static_cast<DType>(d))) {
        EXPECT_TRUE(found.contains({reduction.op, static_cast<DType>(d)}))
            << name_of(reduction.op) << " " << name_of(static_cast<DType>(d));
      }
}

}  // namespace
}  // namespace etch
