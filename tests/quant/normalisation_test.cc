// Quantised normalisations against their definition in long double: the same but for what lies next to a tie. Nothing of them is a float,
// so that every backend and every compiler gives the same bits.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "quant/networks.h"

namespace etch::test::normalisation_test {
namespace {

struct Norm {
  const char* name;
  Value (*make)(Net&, const Value& x, const Value& scale, const Value& bias, double epsilon);
  std::int64_t rows, count;               // one row after the other, each normalised by itself
  std::int64_t parameters = 1, step = 1;  // element i has parameter i / step % parameters
  Ints shape;
  DType in = DType::Int8, out = DType::Int8;
  double sx = 0.05, sy = 0.03;
  std::int64_t zx = 3, zy = -5;
  double epsilon = 1e-5;
  bool is_centred = true;
  double low = -1e30, high = 1e30;
  int correction = 0;
};

Value layer(Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
  return g.node("LayerNormalization", {x, scale, bias}, {{"epsilon", epsilon}}, "norm");
}

Value last_axis(Net& g) { return g.constant(Array::of_ints(DType::Int64, {1}, Ints{-1})); }
Value mean(Net& g, const Value& x) { return g.node("ReduceMean", {x, last_axis(g)}); }

Value deviation(Net& g, const Value& distance, double count, double epsilon) {
  const Value sum = g.node("ReduceSum", {g.node("Mul", {distance, distance}), last_axis(g)});
  return g.node("Sqrt", {g.node("Add", {g.node("Mul", {sum, g.constant(float32(1 / count))}), g.constant(float32(epsilon))})});
}

const Norm kNorms[] = {
    {"layer", layer, 8, 64, 64, 1, {8, 64}},
    {"of a number of elements that is no power of two", layer, 6, 300, 300, 1, {2, 3, 300}},
    {"of two axes",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       const Value two = g.ints("sizes", {3, 8});
       return g.node("LayerNormalization", {x, g.node("Reshape", {scale, two}), g.node("Reshape", {bias, two})},
                     {{"axis", std::int64_t{-2}}, {"epsilon", epsilon}}, "norm");
     },
     10,
     24,
     24,
     1,
     {10, 3, 8}},
    {"long rows", layer, 3, 4096, 4096, 1, {3, 4096}},
    {"one scale", layer, 8, 48, 1, 1, {8, 48}},
    {"pairs", layer, 24, 2, 2, 1, {24, 2}},
    {"a fine scale, where epsilon counts", layer, 8, 64, 64, 1, {8, 64}, DType::Int8, DType::Int8, 1e-5, 0.03},
    {"a coarse scale, where it does not", layer, 8, 64, 64, 1, {8, 64}, DType::UInt8, DType::UInt8, 20, 0.02, 200, 128},
    {"a coarse result", layer, 8, 64, 64, 1, {8, 64}, DType::Int8, DType::Int8, 0.1, 0.5},
    {"bytes of words", layer, 8, 48, 48, 1, {8, 48}, DType::Int16, DType::Int8, 0.0007, 0.03, -300},
    {"words", layer, 8, 40, 40, 1, {8, 40}, DType::Int16, DType::Int16, 0.0007, 0.0003, 12},
    {"words of bytes", layer, 8, 40, 40, 1, {8, 40}, DType::UInt8, DType::UInt16, 0.02, 0.0003, 100, 30000},
    {"many words", layer, 2, 1024, 1024, 1, {2, 1024}, DType::UInt16, DType::Int8, 0.0007, 0.03, 30000},
    {"instance",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       return g.node("InstanceNormalization", {x, scale, bias}, {{"epsilon", epsilon}}, "norm");
     },
     10,
     30,
     5,
     30,
     {2, 5, 6, 5}},
    {"group, a scale for each channel",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       return g.node("GroupNormalization", {x, scale, bias}, {{"num_groups", std::int64_t{2}}, {"epsilon", epsilon}}, "norm");
     },
     4,
     60,
     6,
     20,
     {2, 6, 4, 5}},
    {"in parts, bounded",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       const Value distance = g.node("Sub", {x, mean(g, x)});
       const Value z = g.node("Div", {distance, deviation(g, distance, 40, epsilon)});
       return g.node("Clip", {g.node("Sub", {g.node("Mul", {scale, z}), g.node("Neg", {bias})}), g.constant(float32(-0.3)),
                              g.constant(float32(1.1))});
     },
     8,
     40,
     40,
     1,
     {8, 40},
     DType::Int8,
     DType::Int8,
     0.05,
     0.015,
     3,
     -5,
     1e-5,
     true,
     -0.3f,
     1.1f},
    {"of an unbiased variance, negative",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       const Value distance = g.node("Sub", {x, mean(g, x)});
       const Value z = g.node("Div", {distance, deviation(g, distance, 15, epsilon)});
       return g.node("Neg", {g.node("Sub", {g.node("Neg", {bias}), g.node("Mul", {z, scale})})});
     },
     12,
     16,
     16,
     1,
     {12, 16},
     DType::Int8,
     DType::Int8,
     0.05,
     0.03,
     3,
     -5,
     1e-3,
     true,
     -1e30,
     1e30,
     1},
    {"by the root of the mean square",
     [](Net& g, const Value& x, const Value& scale, const Value& bias, double epsilon) {
       const Value z = g.node("Div", {x, deviation(g, x, 64, epsilon)});
       return g.node("Add", {g.node("Mul", {z, scale}), bias});
     },
     8,
     64,
     64,
     1,
     {8, 64},
     DType::Int8,
     DType::Int8,
     0.05,
     0.03,
     3,
     -5,
     1e-5,
     false},
};

