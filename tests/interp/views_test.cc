// Leaves through chains of movements, against the ShapeTracker's own expressions evaluated element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "interp/interp.h"
#include "support/expect_error.h"

namespace etch {
namespace {

std::int64_t pick(std::mt19937& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
}

// A factorisation of n into up to four sizes.
std::vector<Sint> random_shape(std::mt19937& rng, std::int64_t n) {
  std::vector<Sint> shape;
  while (n > 1 && shape.size() < 3) {
    std::int64_t f = pick(rng, 1, 6);
    while (n % f != 0) f--;
    shape.push_back(f);
    n /= f;
  }
  shape.push_back(n);
  std::shuffle(shape.begin(), shape.end(), rng);
  return shape;
}

ShapeTracker random_tracker(std::mt19937& rng, std::int64_t& elements) {
  std::vector<Sint> shape = {pick(rng, 1, 6), pick(rng, 1, 6), pick(rng, 1, 6)};
  elements = product(shape).as_int();
  ShapeTracker st = ShapeTracker::from_shape(shape);
  for (std::int64_t step = pick(rng, 1, 7); step > 0; step--) {
    const std::vector<Sint> now = st.shape();
    const int rank = static_cast<int>(now.size());
    std::vector<Range> ranges;
    std::vector<int> axes;
    std::vector<std::int64_t> steps;
    for (int a = 0; a < rank; a++) axes.push_back(a);
    switch (rng() % 6) {
      case 0:
        st = st.reshape(random_shape(rng, st.size().as_int()));
        break;
      case 1:
        std::shuffle(axes.begin(), axes.end(), rng);
        st = st.permute(axes);
        break;
      case 2:
        for (int a = 0; a < rank; a++) ranges.emplace_back(pick(rng, 0, 2), pick(rng, 0, 2));
        if (st.size().as_int() < 3000) st = st.pad(ranges);
        break;
      case 3:
        for (const Sint& d : now) {
          const std::int64_t begin = pick(rng, 0, d.as_int() - 1);
          ranges.emplace_back(begin, pick(rng, begin + 1, d.as_int()));
        }
        st = st.shrink(ranges);
        break;
      case 4:
        for (int a = 0; a < rank; a++) steps.push_back(rng() % 3 == 0 ? -1 : pick(rng, 1, 2));
        st = st.stride(steps);
        break;
      default: {
        std::vector<Sint> wider = now;
        for (Sint& d : wider)
          if (d.is_int(1)) d = pick(rng, 1, 4);
        st = st.expand(wider);
      }
    }
  }
  return st;
}

struct Seen {
  std::int64_t position = 0;
  bool valid = false;
};

// The position that element `flat` reads, from the symbolic expressions.
std::vector<Seen> expected_of(const ShapeTracker& st, const VarValues& vars, std::int64_t size) {
  std::vector<Seen> result;
  for (std::int64_t k = 0; k < size; k++) {
    const ShapeTracker::Index index = st.expr_node(k);
    const bool valid = evaluate(index.valid, vars) != 0;
    result.push_back({valid ? evaluate(index.idx, vars) : 0, valid});
  }
  return result;
}

TEST(Views, RandomMovementsReadWhatTheTrackerSays) {
  std::mt19937 rng(3);
  for (int round = 0; round < 400; round++) {
    std::int64_t elements = 0;
    const ShapeTracker st = random_tracker(rng, elements);
    std::vector<std::int64_t> data;
    for (std::int64_t k = 0; k < elements; k++) data.push_back(k + 1);
    const Array x = Array::of_ints(DType::Int32, {elements}, data);
    const std::vector<Seen> expected = expected_of(st, {}, st.size().as_int());
    LazyOps ops;
    const ShapeTracker out = ShapeTracker::from_shape(st.shape());
    const Array loaded = interp_evaluate(ops.store(0, ops.load(1, DType::Int32, st), out), {&x});
    const Array index = interp_evaluate(ops.store(0, ops.index(DType::Int64, st), out), {});
    const Array constant = interp_evaluate(ops.store(0, ops.constant(Scalar::of_double(DType::Float32, 2.5), st), out), {});
    const Array copied = relayout(x, st);
    // A sum over the last axis walks in another order.
    const int last = static_cast<int>(st.shape().size()) - 1;
    const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.load(1, DType::Int32, st), {last});
    const Array sums = interp_evaluate(ops.store(0, sum, ShapeTracker::from_shape(sum->shape)), {&x});
    const std::int64_t width = st.shape().back().as_int();
    ASSERT_EQ(loaded.size(), static_cast<std::int64_t>(expected.size()));
    std::vector<std::int64_t> expected_sums(static_cast<std::size_t>(sums.size()));
    for (std::int64_t k = 0; k < loaded.size(); k++) {
      const Seen& e = expected[static_cast<std::size_t>(k)];
      expected_sums[static_cast<std::size_t>(k / width)] += e.valid ? e.position + 1 : 0;
      ASSERT_EQ(loaded.int_at(k), e.valid ? e.position + 1 : 0) << "round " << round << " element " << k << " of " << st.to_text();
      ASSERT_EQ(copied.int_at(k), loaded.int_at(k)) << "round " << round;
      ASSERT_EQ(index.int_at(k), e.valid ? e.position : 0) << "round " << round;
      ASSERT_EQ(constant.double_at(k), e.valid ? 2.5 : 0) << "round " << round;
    }
    ASSERT_EQ(sums.ints(), expected_sums) << "round " << round << " " << st.to_text();
  }
}

TEST(Views, SymbolicSizes) {
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 9);
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({n, 3}).pad({{1, 1}, {0, 0}}).permute({1, 0});
  const LazyOp* load = ops.load(1, DType::Float32, st);
  const LazyOp* store = ops.store(0, load, ShapeTracker::from_shape(st.shape()));
  for (std::int64_t k = 1; k <= 9; k++) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < 3 * k; i++) values.push_back(static_cast<double>(i + 1));
    const Array x = Array::of_doubles(DType::Float32, {k, 3}, values);
    const Array got = interp_evaluate(store, {&x}, {{"n", k}});
    ASSERT_EQ(got.shape(), (std::vector<std::int64_t>{3, k + 2}));
    for (std::int64_t j = 0; j < 3; j++)
      for (std::int64_t i = 0; i < k + 2; i++)
        EXPECT_EQ(got.double_at(j * (k + 2) + i), i == 0 || i == k + 1 ? 0 : static_cast<double>((i - 1) * 3 + j + 1));
  }
}

