// Sums of products, and other reductions, against loops.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "interp/interp.h"
#include "support/conv.h"

namespace etch {
namespace {

std::vector<std::int64_t> random_ints(std::mt19937& rng, DType dtype, std::int64_t n) {
  std::vector<std::int64_t> values;
  for (std::int64_t k = 0; k < n; k++) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(rng()) << 32) | rng();
    values.push_back(Scalar::of_int(dtype, static_cast<std::int64_t>(bits)).as_int());
  }
  return values;
}

constexpr test::Conv kConvs[] = {
    {1, 1, 3, 4, 8, 9, 3, 1, 1},     {2, 1, 5, 7, 10, 6, 3, 2, 1},  {1, 1, 16, 8, 7, 7, 1, 1, 0},  {1, 1, 4, 3, 12, 12, 5, 2, 2, 2},
    {2, 6, 1, 1, 9, 9, 3, 1, 1},     {1, 3, 2, 4, 8, 8, 3, 2, 1},   {1, 1, 1, 1, 5, 5, 3, 1, 2},   {3, 1, 20, 30, 1, 1, 1, 1, 0},
    {1, 1, 64, 64, 14, 14, 3, 1, 1}, {1, 8, 1, 2, 20, 20, 5, 1, 2}, {1, 1, 300, 5, 6, 6, 3, 1, 1},
};

TEST(Contraction, ConvolutionsOfIntegersAreExact) {
  const struct {
    DType dtype, sum;
  } kTypes[] = {{DType::Int8, DType::Int32},  {DType::UInt8, DType::UInt8}, {DType::Int16, DType::Int64},
                {DType::Int32, DType::Int32}, {DType::Int64, DType::Int64}, {DType::UInt64, DType::UInt64}};
  std::mt19937 rng(7);
  for (const test::Conv& c : kConvs)
    for (const auto& t : kTypes) {
      LazyOps ops;
      const LazyOp* store = test::conv_store(ops, c, t.dtype, t.sum);
      const std::vector<std::int64_t> xs = random_ints(rng, t.dtype, c.batch * c.groups * c.in * c.height * c.width);
      const std::vector<std::int64_t> ws = random_ints(rng, t.dtype, c.groups * c.out * c.in * c.kernel * c.kernel);
      const Array x = Array::of_ints(t.dtype, {static_cast<std::int64_t>(xs.size())}, xs),
                  w = Array::of_ints(t.dtype, {static_cast<std::int64_t>(ws.size())}, ws);
      const Array got = interp_evaluate(store, {&x, &w});
      // Modulo 2^64, then modulo the type's size: the order makes no difference.
      const auto expected = test::conv_loops<std::uint64_t>(c, {xs.begin(), xs.end()}, {ws.begin(), ws.end()});
      ASSERT_EQ(got.size(), static_cast<std::int64_t>(expected.size()));
      for (std::int64_t k = 0; k < got.size(); k++)
        ASSERT_EQ(got.at(k), Scalar::of_int(t.sum, static_cast<std::int64_t>(expected[static_cast<std::size_t>(k)])))
            << name_of(t.dtype) << " conv " << (&c - kConvs) << " element " << k;
    }
}

TEST(Contraction, ConvolutionsOfFloats) {
  std::mt19937 rng(8);
  std::normal_distribution<double> normal;
  for (const test::Conv& c : kConvs)
    for (DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
      LazyOps ops;
      const LazyOp* store = test::conv_store(ops, c, dtype, DType::Float64);
      std::vector<double> xs(static_cast<std::size_t>(c.batch * c.groups * c.in * c.height * c.width)),
          ws(static_cast<std::size_t>(c.groups * c.out * c.in * c.kernel * c.kernel));
      for (double& v : xs) v = normal(rng);
      for (double& v : ws) v = normal(rng);
      const Array x = Array::of_doubles(dtype, {static_cast<std::int64_t>(xs.size())}, xs),
                  w = Array::of_doubles(dtype, {static_cast<std::int64_t>(ws.size())}, ws);
      const Array got = interp_evaluate(store, {&x, &w});
      const auto expected = test::conv_loops<double>(c, x.doubles(), w.doubles());
      ASSERT_EQ(got.size(), static_cast<std::int64_t>(expected.size()));
      for (std::int64_t k = 0; k < got.size(); k++)
        ASSERT_NEAR(got.double_at(k), expected[static_cast<std::size_t>(k)], 1e-11)
            << name_of(dtype) << " conv " << (&c - kConvs) << " element " << k;
    }
}

