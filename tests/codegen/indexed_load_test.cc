// Loads at computed positions, on every backend, against loops that compute each element by hand: all index types, positions outside of
// the axis, views, masks, sums, one lookup after another, with the heuristics and with random OptOps.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "codegen/value_range.h"
#include "support/backends.h"
#include "support/opt_chain.h"

namespace etch {
namespace {

using Index = std::vector<std::int64_t>;
using Value = std::function<double(const Index&)>;  // of the element at an index

/// A part of an AST, and what it is by hand.
struct Part {
  const LazyOp* op = nullptr;
  Value value;
};

struct Case {
  LazyOps ops;
  std::vector<Array> inputs;
  const LazyOp* store = nullptr;
  std::vector<double> expected;
};

std::vector<Sint> sints(const Index& sizes) { return {sizes.begin(), sizes.end()}; }

/// The position that an index selects of n, as the Load's definition says.
std::int64_t position(std::int64_t index, std::int64_t n) {
  if (index < 0) index += n;
  return index < 0 ? 0 : index >= n ? n - 1 : index;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {}

  std::unique_ptr<Case> next() {
    case_ = std::make_unique<Case>();
    shape_.clear();
    for (std::int64_t rank = draw(1, 3); rank > 0; rank--) shape_.push_back(draw(1, 8));
    const DType dtype = pick<DType>({DType::Float32, DType::Float32, DType::Int32, DType::UInt8, DType::Float16});
    Part part = lookup(dtype);
    if (dtype == DType::Float32 && draw(0, 1) == 1) part = product(part, leaf(dtype, 0));
    const bool sums = dtype == DType::Float32 && draw(0, 1) == 1;
    if (sums) part = sum(part);
    Index stored = shape_;
    if (sums) stored.back() = 1;
    case_->store = case_->ops.store(0, part.op, ShapeTracker::from_shape(sints(stored)));
    for_each(stored, [&](const Index& at) { case_->expected.push_back(part.value(at)); });
    return std::move(case_);
  }

  std::mt19937& rng() { return rng_; }

 private:
  std::int64_t draw(std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>(from, to)(rng_); }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return *(from.begin() + draw(0, static_cast<std::int64_t>(from.size()) - 1));
  }

  static void for_each(const Index& shape, const std::function<void(const Index&)>& visit) {
    Index at(shape.size(), 0);
    while (true) {
      visit(at);
      std::size_t k = shape.size();
      while (k > 0 && ++at[k - 1] == shape[k - 1]) at[--k] = 0;
      if (k == 0) return;
    }
  }

