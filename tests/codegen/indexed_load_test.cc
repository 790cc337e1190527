// Loads at computed positions, on every backend, against loops that compute each element by hand: all index types, positions outside of
// the axis, views, masks, sums, one lookup after another, with the heuristics and with random OptOps.
#include <gtest/gtest.h>

#include <limits>

#include "codegen/value_range.h"
#include "support/random_ast.h"

namespace etch {
namespace {

using test::Index;
using test::KnownAst;
using test::KnownView;
using Value = std::function<double(const Index&)>;  // of the element at an index

/// A part of an AST, and what it is by hand.
struct Part {
  const LazyOp* op = nullptr;
  Value value;
};

/// The position that an index selects of n, as the Load's definition says.
std::int64_t position(std::int64_t index, std::int64_t n) {
  if (index < 0) index += n;
  return index < 0 ? 0 : index >= n ? n - 1 : index;
}

class Lookups : public test::RandomAsts {
 public:
  using RandomAsts::RandomAsts;

  std::unique_ptr<KnownAst> next() override {
    ast_ = std::make_unique<KnownAst>();
    shape_.clear();
    for (std::int64_t rank = draw(1, 3); rank > 0; rank--) shape_.push_back(draw(1, 8));
    if (draw(0, 3) == 0) shape_.back() = draw(9, 15);  // lanes of eight leave something over
    const DType dtype = pick<DType>({DType::Float32, DType::Float32, DType::Int32, DType::UInt8, DType::Float16});
    Part part = lookup(dtype);
    if (dtype == DType::Float32 && draw(0, 1) == 1) part = product(part, leaf(dtype, 0));
    const bool sums = dtype == DType::Float32 && draw(0, 1) == 1;
    if (sums) part = sum(part);
    Index stored = shape_;
    if (sums) stored.back() = 1;
    ast_->store = ast_->ops.store(0, part.op, ShapeTracker::from_shape(test::sints(stored)));
    test::for_each_index(stored, [&](const Index& at, std::size_t) { ast_->expected.push_back(part.value(at)); });
    return std::move(ast_);
  }

 private:
  KnownView see(DType dtype, const Index& shape, bool may_mask, const std::function<double()>& element) {
    return view(*ast_, dtype, shape, {.repeats = 3, .backwards = 5, .masked = may_mask ? 4 : 0, .last_repeats = false}, element);
  }

  Part leaf(DType dtype, std::int64_t least) {
    const KnownView seen = see(dtype, shape_, true, [&] { return static_cast<double>(draw(least, 9)); });
    return {ast_->ops.load(seen.buffer, dtype, seen.st), seen.value};
  }

  /// Positions for an axis of n: mostly inside, some far outside.
  Part positions(std::int64_t n) {
    const DType dtype =
        pick<DType>({DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64});
    const std::int64_t least = is_unsigned(dtype) ? 0 : -2 * n;
    const KnownView seen = see(dtype, shape_, true, [&]() -> double {
      if (draw(0, 9) > 0) return static_cast<double>(draw(std::max<std::int64_t>(least, -127), 2 * n));
      const int bits = 8 * bytes_of(dtype) - (is_unsigned(dtype) ? 0 : 1);
      return is_unsigned(dtype) || draw(0, 1) == 0 ? std::ldexp(1.0, bits) - std::ldexp(1.0, std::max(0, bits - 53))
                                                   : -std::ldexp(1.0, bits);
    });
    const bool is_wide = dtype == DType::UInt64;
    if (is_wide && draw(0, 1) == 1) {  // as int64 the largest are negative
      const Value wrapped = [=](const Index& at) { return seen.value(at) < 0x1p63 ? seen.value(at) : seen.value(at) - 0x1p64; };
      return {ast_->ops.cast(ast_->ops.load(seen.buffer, dtype, seen.st), DType::Int64), wrapped};
    }
    const Part plain{ast_->ops.load(seen.buffer, dtype, seen.st),
                     [=](const Index& at) { return is_wide ? std::min(seen.value(at), 0x1p62) : seen.value(at); }};
    if (draw(0, 3) > 0) return plain;
    // One table gives the positions in the next.
    const std::int64_t m = draw(1, 6);
    Index rows = shape_;
    rows.push_back(m);
    const KnownView table = see(DType::Int16, rows, false, [&] { return static_cast<double>(draw(-2 * n, 2 * n)); });
    return {ast_->ops.load_at(table.buffer, DType::Int16, table.st, plain.op), at_position(table.value, plain.value, m)};
  }

  static Value at_position(Value table, Value index, std::int64_t n) {
    return [=](Index at) {
      const std::int64_t p = position(static_cast<std::int64_t>(index(at)), n);
      at.push_back(p);
      return table(at);
    };
  }