// [batch, m, n, k], the last summed; each operand in one of several layouts.
struct MatMul {
  std::int64_t batch, m, n, k;
  bool a_transposed, b_transposed, b_has_batch;
};
constexpr MatMul kMatMuls[] = {
    {1, 200, 150, 9000, false, false, true},  // more than one panel in each direction
    {1, 1, 3000, 700, false, true, true},    {3, 17, 19, 23, true, false, false},   {4, 33, 1, 129, false, true, true},
    {2, 1, 1, 5000, false, false, true},     {1, 1500, 1200, 16, true, true, true}, {5, 2, 2, 2, false, false, true},
};

TEST(Contraction, MatMulsInEveryLayout) {
  std::mt19937 rng(9);
  for (const MatMul& t : kMatMuls) {
    LazyOps ops;
    const std::vector<Sint> full = {t.batch, t.m, t.n, t.k};
    const std::int64_t bb = t.b_has_batch ? t.k * t.n : 0;
    const View a = View::create(full, std::vector<Sint>{t.m * t.k, t.a_transposed ? 1 : t.k, 0, t.a_transposed ? t.m : 1});
    const View b = View::create(full, std::vector<Sint>{bb, 0, t.b_transposed ? t.k : 1, t.b_transposed ? 1 : t.n});
    const LazyOp* mul =
        ops.elementwise(Op::Mul, {ops.load(1, DType::Int32, ShapeTracker({a})), ops.load(2, DType::Int32, ShapeTracker({b}))});
    const LazyOp* sum = ops.reduce(Op::ReduceSum, mul, {3});
    const std::vector<std::int64_t> xs = random_ints(rng, DType::Int32, t.batch * t.m * t.k),
                                    ys = random_ints(rng, DType::Int32, (t.b_has_batch ? t.batch : 1) * t.k * t.n);
    const Array x = Array::of_ints(DType::Int32, {static_cast<std::int64_t>(xs.size())}, xs),
                y = Array::of_ints(DType::Int32, {static_cast<std::int64_t>(ys.size())}, ys);
    const Array got = interp_evaluate(ops.store(0, sum, ShapeTracker::from_shape(sum->shape)), {&x, &y});
    const std::vector<std::int64_t> values = got.ints();
    std::size_t at = 0;
    for (std::int64_t i = 0; i < t.batch; i++)
      for (std::int64_t m = 0; m < t.m; m++)
        for (std::int64_t n = 0; n < t.n; n++) {
          std::uint32_t s = 0;
          for (std::int64_t k = 0; k < t.k; k++)
            s += static_cast<std::uint32_t>(xs[static_cast<std::size_t>(i * t.m * t.k + (t.a_transposed ? k * t.m + m : m * t.k + k))]) *
                 static_cast<std::uint32_t>(ys[static_cast<std::size_t>(i * bb + (t.b_transposed ? n * t.k + k : k * t.n + n))]);
          ASSERT_EQ(values[at++], static_cast<std::int32_t>(s)) << "matmul " << (&t - kMatMuls);
        }
  }
}