  /// A view of a new buffer: some axes repeat, some run backwards, some are masked. `element` draws its content.
  struct Seen {
    int buffer = 0;
    ShapeTracker st;
    std::function<double(const Index&)> value;
  };
  Seen see(DType dtype, const Index& shape, bool may_mask, const std::function<double()>& element) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t k = 0; k < order.size(); k++) order[k] = k;
    std::shuffle(order.begin(), order.end(), rng_);
    Index strides(shape.size(), 0);
    std::int64_t size = 1, offset = 0;
    for (const std::size_t k : order) {
      if (k + 1 < shape.size() && draw(0, 2) == 0) continue;  // repeats
      const bool backwards = draw(0, 4) == 0;
      strides[k] = backwards ? -size : size;
      if (backwards) offset += size * (shape[k] - 1);
      size *= shape[k];
    }
    std::optional<std::vector<Range>> mask;
    Index begin(shape.size(), 0), end = shape;
    if (may_mask && draw(0, 3) == 0) {
      const auto k = static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1));
      begin[k] = draw(0, shape[k] - 1);
      end[k] = draw(begin[k] + 1, shape[k]);
      mask.emplace();
      for (std::size_t a = 0; a < shape.size(); a++) mask->emplace_back(begin[a], end[a]);
    }
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; i++) values.push_back(element());
    const Array data = Array::of_doubles(dtype, {size}, values);
    case_->inputs.push_back(data);
    const auto value = [=](const Index& at) {
      std::int64_t p = offset;
      for (std::size_t k = 0; k < at.size(); k++) {
        if (at[k] < begin[k] || at[k] >= end[k]) return 0.0;
        p += at[k] * strides[k];
      }
      return data.double_at(p);
    };
    return {static_cast<int>(case_->inputs.size()), ShapeTracker({View::create(sints(shape), sints(strides), offset, mask)}), value};
  }

  Part leaf(DType dtype, std::int64_t least) {
    const Seen seen = see(dtype, shape_, true, [&] { return static_cast<double>(draw(least, 9)); });
    return {case_->ops.load(seen.buffer, dtype, seen.st), seen.value};
  }

  /// Positions for an axis of n: mostly inside, some far outside.
  Part positions(std::int64_t n) {
    const DType dtype =
        pick<DType>({DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64});
    const std::int64_t least = is_unsigned(dtype) ? 0 : -2 * n;
    const Seen seen = see(dtype, shape_, true, [&]() -> double {
      if (draw(0, 9) > 0) return static_cast<double>(draw(std::max<std::int64_t>(least, -127), 2 * n));
      const int bits = 8 * bytes_of(dtype) - (is_unsigned(dtype) ? 0 : 1);
      return is_unsigned(dtype) || draw(0, 1) == 0 ? std::ldexp(1.0, bits) - std::ldexp(1.0, std::max(0, bits - 53))
                                                   : -std::ldexp(1.0, bits);
    });
    const bool is_wide = dtype == DType::UInt64;
    if (is_wide && draw(0, 1) == 1) {  // as int64 the largest are negative
      const Value wrapped = [=](const Index& at) { return seen.value(at) < 0x1p63 ? seen.value(at) : seen.value(at) - 0x1p64; };
      return {case_->ops.cast(case_->ops.load(seen.buffer, dtype, seen.st), DType::Int64), wrapped};
    }
    const Part plain{case_->ops.load(seen.buffer, dtype, seen.st),
                     [=](const Index& at) { return is_wide ? std::min(seen.value(at), 0x1p62) : seen.value(at); }};
    if (draw(0, 3) > 0) return plain;
    // One table gives the positions in the next.
    const std::int64_t m = draw(1, 6);
    Index rows = shape_;
    rows.push_back(m);
    const Seen table = see(DType::Int16, rows, false, [&] { return static_cast<double>(draw(-2 * n, 2 * n)); });
    return {case_->ops.load_at(table.buffer, DType::Int16, table.st, plain.op), at_position(table.value, plain.value, m)};
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
    const Seen table = see(dtype, rows, true, [&] { return static_cast<double>(draw(least, 9)); });
    return {case_->ops.load_at(table.buffer, dtype, table.st, index.op), at_position(table.value, index.value, n)};
  }

  Part product(const Part& a, const Part& b) {
    return {case_->ops.elementwise(Op::Mul, {a.op, b.op}), [=](const Index& at) { return a.value(at) * b.value(at); }};
  }

  Part sum(const Part& a) {
    const std::int64_t n = shape_.back();
    return {case_->ops.reduce(Op::ReduceSum, a.op, {static_cast<int>(shape_.size()) - 1}), [=](Index at) {
              double total = 0;
              for (at.back() = 0; at.back() < n; at.back()++) total += a.value(at);
              return total;
            }};
  }

  std::mt19937 rng_;
  std::unique_ptr<Case> case_;
  Index shape_;
};

TEST(IndexedLoad, ReferenceAgreesWithLoops) {
  Generator generator(1);
  for (int i = 0; i < 3000; i++) {
    const auto c = generator.next();
    std::vector<const Array*> inputs;
    for (const Array& a : c->inputs) inputs.push_back(&a);
    ASSERT_EQ(interp_evaluate(c->store, inputs).doubles(), c->expected) << i << "\n" << to_text(c->store);
  }
}

void compare(const std::string& name, const Language& language, unsigned seed, int count, int vector_bits) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP();
  Generator generator(seed);
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  if (vector_bits > 0) options.register_tiles = true;
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<test::BackendKernel> kernels;
  for (int i = 0; i < count; i++) {
    cases.push_back(generator.next());
    const Case& c = *cases.back();
    test::BackendKernel kernel{c.store, &c.inputs, static_cast<std::int64_t>(c.expected.size()), {}};
    if (i % 3 > 0) kernel.opts = test::random_opt_chain(c.store, generator.rng(), options, 16);
    kernels.push_back(kernel);
  }
  const Program program = test::program_of(kernels, language, options, true);
  const std::vector<Array> got = device->load(program)->run({});
  for (std::size_t k = 0; k < cases.size(); k++)
    ASSERT_EQ(got[k].doubles(), cases[k]->expected) << k << "\n" << to_text(cases[k]->store) << program.kernels[k].text.source;
}

TEST(IndexedLoad, CAgreesWithLoops) { compare("c", kC, 2, 600, 0); }
TEST(IndexedLoad, VectorsAgreeWithLoops) { compare("c", kC, 3, 300, 256); }
TEST(IndexedLoad, LlvmAgreesWithLoops) { compare("llvm", kLlvm, 5, 150, 0); }
TEST(IndexedLoad, LlvmVectorsAgreeWithLoops) { compare("llvm", kLlvm, 6, 100, 256); }
TEST(IndexedLoad, CudaAgreesWithLoops) { compare("cuda", kCuda, 7, 40, 0); }
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