TEST(Views, ScalarsAndEmptyArrays) {
  LazyOps ops;
  const ShapeTracker scalar = ShapeTracker::from_shape({}), empty = ShapeTracker::from_shape({2, 0, 3});
  const Array x = Array::scalar(Scalar::of_double(DType::Float32, 2.5));
  const LazyOp* twice = ops.elementwise(Op::Add, {ops.load(1, DType::Float32, scalar), ops.load(1, DType::Float32, scalar)});
  const Array got = interp_evaluate(ops.store(0, twice, scalar), {&x});
  EXPECT_EQ(got.shape(), std::vector<std::int64_t>());
  EXPECT_EQ(got.double_at(0), 5.0);
  const ShapeTracker padding = ShapeTracker::from_shape({1}).pad({{1, 0}}).shrink({{0, 1}}).reshape({});
  EXPECT_EQ(interp_evaluate(ops.store(0, ops.load(1, DType::Float32, padding), scalar), {&x}).double_at(0), 0.0);
  const ShapeTracker spread = padding.reshape({1}).expand({3});
  EXPECT_EQ(interp_evaluate(ops.store(0, ops.load(1, DType::Float32, spread), ShapeTracker::from_shape({3})), {&x}).double_at(2), 0.0);
  const Array none = Array::of_doubles(DType::Float32, {0}, {});
  EXPECT_EQ(interp_evaluate(ops.store(0, ops.load(1, DType::Float32, empty), empty), {&none}).shape(),
            (std::vector<std::int64_t>{2, 0, 3}));
  EXPECT_EQ(relayout(none, empty).size(), 0);
}

TEST(Views, ReadingOutsideOfABufferIsAnError) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({5});
  const Array x = Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 2, 3, 4});
  test::expect_error<InternalError>([&] { interp_evaluate(ops.store(0, ops.load(1, DType::Float32, st), st), {&x}); },
                                    "a kernel reads inside its buffers");
  test::expect_error<InternalError>([&] { relayout(x, st); }, "a relayout reads inside its array");
}

}  // namespace
}  // namespace etch
