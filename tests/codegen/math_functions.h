// For tests of codegen/math.h: the functions as C's library computes them in double, and how far float32 may be from that.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "codegen/math.h"
#include "support/backends.h"

namespace etch::test {

struct ExactFunction {
  Op op;
  double (*value)(double);
  double limit = 2;                                       // ulp
  double most = std::numeric_limits<double>::infinity();  // of larger arguments the value is open
};

inline double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

inline const std::vector<ExactFunction>& exact_functions() {
  static const std::vector<ExactFunction> kFunctions{
      {Op::Exp, [](double x) { return std::exp(x); }},
      {Op::ExpNonPos, [](double x) { return std::exp(x); }, 2, 0},
      {Op::Expm1, [](double x) { return std::expm1(x); }},
      {Op::Log, [](double x) { return std::log(x); }},
      {Op::Log1p, [](double x) { return std::log1p(x); }},
      {Op::Tanh, [](double x) { return std::tanh(x); }},
      {Op::Erf, [](double x) { return std::erf(x); }},
      {Op::Sigmoid, exact_sigmoid},
      {Op::Sin, [](double x) { return std::sin(x); }},
      {Op::Cos, [](double x) { return std::cos(x); }},
      {Op::Gelu, [](double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }, 4},
  };
  return kFunctions;
}

/// The same of two operands.
struct ExactPairFunction {
  Op op;
  double (*value)(double, double);
  double limit = 2;  // ulp
};

inline const std::vector<ExactPairFunction>& exact_pair_functions() {
  static const std::vector<ExactPairFunction> kFunctions{{Op::Pow, [](double x, double y) { return std::pow(x, y); }, 4}};
  return kFunctions;
}

/// How far `got` is from `exact`, in units of the last place of the float32 nearest to that; 0 if both are NaN, the same infinity or 0 of
/// one sign. Infinity stands for 2^128 where the exact value is at most that.
inline double ulps(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(nearest)) return 0;
  if (std::isnan(got) || std::isnan(nearest)) return std::isnan(got) && std::isnan(nearest) ? 0 : INFINITY;
  if (got == 0 && nearest == 0) return INFINITY;  // of other signs
  const double value = std::isinf(got) ? std::copysign(0x1p128, got) : static_cast<double>(got);
  if (std::isinf(exact)) return INFINITY;
  return std::fabs(value - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

inline float float_of_bits(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

inline Array array_of(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return Array(DType::Float32, {static_cast<std::int64_t>(values.size())}, {bytes.begin(), bytes.end()});
}

/// What `device` makes of `op` of all elements of its operands, in vectors of `vector_bits` (0: one number after the other).
inline std::vector<float> values_of(Op op, std::initializer_list<std::reference_wrapper<const std::vector<float>>> operands,
                                    const Device& device, int vector_bits) {
  LazyOps ops;
  std::vector<Array> arrays;
  for (const std::vector<float>& inputs : operands) arrays.push_back(array_of(inputs));
  const std::int64_t count = arrays[0].size();
  const ShapeTracker st = ShapeTracker::from_shape({count});
  std::vector<const LazyOp*> loads;
  for (std::size_t k = 0; k < arrays.size(); k++) loads.push_back(ops.load(static_cast<int>(k) + 1, DType::Float32, st));
  const LazyOp* store = ops.store(0, ops.elementwise(op, loads), st);
  CodegenOptions options = options_for(*device.language());
  options.vector_bits = vector_bits;
  const Program program = program_of({{store, &arrays, count, std::nullopt}}, *device.language(), options);
  const Array made = device.load(program)->run({})[0];
  std::vector<float> values(static_cast<std::size_t>(count));
  std::memcpy(values.data(), made.bytes().data(), values.size() * sizeof(float));
  return values;
}

/// The largest distance is within the limit of `f`; else where it is not.
inline void expect_within(const ExactFunction& f, const std::vector<float>& inputs, const std::vector<float>& got) {
  double worst = 0;
  float at = 0, gives = 0;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const auto x = static_cast<double>(inputs[i]);
    const double distance = x > f.most ? 0 : ulps(got[i], f.value(x));
    if (distance <= worst) continue;
    worst = distance;
    at = inputs[i];
    gives = got[i];
  }
  EXPECT_LE(worst, f.limit) << name_of(f.op) << " of " << at << " is " << gives;
}

struct Pairs {
  std::vector<float> x, y;
};

/// Pairs number `from` to below `to` of an endless series. Of two pairs one is any two patterns of bits; of the other the result is a
/// number, mostly: y is a random logarithm of it to the base x.
inline Pairs random_pairs(std::uint64_t from, std::uint64_t to) {
  Pairs made;
  const auto random = [](std::uint64_t n) {  // splitmix64
    std::uint64_t z = (n + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  for (std::uint64_t k = from; k < to; k++) {
    const std::uint64_t bits = random(k);
    float x = float_of_bits(bits), y = float_of_bits(bits >> 32);
    if (k % 4 == 1) x = float_of_bits(0x3f000000 + bits % 0x01000000);  // from 1/2 to 2
    if (k % 2 == 1) {
      x = std::fabs(x);
      y = static_cast<float>((static_cast<double>(bits >> 32) * 0x1p-32 * 280 - 151) / std::log2(static_cast<double>(x)));
    }
    made.x.push_back(x);
    made.y.push_back(y);
  }
  return made;
}

inline double worst_of(const ExactPairFunction& f, const Pairs& pairs, const std::vector<float>& got, std::string* where = nullptr) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); i++) {
    const double distance = ulps(got[i], f.value(static_cast<double>(pairs.x[i]), static_cast<double>(pairs.y[i])));
    if (distance <= worst) continue;
    worst = distance;
    if (where != nullptr) *where = fmt::format("{} of {:a} and {:a} is {}", name_of(f.op), pairs.x[i], pairs.y[i], got[i]);
  }
  return worst;
}

}  // namespace etch::test