std::vector<double> parameters(std::int64_t count, double least, double most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<double>(static_cast<float>(std::uniform_real_distribution(least, most)(random))));
  values.back() = 0.75;  // of the bias: a tie where the scale is 0.5
  return values;
}

struct Parts {
  Compiled made;
  std::vector<double> scale, bias;
};

Parts compiled_norm(const Norm& c) {
  Net g(21);
  const auto vector = [&](const std::vector<double>& v) {
    return g.constant(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(v.size())}, v));
  };
  Parts parts;
  parts.scale = parameters(c.parameters, -0.5, 1.5, 1);
  parts.bias = parameters(c.parameters, -1, 1, 2);
  const std::vector<OnnxDim> sizes(c.shape.begin(), c.shape.end());
  const Value x = g.dequantise(g.input("x", c.in, sizes), c.sx, c.zx, c.in);
  const Value y = c.make(g, x, vector(parts.scale), vector(parts.bias), c.epsilon);
  g.output(g.quantise(y, c.sy, c.zy, c.out), c.out, sizes);
  parts.made = compiled(g);
  return parts;
}

/// Rows of any values, of values that are nearly the same, of one that is another, and of equal ones.
Ints norm_values(const Norm& c) {
  std::mt19937 random(5);
  const std::int64_t low = int_min(c.in), high = int_max(c.in), span = high - low + 1;
  Ints values;
  for (std::int64_t row = 0; row < c.rows; row++)
    for (std::int64_t i = 0; i < c.count; i++) {
      const std::int64_t any = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(span));
      const std::int64_t of_kind[] = {low + any, low + span / 3 + any % 3, i == c.count / 2 ? high : low, low + span / 2};
      values.push_back(of_kind[row % 4]);
    }
  return values;
}

