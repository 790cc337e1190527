// For tests: kernels that dot-product and matrix instructions compute, and what they should give by plain loops.
#pragma once

#include <random>

#include "ir/array.h"
#include "ir/lazyop.h"
#include "program/lower.h"
#include "support/backends.h"
#include "target/target.h"

namespace etch::test {

inline Target target_named(const std::string& name) { return find_target(name, std::filesystem::path(ETCH_SOURCE_DIR) / "targets"); }

/// sum(k) a[i][k] * b[k][j], computed in `sum`; or, `b_rows`, with b[j][k].
struct Product {
  DType a{}, b{}, sum{};
  std::int64_t m = 0, n = 0, k = 0;
  bool b_rows = false;
  bool b_first = false;  // the product is b * a
};

/// The store of the product as float, half of it and one more: out[i][j] = 0.5 * sum + 1; or of the sum itself.
inline const LazyOp* store_of(LazyOps& ops, const Product& p, bool halves = false) {
  const std::vector<Sint> all{p.m, p.n, p.k};
  const ShapeTracker a = ShapeTracker::from_shape({p.m, p.k}).reshape({p.m, 1, p.k}).expand(all);
  const ShapeTracker rows = ShapeTracker::from_shape({p.n, p.k}), columns = ShapeTracker::from_shape({p.k, p.n}).permute({1, 0});
  const ShapeTracker b = (p.b_rows ? rows : columns).reshape({1, p.n, p.k}).expand(all);
  const auto factor = [&](int argument, DType dtype, const ShapeTracker& st) {
    const LazyOp* load = ops.load(argument, dtype, st);
    return dtype == p.sum ? load : ops.cast(load, p.sum);
  };
  const LazyOp *x = factor(1, p.a, a), *y = factor(2, p.b, b);
  const LazyOp* sum = ops.reduce(Op::ReduceSum, p.b_first ? ops.elementwise(Op::Mul, {y, x}) : ops.elementwise(Op::Mul, {x, y}), {2});
  const ShapeTracker out = ShapeTracker::from_shape({p.m, p.n, 1});
  if (!halves) return ops.store(0, sum, out);
  const auto number = [&](double v) {
    return ops.constant(Scalar::of_double(DType::Float32, v), ShapeTracker::from_shape({1, 1, 1}).expand({p.m, p.n, 1}));
  };
  const LazyOp* real = p.sum == DType::Float32 ? sum : ops.cast(sum, DType::Float32);
  return ops.store(0, ops.elementwise(Op::Add, {ops.elementwise(Op::Mul, {real, number(0.5)}), number(1)}), out);
}

/// The sums in double, which is exact for integers of 8 bits, and with the magnitudes of all products.
struct ProductSums {
  std::vector<double> sums, magnitudes;
};
inline ProductSums sums_of(const Product& p, const Array& a, const Array& b) {
  ProductSums result;
  for (std::int64_t i = 0; i < p.m; i++)
    for (std::int64_t j = 0; j < p.n; j++) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < p.k; k++) {
        const double product = a.double_at(i * p.k + k) * b.double_at(p.b_rows ? j * p.k + k : k * p.n + j);
        sum += product;
        magnitude += std::fabs(product);
      }
      result.sums.push_back(sum);
      result.magnitudes.push_back(magnitude);
    }
  return result;
}

/// Random numbers of the type: integers over their whole range, floats between -2 and 2.
inline Array random_numbers(DType dtype, std::int64_t n, std::mt19937& rng) {
  std::vector<double> values;
  std::uniform_int_distribution<int> byte(0, 255), part(-2048, 2048);
  for (std::int64_t i = 0; i < n; i++) {
    const int v = is_float(dtype) ? part(rng) : byte(rng);
    values.push_back(is_float(dtype) ? v / 1024.0 : dtype == DType::Int8 ? v - 128 : v);
  }
  return Array::of_doubles(dtype, {n}, values);
}

}  // namespace etch::test
