// Sums below functions that are computed in float between two quantised values: their integers are summed, so that no order of summing
// changes a bit. The results are those of the definition in float64, but for what lies next to a tie.
#include <gtest/gtest.h>

#include <random>

#include "quant/networks.h"

namespace etch::test {
namespace {

constexpr std::int64_t kSumRows = 24;
constexpr double kSumScale = 0.0371, kEpsilon = 1e-5;
constexpr std::int64_t kSumZero = 11;

using Reals = std::vector<double>;

Reals normalised(const Reals& x) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Reals y;
  for (const double v : x) y.push_back((v - mean) / std::sqrt(variance + kEpsilon));
  return y;
}

Value ones(Net& g, std::int64_t n, double value) {
  return g.constant(Array::of_doubles(DType::Float32, {n}, Reals(static_cast<std::size_t>(n), value)));
}

const struct {
  const char* name;
  DType dtype;
  std::int64_t columns;
  Value (*make)(Net&, const Value& x, std::int64_t columns);
  Reals (*of)(const Reals&);  // in float64
} kSumCases[] = {
    {"layer normalisation", DType::Int8, 64,
     [](Net& g, const Value& x, std::int64_t n) { return g.node("LayerNormalization", {x, ones(g, n, 1)}); }, normalised},
    {"of a number of elements that is no power of two", DType::Int8, 52,
     [](Net& g, const Value& x, std::int64_t n) { return g.node("LayerNormalization", {x, ones(g, n, 1)}); }, normalised},
    {"of words", DType::Int16, 40, [](Net& g, const Value& x, std::int64_t n) { return g.node("LayerNormalization", {x, ones(g, n, 1)}); },
     normalised},
    {"in parts", DType::UInt8, 48,
     [](Net& g, const Value& x, std::int64_t) {
       const OnnxAttributes last{{"axes", Ints{-1}}};
       const Value distance = g.node("Sub", {x, g.node("ReduceMean", {x}, last)});
       const Value variance = g.node("ReduceMean", {g.node("Mul", {distance, distance})}, last);
       return g.node("Div", {distance, g.node("Sqrt", {g.node("Add", {variance, ones(g, 1, kEpsilon)})})});
     },
     normalised},
    {"root of the mean square", DType::Int8, 30,
     [](Net& g, const Value& x, std::int64_t) {
       const Value square = g.node("ReduceMean", {g.node("Mul", {x, x})}, {{"axes", Ints{-1}}});
       return g.node("Div", {x, g.node("Sqrt", {square})});
     },
     [](const Reals& x) {
       double square = 0;
       for (const double v : x) square += v * v / static_cast<double>(x.size());
       Reals y;
       for (const double v : x) y.push_back(v / std::sqrt(square));
       return y;
     }},
    {"a product of matrices", DType::Int8, 36,
     [](Net& g, const Value& x, std::int64_t n) {
       Ints weights;
       for (std::int64_t i = 0; i < n * n; i++) weights.push_back(i * 37 % 251 - 125);
       return g.node("Tanh", {g.node("MatMul", {x, g.dequantise(g.constant(int8s({n, n}, weights)), 0.002, 0)})});
     },
     [](const Reals& x) {
       Reals y;
       for (std::size_t column = 0; column < x.size(); column++) {
         double sum = 0;
         for (std::size_t k = 0; k < x.size(); k++)
           sum += x[k] * static_cast<double>(0.002f) * (static_cast<double>((k * x.size() + column) * 37 % 251) - 125);
         y.push_back(std::tanh(sum));
       }
       return y;
     }},
};

TEST(SumsBelowQuantisations, AreOfIntegers) {
  constexpr double result_scale = 0.0213;
  for (const auto& c : kSumCases) {
    SCOPED_TRACE(c.name);
    const std::int64_t low = int_min(c.dtype), high = int_max(c.dtype), zero = (low + high + 1) / 2 + kSumZero, result_zero = zero - 5;
    Net g(c.dtype == DType::Int16 ? 21 : 17);
    const Value x = g.dequantise(g.input("x", c.dtype, {kSumRows, c.columns}), kSumScale, zero, c.dtype);
    g.output(g.quantise(c.make(g, x, c.columns), result_scale, result_zero, c.dtype), c.dtype, {kSumRows, c.columns});
    const Compiled made = compiled(g);
    EXPECT_EQ(count(made.schedule(), Op::ReduceSum, true), 0);
    std::mt19937 random(17);
    Ints values;
    for (std::int64_t i = 0; i < kSumRows * c.columns; i++)
      values.push_back(std::clamp(zero + static_cast<std::int64_t>(random() % 200) - 90, low, high));
    const Ints got = run(made, {Array::of_ints(c.dtype, {kSumRows, c.columns}, values)});
    for (std::size_t row = 0; row < static_cast<std::size_t>(kSumRows); row++) {
      Reals reals;
      const auto columns = static_cast<std::size_t>(c.columns);
      for (std::size_t i = 0; i < columns; i++)
        reals.push_back(static_cast<double>(values[row * columns + i] - zero) * static_cast<double>(static_cast<float>(kSumScale)));
      const Reals want = c.of(reals);
      for (std::size_t i = 0; i < columns; i++) {
        const double quotient = want[i] / static_cast<double>(static_cast<float>(result_scale));
        const bool is_near = std::abs(quotient - std::floor(quotient) - 0.5) < 1e-4;
        const std::int64_t rounded = std::clamp(static_cast<std::int64_t>(std::nearbyint(quotient)) + result_zero, low, high);
        EXPECT_LE(std::abs(got[row * columns + i] - rounded), is_near ? 1 : 0) << "row " << row << ", column " << i;
      }
    }
  }
}

}  // namespace
}  // namespace etch::test