// Weights that are one number: the axis of channels is one of neither operand.
TEST(Contraction, ChannelsOfConstantWeights) {
  constexpr std::int64_t kRows = 20, kChannels = 30, kK = 40;
  const ShapeTracker number = ShapeTracker::from_shape({1, 1, 1}).expand({kRows, kChannels, kK});
  const ShapeTracker rows = ShapeTracker::from_shape({kRows, kK}).reshape({kRows, 1, kK}).expand({kRows, kChannels, kK});
  std::vector<double> xs;
  for (std::int64_t i = 0; i < kRows * kK; i++) xs.push_back(static_cast<double>(i % 17) - 8);
  const Array x = Array::of_doubles(DType::Float32, {kRows * kK}, xs);
  for (const bool is_first : {false, true}) {
    LazyOps ops;
    const LazyOp *load = ops.load(1, DType::Float32, rows), *weight = ops.constant(Scalar::of_double(DType::Float32, 0.5), number);
    const LazyOp* product = is_first ? ops.elementwise(Op::Mul, {weight, load}) : ops.elementwise(Op::Mul, {load, weight});
    const Array got =
        interp_evaluate(ops.store(0, ops.reduce(Op::ReduceSum, product, {2}), ShapeTracker::from_shape({kRows, kChannels, 1})), {&x});
    ASSERT_EQ(got.size(), kRows * kChannels);
    for (std::int64_t k = 0; k < got.size(); k++) {
      double want = 0;
      for (std::int64_t i = 0; i < kK; i++) want += 0.5 * xs[static_cast<std::size_t>(k / kChannels * kK + i)];
      ASSERT_EQ(got.at(k).as_double(), want) << k;
    }
  }
}

// (a - zero) * b in int32, summed in int64 or float: a cast between product and sum changes the result if the product wraps.
TEST(Contraction, CastsBetweenProductAndSum) {
  const struct {
    DType in, product, sum;
  } kRows[] = {
      {DType::Int8, DType::Int32, DType::Int64},   {DType::Int8, DType::Int8, DType::Int32},
      {DType::Int32, DType::Int32, DType::Int64},  {DType::UInt8, DType::UInt8, DType::UInt32},
      {DType::Int8, DType::Int32, DType::Float32}, {DType::Int32, DType::Int32, DType::Float64},
      {DType::Int32, DType::Int64, DType::Int16},  {DType::UInt16, DType::UInt32, DType::UInt64},
      {DType::Int16, DType::Int32, DType::Bool},
  };
  std::mt19937 rng(10);
  for (const auto& row : kRows) {
    const std::int64_t m = 20, n = 30, k = 40;
    LazyOps ops;
    const ShapeTracker a({View::create({m, n, k}, std::vector<Sint>{k, 0, 1})}), b({View::create({m, n, k}, std::vector<Sint>{0, k, 1})});
    const auto leaf = [&](int i, const ShapeTracker& st) {
      const LazyOp* v = ops.cast(ops.load(i, row.in, st), row.product);
      return ops.elementwise(
          Op::Sub, {v, ops.constant(Scalar::of_int(row.product, 3), ShapeTracker({View::create({m, n, k}, std::vector<Sint>{0, 0, 0})}))});
    };
    const LazyOp* mul = ops.cast(ops.elementwise(Op::Mul, {leaf(1, a), leaf(2, b)}), row.sum);
    const bool is_bool = row.sum == DType::Bool;
    const LazyOp* sum = ops.reduce(is_bool ? Op::ReduceMax : Op::ReduceSum, mul, {2});
    const std::vector<std::int64_t> xs = random_ints(rng, row.in, m * k), ys = random_ints(rng, row.in, n * k);
    const Array x = Array::of_ints(row.in, {m, k}, xs), y = Array::of_ints(row.in, {n, k}, ys);
    const Array got = interp_evaluate(ops.store(0, sum, ShapeTracker::from_shape(sum->shape)), {&x, &y});
    for (std::int64_t i = 0; i < m; i++)
      for (std::int64_t j = 0; j < n; j++) {
        Scalar s = Scalar::of_int(row.sum, 0);
        double f = 0;
        for (std::int64_t l = 0; l < k; l++) {
          const auto minus = [&](std::int64_t v) { return static_cast<std::uint64_t>(Scalar::of_int(row.product, v - 3).as_int()); };
          const Scalar p = Scalar::of_int(row.product, static_cast<std::int64_t>(minus(xs[static_cast<std::size_t>(i * k + l)]) *
                                                                                 minus(ys[static_cast<std::size_t>(j * k + l)])));
          f += p.cast(row.sum).as_double();
          s = is_bool ? Scalar::of_int(row.sum, s.as_int() | p.cast(row.sum).as_int())
                      : Scalar::of_int(row.sum, static_cast<std::int64_t>(static_cast<std::uint64_t>(s.as_int()) +
                                                                          static_cast<std::uint64_t>(p.cast(row.sum).as_int())));
        }
        const Scalar expected = is_float(row.sum) ? Scalar::of_double(row.sum, f) : s;
        ASSERT_EQ(got.at(i * n + j), expected) << name_of(row.in) << " " << name_of(row.product) << " " << name_of(row.sum);
      }
  }
}