/// z of each element of the row that begins there.
std::vector<long double> normal_row(const Norm& c, const Ints& x, std::size_t first) {
  const long double n = c.count, scale = static_cast<float>(c.sx);
  long double sum = 0, squares = 0;
  const auto value = [&](std::int64_t i) { return static_cast<long double>(x[first + static_cast<std::size_t>(i)] - c.zx) * scale; };
  for (std::int64_t i = 0; i < c.count; i++) sum += value(i);
  const long double mean = c.is_centred ? sum / n : 0;
  for (std::int64_t i = 0; i < c.count; i++) squares += (value(i) - mean) * (value(i) - mean);
  std::vector<long double> z;
  const long double root = std::sqrt(squares / (n - c.correction) + static_cast<long double>(static_cast<float>(c.epsilon)));
  for (std::int64_t i = 0; i < c.count; i++) z.push_back((value(i) - mean) / root);
  return z;
}

TEST(QuantisedNormalisation, IsExactButNextToTies) {
  for (const Norm& c : kNorms) {
    SCOPED_TRACE(c.name);
    const Parts parts = compiled_norm(c);
    EXPECT_EQ(parts.made.frontend.float_nodes, std::vector<std::string>());
    for (const ScheduleItem& item : parts.made.schedule().items)
      for (const LazyOp* op : toposort(item.ast)) EXPECT_FALSE(is_float(op->dtype));
    const Ints x = norm_values(c), got = run(parts.made, {Array::of_ints(c.in, c.shape, x)});
    const auto most = [](const std::vector<double>& v) {
      return std::abs(*std::ranges::max_element(v, {}, [](double p) { return std::abs(p); }));
    };
    const long double divisor = static_cast<float>(c.sy);
    const long double largest = (std::sqrt(static_cast<long double>(c.count)) * most(parts.scale) + most(parts.bias)) / divisor;
    int near = 0;
    std::vector<long double> z;
    for (std::size_t i = 0; i < x.size(); i++) {
      const std::size_t column = i % static_cast<std::size_t>(c.count), p = i / static_cast<std::size_t>(c.step) % parts.scale.size();
      if (column == 0) z = normal_row(c, x, i);
      const long double y = std::clamp<long double>(z[column] * parts.scale[p] + parts.bias[p], c.low, c.high) / divisor;
      const std::int64_t want = std::clamp(static_cast<std::int64_t>(std::nearbyint(y)) + c.zy, int_min(c.out), int_max(c.out));
      const bool is_near = z[column] != 0 && std::abs(y - std::floor(y) - 0.5L) < std::ldexp(largest, -26);
      near += is_near ? 1 : 0;
      EXPECT_LE(std::abs(got[i] - want), is_near ? 1 : 0) << "element " << i << ", before rounding " << static_cast<double>(y);
    }
    EXPECT_LE(near, 1 + static_cast<int>(x.size()) / 100);
  }
}

Value times(Net& g, const Value& x, double number) { return g.node("Mul", {x, g.constant(float32(number))}, {}, "times"); }

Value ones(Net& g, std::int64_t n, double value = 1) {
  return g.constant(Array::of_doubles(DType::Float32, {n}, std::vector<double>(static_cast<std::size_t>(n), value)));
}

/// `rows` rows of int8, of scale 0.05.
Compiled compiled_rows(std::int64_t rows, std::int64_t n, double sy, Value (*make)(Net&, const Value& x, std::int64_t n)) {
  Net g(21);
  const Value x = g.dequantise(g.input("x", DType::Int8, {rows, n}), 0.05, 3);
  g.output(g.quantise(make(g, x, n), sy, 0), DType::Int8, {rows, n});
  return compiled(g);
}