  Part lookup(DType dtype) {
    const std::int64_t n = draw(1, 9);
    const Part index = positions(n);
    Index rows = shape_;
    rows.push_back(n);
    const std::int64_t least = is_unsigned(dtype) ? 0 : -9;
    const KnownView table = see(dtype, rows, true, [&] { return static_cast<double>(draw(least, 9)); });
    return {ast_->ops.load_at(table.buffer, dtype, table.st, index.op), at_position(table.value, index.value, n)};
  }

  Part product(const Part& a, const Part& b) {
    return {ast_->ops.elementwise(Op::Mul, {a.op, b.op}), [=](const Index& at) { return a.value(at) * b.value(at); }};
  }

  Part sum(const Part& a) {
    const std::int64_t n = shape_.back();
    return {ast_->ops.reduce(Op::ReduceSum, a.op, {static_cast<int>(shape_.size()) - 1}), [=](Index at) {
              double total = 0;
              for (at.back() = 0; at.back() < n; at.back()++) total += a.value(at);
              return total;
            }};
  }

  std::unique_ptr<KnownAst> ast_;
  Index shape_;
};

std::string difference(const Array& got, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); i++)
    if (got.double_at(static_cast<std::int64_t>(i)) != wanted[i])
      return "element " + std::to_string(i) + " is " + std::to_string(got.double_at(static_cast<std::int64_t>(i))) + ", expected " +
             std::to_string(wanted[i]);
  return got.size() == static_cast<std::int64_t>(wanted.size()) ? "" : "another size";
}

TEST(IndexedLoad, ReferenceAgreesWithLoops) {
  Lookups lookups(1);
  test::expect_reference_agrees(lookups, 3000, difference);
}

void compare(const std::string& name, const Language& language, unsigned seed, int count, int vector_bits) {
  Lookups lookups(seed);
  test::expect_backend_agrees(name, language, lookups, count, vector_bits, difference);
}

TEST(IndexedLoad, CAgreesWithLoops) { compare("c", kC, 2, 600, 0); }
TEST(IndexedLoad, VectorsAgreeWithLoops) { compare("c", kC, 3, 300, 256); }
TEST(IndexedLoad, LlvmAgreesWithLoops) { compare("llvm", kLlvm, 5, 150, 0); }
TEST(IndexedLoad, LlvmVectorsAgreeWithLoops) { compare("llvm", kLlvm, 6, 100, 256); }
TEST(IndexedLoad, CudaAgreesWithLoops) { compare("cuda", kCuda, 7, 240, 0); }
TEST(IndexedLoad, OpenClAgreesWithLoops) { compare("opencl", kOpenCl, 4, 40, 0); }

TEST(IndexedLoad, ValueRanges) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({4});
  const auto load = [&](DType dtype) { return ops.load(1, dtype, st); };
  const auto number = [&](DType dtype, std::int64_t value) { return ops.constant(Scalar::of_int(dtype, value), st); };
  const auto of = [&](Op op, DType dtype, std::int64_t value) { return ops.elementwise(op, {load(dtype), number(dtype, value)}); };
  constexpr std::int64_t kLow64 = std::numeric_limits<std::int64_t>::min(), kHigh64 = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLow32 = std::numeric_limits<std::int32_t>::min(), kHigh32 = std::numeric_limits<std::int32_t>::max();
  const struct {
    const LazyOp* op;
    std::int64_t min, max;
  } rows[] = {
      {load(DType::UInt8), 0, 255},
      {load(DType::Bool), 0, 255},  // a caller's byte may be any
      {ops.cast(load(DType::UInt64), DType::Int64), kLow64, kHigh64},
      {ops.cast(of(Op::Max, DType::UInt64, 5), DType::Int64), kLow64, kHigh64},
      {ops.cast(of(Op::Min, DType::UInt64, 5), DType::Int64), 0, 5},
      {load(DType::Int8), -128, 127},
      {ops.cast(load(DType::UInt8), DType::Int32), 0, 255},
      {ops.cast(load(DType::Int64), DType::Int32), kLow32, kHigh32},
      {of(Op::Max, DType::Int32, 0), 0, kHigh32},
      {of(Op::Min, DType::Int32, 9), kLow32, 9},
      {of(Op::And, DType::Int32, 15), 0, 15},
      {of(Op::Mod, DType::UInt16, 10), 0, 9},
      {of(Op::Add, DType::Int32, 1), kLow32, kHigh32},  // may wrap
      {ops.elementwise(Op::Add, {ops.cast(load(DType::UInt8), DType::Int32), number(DType::Int32, 5)}), 5, 260},
      {ops.elementwise(Op::Where, {load(DType::Bool), number(DType::Int32, -3), number(DType::Int32, 7)}), -3, 7},
  };
  for (const auto& row : rows) {
    const IntRange range = value_range(row.op);
    EXPECT_EQ(range.min, row.min) << to_text(row.op);
    EXPECT_EQ(range.max, row.max) << to_text(row.op);
  }
}

}  // namespace
}  // namespace etch