TEST(Contraction, InfinityAndNaNReachOnlyTheirResults) {
  LazyOps ops;
  const std::int64_t m = 40, n = 40, k = 40;
  const ShapeTracker a({View::create({m, n, k}, std::vector<Sint>{k, 0, 1})}), b({View::create({m, n, k}, std::vector<Sint>{0, k, 1})});
  const LazyOp* sum =
      ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {ops.load(1, DType::Float32, a), ops.load(2, DType::Float32, b)}), {2});
  std::vector<double> xs(static_cast<std::size_t>(m * k), 1.0), ys(static_cast<std::size_t>(n * k), 1.0);
  xs[0] = INFINITY;
  ys[3] = NAN;
  ys[static_cast<std::size_t>(k)] = 0;  // 0 * infinity
  const Array x = Array::of_doubles(DType::Float32, {m, k}, xs), y = Array::of_doubles(DType::Float32, {n, k}, ys);
  const Array got = interp_evaluate(ops.store(0, sum, ShapeTracker::from_shape(sum->shape)), {&x, &y});
  for (std::int64_t i = 0; i < m; i++)
    for (std::int64_t j = 0; j < n; j++) {
      const double v = got.double_at(i * n + j);
      if (j == 0 || (i == 0 && j == 1)) {
        EXPECT_TRUE(std::isnan(v));
      } else {
        EXPECT_EQ(v, i == 0 ? INFINITY : j == 1 ? 39.0 : 40.0);
      }
    }
}