// Factors that are a power of two but for rounding: in integers with as many places as there are, they could be one too large.
TEST(QuantisedNormalisation, FactorsNextToAPowerOfTwo) {
  const struct {
    std::int64_t n;
    bool is_centred;
    Value (*make)(Net&, const Value& x, std::int64_t n);
  } kRows[] = {
      {641, false,
       [](Net& g, const Value& x, std::int64_t n) { return g.node("Div", {x, deviation(g, x, static_cast<double>(n), 1e-5)}); }},
      {64, true,
       [](Net& g, const Value& x, std::int64_t n) {
         return times(g, g.node("LayerNormalization", {x, ones(g, n, 1 - 0x1p-18)}), 1 + 0x1p-18);
       }},
  };
  for (const auto& row : kRows) {
    Norm c = kNorms[0];
    c.rows = 4;
    c.count = row.n;
    c.is_centred = row.is_centred;
    const Ints x = norm_values(c), got = run(compiled_rows(4, row.n, 0x1p-5, row.make), {int8s({4, row.n}, x)});
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      const long double z =
          normal_row(c, x, i / static_cast<std::size_t>(row.n) * static_cast<std::size_t>(row.n))[i % static_cast<std::size_t>(row.n)];
      wrong += std::abs(static_cast<long double>(got[i]) - std::clamp<long double>(32 * z, -128, 127)) > 0.5001L ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << row.n;
  }
}

// Where all elements are the same z is 0, and each step behind it is rounded to float32.
TEST(QuantisedNormalisation, OfEqualElementsIsWhatFloat32Gives) {
  const Compiled c = compiled_rows(4, 64, 0.125, [](Net& g, const Value& x, std::int64_t n) {
    const Value y = times(g, g.node("LayerNormalization", {x, ones(g, n), ones(g, n, static_cast<double>(0.1f))}), 10);
    return g.node("Add", {y, g.constant(float32(-0.9375))});
  });
  EXPECT_EQ(c.frontend.float_nodes, std::vector<std::string>());
  volatile float product = 0.1f * 10.0f, sum = product + -0.9375f;
  const auto want = static_cast<std::int64_t>(std::nearbyint(sum / 0.125f));
  EXPECT_EQ(run(c, {int8s({4, 64}, Ints(256, 17))}), Ints(256, want));
}

TEST(QuantisedNormalisation, WhatIsNoNumberIsNotComputedInIntegers) {
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const bool is_bias : {false, true}) {
      std::vector<double> some(64, 1);
      some[5] = odd;
      Net g(21);
      const Value x = g.dequantise(g.input("x", DType::Int8, {4, 64}), 0.05, 3);
      const Value parameters = g.constant(Array::of_doubles(DType::Float32, {64}, some)), one = ones(g, 64);
      g.output(g.quantise(layer(g, x, is_bias ? one : parameters, is_bias ? parameters : one, 1e-5), 0.03, 0), DType::Int8, {4, 64});
      EXPECT_EQ(compiled(g).frontend.float_nodes, std::vector<std::string>{"norm"});
    }
}

// A number for each row times one for each column are as many as there are elements.
TEST(QuantisedNormalisation, ConstantsOfSeveralAxesStayApart) {
  const Compiled c = compiled_rows(32, 64, 0.1, [](Net& g, const Value& x, std::int64_t n) {
    const Value of_rows = g.constant(Array::of_doubles(DType::Float32, {32, 1}, std::vector<double>(32, 0.5)));
    return g.node("Mul", {layer(g, x, ones(g, n), ones(g, n), 1e-5), of_rows}, {}, "rows");
  });
  EXPECT_EQ(c.frontend.float_nodes, (std::vector<std::string>{"norm", "rows"}));
}

TEST(QuantisedNormalisation, WhatIsOutOfRangeIsNamed) {
  Norm finest = kNorms[0], coarsest = kNorms[0], longest = kNorms[0];
  finest.sx = 1e-12;   // epsilon is all that counts
  coarsest.sx = 1e12;  // it does not count at all
  longest.shape = {1, 1 << 17};
  longest.parameters = 1 << 17;
  longest.in = DType::Int16;
  for (const Norm& c : {finest, coarsest, longest}) EXPECT_EQ(compiled_norm(c).made.frontend.float_nodes, std::vector<std::string>{"norm"});
}

}  // namespace
}  // namespace etch::test::normalisation_test
