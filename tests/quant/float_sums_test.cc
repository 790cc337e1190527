// Sums below functions that are computed in float between two quantised values: their integers are summed, so that no order of summing
// changes a bit. The results are those of the definition in float64, but for what lies next to a tie.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "quant/networks.h"

namespace etch::test::float_sums_test {
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

/// Any values of the type.
Ints any_values(DType dtype, std::int64_t count, std::uint32_t seed = 17) {
  std::mt19937 random(seed);
  const std::int64_t low = int_min(dtype), span = int_max(dtype) - low + 1;
  Ints values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(low + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(span)));
  return values;
}

double in_float32(double v) { return static_cast<double>(static_cast<float>(v)); }

Reals dequantised(const Ints& values, std::int64_t zero) {
  Reals reals;
  for (const std::int64_t v : values) reals.push_back(static_cast<double>(v - zero) * in_float32(kSumScale));
  return reals;
}

constexpr double kRounding = 0x1p-24;  // of one operation in float32, relative to its result

/// A quantised result and what is rounded to it, which is off by `error`.
struct Expected {
  double quotient = 0, error = 0;
};

/// Each of `got` is the nearest, or one of the two nearest where that could be either; these are few.
void expect_rounded(const Ints& got, const std::vector<Expected>& expected, std::int64_t zero, DType dtype) {
  ASSERT_EQ(got.size(), expected.size());
  std::size_t near = 0;
  for (std::size_t i = 0; i < got.size(); i++) {
    const auto [quotient, error] = expected[i];
    const bool is_near = std::abs(quotient - std::floor(quotient) - 0.5) < error;
    near += is_near ? 1 : 0;
    const std::int64_t want = std::clamp(static_cast<std::int64_t>(std::nearbyint(quotient)) + zero, int_min(dtype), int_max(dtype));
    EXPECT_LE(std::abs(got[i] - want), is_near ? 1 : 0) << "element " << i;
  }
  EXPECT_LE(near, 1 + got.size() / 100);
}

// Of what is exact, nothing but the operations after the sums is off, and the mean, which is less than one standard deviation: at most
// eight operations, on the result and on the mean as part of it.
TEST(SumsBelowQuantisations, AreOfIntegers) {
  constexpr double result_scale = 0.0213, roundings = 8;
  for (const auto& c : kSumCases) {
    SCOPED_TRACE(c.name);
    const std::int64_t zero = (int_min(c.dtype) + int_max(c.dtype) + 1) / 2 + kSumZero, result_zero = zero - 5;
    Net g(c.dtype == DType::Int16 ? 21 : 17);
    const Value x = g.dequantise(g.input("x", c.dtype, {kSumRows, c.columns}), kSumScale, zero, c.dtype);
    g.output(g.quantise(c.make(g, x, c.columns), result_scale, result_zero, c.dtype), c.dtype, {kSumRows, c.columns});
    const Compiled made = compiled(g);
    EXPECT_EQ(count(made.schedule(), Op::ReduceSum, true), 0);
    const Ints values = any_values(c.dtype, kSumRows * c.columns);
    const Reals reals = dequantised(values, zero);
    std::vector<Expected> expected;
    for (auto row = reals.begin(); row != reals.end(); row += c.columns)
      for (const double v : c.of(Reals(row, row + c.columns))) {
        const double quotient = v / in_float32(result_scale);
        expected.push_back({quotient, roundings * kRounding * (std::abs(quotient) + 1 / result_scale)});
      }
    expect_rounded(run(made, {Array::of_ints(c.dtype, {kSumRows, c.columns}, values)}), expected, result_zero, c.dtype);
  }
}