// Every reduction over every set of axes of a permuted array, against loops.
TEST(Reduce, EverySetOfAxes) {
  std::mt19937 rng(11);
  const std::vector<std::int64_t> shapes[] = {{5, 4, 3}, {70, 2, 65}, {1, 130, 7}, {3, 0, 2}, {2, 1100, 2}};
  for (const auto& shape : shapes)
    for (int set = 0; set < 8; set++)
      for (Op op : {Op::ReduceSum, Op::ReduceMax, Op::ReduceMin, Op::ReduceProd})
        for (DType dtype : {DType::Float64, DType::Int16, DType::UInt64}) {
          LazyOps ops;
          std::vector<int> axes;
          for (int a = 0; a < 3; a++)
            if ((set >> a & 1) != 0) axes.push_back(a);
          // The buffer is [2, 0, 1] of the shape.
          const ShapeTracker st = ShapeTracker::from_shape({shape[2], shape[0], shape[1]}).permute({1, 2, 0});
          const LazyOp* reduced = ops.reduce(op, ops.load(1, dtype, st), axes);
          const std::int64_t size = shape[0] * shape[1] * shape[2];
          std::vector<std::int64_t> xs = random_ints(rng, dtype, size);
          if (is_float(dtype))
            for (std::int64_t& v : xs) v = v % 2 == 0 ? 1 : -2;
          const Array x = Array::of_ints(dtype, {size}, xs);
          const Array got = interp_evaluate(ops.store(0, reduced, ShapeTracker::from_shape(reduced->shape)), {&x});
          std::vector<std::int64_t> out = shape;
          for (int a : axes) out[static_cast<std::size_t>(a)] = 1;
          ASSERT_EQ(got.shape(), out);
          const bool u = dtype == DType::UInt64;
          std::vector<Scalar> expected;
          for (std::int64_t k = 0; k < out[0] * out[1] * out[2]; k++)
            expected.push_back(op == Op::ReduceSum    ? Scalar::of_int(dtype, 0)
                               : op == Op::ReduceProd ? Scalar::of_int(dtype, 1)
                               : is_float(dtype)      ? Scalar::of_double(dtype, op == Op::ReduceMax ? -INFINITY : INFINITY)
                                                      : Scalar::of_int(dtype, op == Op::ReduceMax ? int_min(dtype) : int_max(dtype)));
          for (std::int64_t i = 0; i < shape[0]; i++)
            for (std::int64_t j = 0; j < shape[1]; j++)
              for (std::int64_t l = 0; l < shape[2]; l++) {
                const Scalar v = x.at((l * shape[0] + i) * shape[1] + j);
                Scalar& e = expected[static_cast<std::size_t>(((out[0] == 1 ? 0 : i) * out[1] + (out[1] == 1 ? 0 : j)) * out[2] +
                                                              (out[2] == 1 ? 0 : l))];
                const auto p = static_cast<std::uint64_t>(e.as_int()), q = static_cast<std::uint64_t>(v.as_int());
                const bool less = is_float(dtype) ? e.as_double() < v.as_double() : u ? p < q : e.as_int() < v.as_int();
                const bool more = is_float(dtype) ? e.as_double() > v.as_double() : u ? p > q : e.as_int() > v.as_int();
                if (op == Op::ReduceSum)
                  e = is_float(dtype) ? Scalar::of_double(dtype, e.as_double() + v.as_double())
                                      : Scalar::of_int(dtype, static_cast<std::int64_t>(p + q));
                if (op == Op::ReduceProd)
                  e = is_float(dtype) ? Scalar::of_double(dtype, e.as_double() * v.as_double())
                                      : Scalar::of_int(dtype, static_cast<std::int64_t>(p * q));
                if ((op == Op::ReduceMax && less) || (op == Op::ReduceMin && more)) e = v;
              }
          for (std::int64_t k = 0; k < got.size(); k++)
            ASSERT_EQ(got.at(k), expected[static_cast<std::size_t>(k)])
                << name_of(op) << " " << name_of(dtype) << " set " << set << " element " << k;
        }
}

// sum over a of (x - max over b of x): one reduction inside of another, with a shared leaf.
TEST(Reduce, NestedReductions) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({30, 40});
  const LazyOp* max = ops.reduce(Op::ReduceMax, ops.load(1, DType::Float64, st), {1});
  const LazyOp* total = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {max, max}), {0});
  const LazyOp* value = ops.elementwise(Op::Add, {total, ops.reduce(Op::ReduceMin, max, {0})});
  std::mt19937 rng(12);
  std::vector<double> xs(1200);
  for (double& v : xs) v = static_cast<double>(rng() % 100);
  double sum = 0, min = 1e9;
  for (std::size_t i = 0; i < 30; i++) {
    double m = 0;
    for (std::size_t j = 0; j < 40; j++) m = std::max(m, xs[i * 40 + j]);
    sum += m * m;
    min = std::min(min, m);
  }
  const Array x = Array::of_doubles(DType::Float64, {1200}, xs);
  EXPECT_EQ(interp_evaluate(ops.store(0, value, ShapeTracker::from_shape(value->shape)), {&x}).double_at(0), sum + min);
}

}  // namespace
}  // namespace etch