// What is subtracted is something else than the mean of what is squared and summed up, or the sums have too many bits: they are of floats.
const struct {
  const char* name;
  DType dtype;
  std::int64_t columns;
  Ints other;  // the shape of a second value
  Value (*make)(Net&, const Value& x, const Value& other, std::int64_t columns);
  double (*at)(const Reals& x, const Reals& other, std::int64_t columns, std::int64_t row, std::int64_t column);  // in float64
  double result_scale;
  std::int64_t rows = kSumRows;
} kOtherDistances[] = {
    {"a part of something longer",
     DType::Int8,
     6,
     {kSumRows, 12},
     [](Net& g, const Value&, const Value& other, std::int64_t n) {
       return g.node("Slice", {other, g.ints("from", {0}), g.ints("to", {n}), g.ints("axis", {1})});
     },
     [](const Reals&, const Reals& other, std::int64_t n, std::int64_t row, std::int64_t column) {
       return other[static_cast<std::size_t>(row * 2 * n + column)];
     },
     2},
    {"transposed",
     DType::Int8,
     6,
     {6, kSumRows},
     [](Net& g, const Value&, const Value& other, std::int64_t) { return g.node("Transpose", {other}); },
     [](const Reals&, const Reals& other, std::int64_t, std::int64_t row, std::int64_t column) {
       return other[static_cast<std::size_t>(column * kSumRows + row)];
     },
     2},
    {"reshaped",
     DType::UInt8,
     6,
     {kSumRows * 6},
     [](Net& g, const Value&, const Value& other, std::int64_t n) { return g.node("Reshape", {other, g.ints("shape", {kSumRows, n})}); },
     [](const Reals&, const Reals& other, std::int64_t n, std::int64_t row, std::int64_t column) {
       return other[static_cast<std::size_t>(row * n + column)];
     },
     2},
    {"the mean of another value",
     DType::Int8,
     6,
     {kSumRows, 6},
     [](Net& g, const Value&, const Value& other, std::int64_t) { return g.node("ReduceMean", {other}, {{"axes", Ints{1}}}); },
     [](const Reals&, const Reals& other, std::int64_t n, std::int64_t row, std::int64_t) {
       return std::accumulate(other.begin() + row * n, other.begin() + (row + 1) * n, 0.0) / static_cast<double>(n);
     },
     2},
    {"the means of other rows",
     DType::Int8,
     kSumRows,
     {kSumRows, 1},
     [](Net& g, const Value& x, const Value&, std::int64_t) {
       return g.node("Transpose", {g.node("ReduceMean", {x}, {{"axes", Ints{1}}})});
     },
     [](const Reals& x, const Reals&, std::int64_t n, std::int64_t, std::int64_t column) {
       return std::accumulate(x.begin() + column * n, x.begin() + (column + 1) * n, 0.0) / static_cast<double>(n);
     },
     8},
    {"a mean over other axes",
     DType::Int8,
     6,
     {kSumRows, 1},
     [](Net& g, const Value& x, const Value&, std::int64_t) { return g.node("ReduceMean", {x}, {{"axes", Ints{0}}}); },
     [](const Reals& x, const Reals&, std::int64_t n, std::int64_t, std::int64_t column) {
       double mean = 0;
       for (std::int64_t i = 0; i < kSumRows; i++) mean += x[static_cast<std::size_t>(i * n + column)] / kSumRows;
       return mean;
     },
     2},
    {"a sum over one element more",
     DType::Int8,
     6,
     {kSumRows, 1},
     [](Net& g, const Value& x, const Value&, std::int64_t n) {
       return g.node("Div", {g.node("ReduceSum", {x, g.ints("axes", {1})}), ones(g, 1, static_cast<double>(n + 1))});
     },
     [](const Reals& x, const Reals&, std::int64_t n, std::int64_t row, std::int64_t) {
       return std::accumulate(x.begin() + row * n, x.begin() + (row + 1) * n, 0.0) / static_cast<double>(n + 1);
     },
     2},
    {"more than 2^53",
     DType::Int16,
     3000,
     {2, 1},
     [](Net& g, const Value& x, const Value&, std::int64_t) { return g.node("ReduceMean", {x, g.ints("last", {1})}); },
     [](const Reals& x, const Reals&, std::int64_t n, std::int64_t row, std::int64_t) {
       return std::accumulate(x.begin() + row * n, x.begin() + (row + 1) * n, 0.0) / static_cast<double>(n);
     },
     2e8,
     2},
};

TEST(SumsBelowQuantisations, OfOtherDistancesAreOfFloats) {
  for (const auto& c : kOtherDistances) {
    SCOPED_TRACE(c.name);
    const std::int64_t n = c.columns, zero = (int_min(c.dtype) + int_max(c.dtype) + 1) / 2 + kSumZero;
    const Ints shape{c.rows, n},
        values = any_values(c.dtype, c.rows * n),
        others = any_values(c.dtype, std::accumulate(c.other.begin(), c.other.end(), std::int64_t{1}, std::multiplies<>()), 23);
    Net g(c.dtype == DType::Int16 ? 21 : 17);
    const Value x = g.dequantise(g.input("x", c.dtype, {c.rows, n}), kSumScale, zero, c.dtype);
    const Value other = g.dequantise(g.input("other", c.dtype, {c.other.begin(), c.other.end()}), kSumScale, zero, c.dtype);
    const Value distance = g.node("Sub", {x, c.make(g, x, other, n)});
    const Value sum = g.node("ReduceSum", {g.node("Mul", {distance, distance}), g.ints("along", {1})});
    g.output(g.quantise(sum, c.result_scale, zero, c.dtype), c.dtype, {c.rows, 1});
    const Compiled made = compiled(g);
    EXPECT_EQ(count(made.schedule(), Op::ReduceSum, true), 1);
    const Reals of_x = dequantised(values, zero), of_other = dequantised(others, zero);
    std::vector<Expected> expected;
    for (std::int64_t row = 0; row < c.rows; row++) {
      // Each operand of a difference is off by its own rounding, a mean by three; each square, and what n of them are added to, too.
      double squares = 0, error = 0;
      for (std::int64_t column = 0; column < n; column++) {
        const double v = of_x[static_cast<std::size_t>(row * n + column)], y = c.at(of_x, of_other, n, row, column), d = v - y;
        squares += d * d;
        error += kRounding * (2 * std::abs(d) * (std::abs(v) + 3 * std::abs(y) + std::abs(d)) + static_cast<double>(n + 3) * d * d);
      }
      const double scale = in_float32(c.result_scale);
      expected.push_back({squares / scale, error / scale});
    }
    expect_rounded(run(made, {Array::of_ints(c.dtype, shape, values), Array::of_ints(c.dtype, c.other, others)}), expected, zero, c.dtype);
  }
}

// The largest or least of several floats is one of them, bit by bit: also where it is quantised as well, from integers.
TEST(ExtremesBelowQuantisations, AreEqualToTheirElements) {
  const struct {
    const char *name, *op;
    Value (*make)(Net&, const Value& x, const Value& y);
    float (*at)(float x, float y);
    bool is_quantised;
  } rows[] = {
      {"the largest of two factors", "ReduceMax", [](Net& g, const Value& x, const Value&) { return g.node("Mul", {x, ones(g, 1, 0.3)}); },
       [](float x, float) { return x * 0.3f; }, false},
      {"the least of a factor and a divisor", "ReduceMin",
       [](Net& g, const Value& x, const Value&) { return g.node("Mul", {g.node("Div", {x, ones(g, 1, 0.7)}), ones(g, 1, 0.3)}); },
       [](float x, float) { return x / 0.7f * 0.3f; }, true},
      {"the largest of products", "ReduceMax", [](Net& g, const Value& x, const Value& y) { return g.node("Mul", {x, y}); },
       [](float x, float y) { return x * y; }, true},
  };
  constexpr std::int64_t columns = 7;
  constexpr double scale = 1.0 / 32;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Net g;
    const Value a = g.dequantise(g.input("a", DType::Int8, {kSumRows, columns}), kSumScale, kSumZero);
    const Value b = g.dequantise(g.input("b", DType::Int8, {kSumRows, columns}), 0.0113, -3);
    const Value x = row.make(g, a, b), end = g.node(row.op, {x}, {{"axes", Ints{1}}});
    const Value is_end = g.node("Cast", {g.node("Equal", {x, end})}, {{"to", std::int64_t{1}}});
    g.output(g.quantise(g.node("Mul", {is_end, g.node("Exp", {g.node("Tanh", {x})})}), scale, 0), DType::Int8, {kSumRows, columns});
    if (row.is_quantised) g.output(g.quantise(end, 0.05, 1), DType::Int8, {kSumRows, 1});
    const Ints as = any_values(DType::Int8, kSumRows * columns), bs = Ints(as.rbegin(), as.rend());
    const Ints got = run(compiled(g), {int8s({kSumRows, columns}, as), int8s({kSumRows, columns}, bs)});
    const auto place = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::vector<float> reals;
    for (std::int64_t i = 0; i < kSumRows * columns; i++)
      reals.push_back(row.at(static_cast<float>(as[place(i)] - kSumZero) * static_cast<float>(kSumScale),
                             static_cast<float>(bs[place(i)] + 3) * 0.0113f));
    for (std::int64_t i = 0; i < kSumRows * columns; i++) {
      const auto first = reals.begin() + i / columns * columns;
      const auto [least, largest] = std::minmax_element(first, first + columns);
      const bool is_one = reals[place(i)] == (std::string_view(row.op) == "ReduceMax" ? *largest : *least);
      EXPECT_EQ(got[place(i)], is_one ? std::lrint(std::exp(std::tanh(static_cast<double>(reals[place(i)]))) / scale) : 0) << i;
    }
  }
}

}  // namespace
}  // namespace etch::test::float_sums_test
