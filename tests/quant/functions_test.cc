// Functions of one or two quantised bytes: every value, and every pair, against loops in float32 in which each operation rounds. What is
// computed has no product of floats that a compiler could contract.
#include <gtest/gtest.h>

#include <random>

#include "quant/linear.h"
#include "quant/networks.h"
#include "support/rounds.h"

namespace etch::test {
namespace {

float dequantised(std::int64_t q, float scale, std::int64_t zero) {
  volatile float product = static_cast<float>(q - zero) * scale;  // rounded
  return product;
}

std::int64_t quantised(float x, float scale, std::int64_t zero, std::int64_t low = -128, std::int64_t high = 127) {
  volatile float quotient = x / scale;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(quotient)) + zero, low, high);
}

const struct {
  const char* name;
  Value (*make)(Net&, const Value&);
  double (*of)(double);  // in float64
} kFunctions[] = {
    {"Sigmoid", [](Net& g, const Value& x) { return g.node("Sigmoid", {x}); }, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Tanh", [](Net& g, const Value& x) { return g.node("Tanh", {x}); }, [](double x) { return std::tanh(x); }},
    {"LeakyRelu", [](Net& g, const Value& x) { return g.node("LeakyRelu", {x}, {{"alpha", 0.1}}); },
     [](double x) { return x < 0 ? static_cast<double>(0.1f) * x : x; }},
    {"HardSwish", [](Net& g, const Value& x) { return g.node("HardSwish", {x}); },
     [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"x * Sigmoid(x)", [](Net& g, const Value& x) { return g.node("Mul", {x, g.node("Sigmoid", {x})}); },
     [](double x) { return x / (1 + std::exp(-x)); }},
    {"Sqrt(|x|), transposed on the way",
     [](Net& g, const Value& x) {
       const Value root = g.node("Sqrt", {g.node("Abs", {g.node("Transpose", {x})})});
       return g.node("Transpose", {root});
     },
     [](double x) { return std::sqrt(std::abs(x)); }},
    {"another scale", [](Net& g, const Value& x) { return g.node("Identity", {x}); }, [](double x) { return x; }},
};

TEST(ByteFunctions, OfOneByteAreTables) {
  constexpr double sx = 0.0437, sy = 0.0291;
  for (const DType dtype : {DType::Int8, DType::UInt8})
    for (const auto& f : kFunctions) {
      const std::int64_t least = dtype == DType::Int8 ? -128 : 0, zx = least + 111, zy = least + 90;
      Net g(14);
      g.output(g.quantise(f.make(g, g.dequantise(g.input("x", dtype, {16, 16}), sx, zx, dtype)), sy, zy, dtype), dtype, {16, 16});
      const Compiled c = compiled(g);
      ASSERT_EQ(c.schedule().items.size(), 1u) << f.name;
      for (const LazyOp* op : toposort(c.schedule().items[0].ast)) EXPECT_FALSE(is_float(op->dtype)) << f.name;
      Ints x(256), want;
      for (std::size_t i = 0; i < 256; i++) x[i] = least + static_cast<std::int64_t>(i);
      for (const std::int64_t v : x) {
        const auto real = static_cast<float>(f.of(static_cast<double>(dequantised(v, static_cast<float>(sx), zx))));
        want.push_back(quantised(real, static_cast<float>(sy), zy, least, least + 255));
      }
      EXPECT_EQ(run(c, {Array::of_ints(dtype, {16, 16}, x)}), want) << f.name;
    }
}

const struct {
  const char* name;
  Value (*make)(Net&, const Value&);
  double (*of)(double);  // in float64
  double sx, sy;
} kWordFunctions[] = {
    {"Sigmoid", [](Net& g, const Value& x) { return g.node("Sigmoid", {x}); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 0x1p-11,
     0x1p-15},
    {"Sigmoid of a coarse value", [](Net& g, const Value& x) { return g.node("Sigmoid", {x}); },
     [](double x) { return 1 / (1 + std::exp(-x)); }, 0.1, 0x1p-15},
    {"Tanh", [](Net& g, const Value& x) { return g.node("Tanh", {x}); }, [](double x) { return std::tanh(x); }, 3e-4, 0x1p-15},
    {"HardSwish", [](Net& g, const Value& x) { return g.node("HardSwish", {x}); },
     [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }, 3e-4, 3e-4},
    {"HardSigmoid", [](Net& g, const Value& x) { return g.node("HardSigmoid", {x}); },
     [](double x) { return std::clamp(static_cast<double>(0.2f) * x + 0.5, 0.0, 1.0); }, 3e-4, 0x1p-15},
    {"Elu", [](Net& g, const Value& x) { return g.node("Elu", {x}); }, [](double x) { return x > 0 ? x : std::expm1(x); }, 3e-4, 2.1e-4},
    {"Softplus, transposed on the way",
     [](Net& g, const Value& x) { return g.node("Transpose", {g.node("Softplus", {g.node("Transpose", {x})})}); },
     [](double x) { return std::log1p(std::exp(x)); }, 3e-4, 3e-4},
    {"x * Sigmoid(x)", [](Net& g, const Value& x) { return g.node("Mul", {x, g.node("Sigmoid", {x})}); },
     [](double x) { return x / (1 + std::exp(-x)); }, 3e-4, 3e-4},
    {"Exp, steep", [](Net& g, const Value& x) { return g.node("Exp", {x}); }, [](double x) { return std::exp(x); }, 3e-4, 0.25},
};

// A jump is where float32 has it, whatever follows.
TEST(WordFunctions, JumpWhereOnnxSays) {
  const struct {
    const char* op;
    double scale;
    float (*of)(float);
  } kJumps[] = {{"ThresholdedRelu", 0.1, [](float x) { return x > 3.0f ? x : 0.0f; }},
                {"Round", 5e-5, [](float x) { return std::nearbyint(x); }}};
  for (const auto& jump : kJumps) {
    Net g(21);
    const Value x = g.dequantise(g.input("x", DType::Int16, {256, 256}), jump.scale, 0, DType::Int16);
    const OnnxAttributes alpha = jump.scale == 0.1 ? OnnxAttributes{{"alpha", 3.0}} : OnnxAttributes{};
    g.output(g.quantise(g.node("Sigmoid", {g.node(jump.op, {x}, alpha)}), 0x1p-15, 0, DType::Int16), DType::Int16, {256, 256});
    Ints values;
    for (std::int64_t v = -32768; v < 32768; v++) values.push_back(v);
    const Ints got = run(compiled(g), {Array::of_ints(DType::Int16, {256, 256}, values)});
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); i++) {
      const auto real = static_cast<double>(jump.of(dequantised(values[i], static_cast<float>(jump.scale), 0)));
      wrong += std::abs(static_cast<double>(got[i]) - std::min(0x1p15 / (1 + std::exp(-real)), 32767.0)) > 0.5 + 1.0 / 128 ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << jump.op;
  }
}

// Every value of 16 bits. What is nearer to a half than float32 tells in such a result may be rounded either way.
TEST(WordFunctions, ArePolynomialsOfIntegers) {
  constexpr double kDoubt = 1.0 / 128;
  const std::pair<DType, DType> kTypes[] = {{DType::Int16, DType::Int16}, {DType::UInt16, DType::UInt16}, {DType::Int16, DType::Int8}};
  for (const auto& [in, out] : kTypes)
    for (const auto& f : kWordFunctions) {
      SCOPED_TRACE(std::string(f.name) + ", " + std::string(name_of(in)) + " to " + std::string(name_of(out)));
      const std::int64_t zx = int_min(in) + 33000, zy = bytes_of(out) == 1 ? -100 : int_min(out) + 30000;
      const double sy = bytes_of(out) == 1 ? 256 * f.sy : f.sy;
      Net g(21);
      g.output(g.quantise(f.make(g, g.dequantise(g.input("x", in, {256, 256}), f.sx, zx, in)), sy, zy, out), out, {256, 256});
      const Compiled c = compiled(g);
      EXPECT_EQ(c.frontend.float_nodes, std::vector<std::string>());
      for (const ScheduleItem& item : c.schedule().items)
        for (const LazyOp* op : toposort(item.ast)) EXPECT_FALSE(is_library_call(op->op));
      Ints x;
      for (std::int64_t v = int_min(in); v <= int_max(in); v++) x.push_back(v);
      const Ints got = run(c, {Array::of_ints(in, {256, 256}, x)});
      int wrong = 0, doubtful = 0;
      for (std::size_t i = 0; i < x.size(); i++) {
        const double real = static_cast<double>(x[i] - zx) * static_cast<double>(static_cast<float>(f.sx));
        const double exact = f.of(real) / static_cast<double>(static_cast<float>(sy)), bounded = std::clamp(exact, -1e6, 1e6);
        const std::int64_t want = std::clamp<std::int64_t>(std::llrint(bounded) + zy, int_min(out), int_max(out));
        const bool is_doubtful = std::abs(exact - std::floor(exact) - 0.5) < kDoubt;
        doubtful += is_doubtful ? 1 : 0;
        wrong += std::abs(got[i] - want) > (is_doubtful ? 1 : 0) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_LE(doubtful, 65536 / 16) << "the scales make the test say something";
    }
}

// What ONNX leaves no choice in is computed as it says, to the bit: here one product in float32 that is rounded, and rounded again.
TEST(WordFunctions, WhatIsPinnedDownStaysSo) {
  constexpr double sx = 3e-4, sy = 2.1e-4;
  Net g(21);
  const Value x = g.dequantise(g.input("x", DType::Int16, {256, 256}), sx, 5, DType::Int16);
  g.output(g.quantise(g.node("LeakyRelu", {x}, {{"alpha", 0.1}}), sy, -3, DType::Int16), DType::Int16, {256, 256});
  Ints values, want;
  for (std::int64_t v = -32768; v < 32768; v++) {
    values.push_back(v);
    const float real = dequantised(v, static_cast<float>(sx), 5);
    volatile float product = real * 0.1f;
    want.push_back(quantised(real < 0 ? product : real, static_cast<float>(sy), -3, -32768, 32767));
  }
  EXPECT_EQ(run(compiled(g), {Array::of_ints(DType::Int16, {256, 256}, values)}), want);
}

// Bytes are few: of each the result is in a table, also where that has 16 bits.
TEST(ByteFunctions, OfOneByteToWordsAreTables) {
  constexpr double sx = 0.0437, sy = 0x1p-15;
  Net g(21);
  const Value x = g.dequantise(g.input("x", DType::Int8, {16, 16}), sx, 11, DType::Int8);
  g.output(g.quantise(g.node("Tanh", {x}), sy, -7, DType::Int16), DType::Int16, {16, 16});
  const Compiled c = compiled(g);
  for (const LazyOp* op : toposort(c.schedule().items.at(0).ast)) EXPECT_FALSE(is_float(op->dtype));
  Ints want;
  for (const std::int64_t v : every_byte()) {
    const auto real = static_cast<float>(std::tanh(static_cast<double>(dequantised(v, static_cast<float>(sx), 11))));
    want.push_back(quantised(real, static_cast<float>(sy), -7, -32768, 32767));
  }
  EXPECT_EQ(run(c, {int8s({16, 16}, every_byte())}), want);
}

struct Sum {
  const char* name;
  const char* op;
  double sa, sb, sy;
  std::int64_t za, zb, zy;
  bool in_integers;  // else the products come from tables of floats
  bool relu = false;
  bool is_constant = false;  // b
};

const Sum kSums[] = {
    {"usual", "Add", 0.0512345, 0.0313131, 0.0617283, 3, -7, -5, true},
    {"usual, with Relu", "Add", 0.0512345, 0.0313131, 0.0312345, 3, -7, -128, true, true},
    {"a difference", "Sub", 0.0112345, 0.0413131, 0.0317283, 30, -70, 15, true},
    {"of one scale", "Add", 0.25, 0.25, 0.25, 1, 2, 3, true},
    {"of a constant", "Add", 0.0512345, 0.0313131, 0.0617283, 3, -7, -5, true, false, true},
    {"with ties, even", "Add", 0.25, 0.25, 0.5, 3, -7, 2, true},
    {"with ties, odd", "Add", 0.25, 0.25, 0.5, 3, -7, 1, true},
    {"with ties of quarters", "Sub", 0.25, 0.125, 0.5, 3, -7, 0, true},
    {"ties that products of floats decide", "Add", 0.05, 0.031, 0.06, 3, -7, -5, false},
    {"most saturates", "Add", 0.3, 0.2, 0.001234, 5, 6, 7, false},
    {"one hardly counts", "Add", 0.3, 0.0001234, 0.31234, 5, 6, 7, true},
    {"nothing is left", "Add", 0.001, 0.001, 100, 5, 6, 7, true},
};

TEST(ByteFunctions, SumsOfTwoBytesAreRightForEveryPair) {
  const Ints bytes = every_byte();
  for (const Sum& s : kSums) {
    Net g;
    const Value a = g.dequantise(g.input("a", DType::Int8, {256, 1}), s.sa, s.za);
    const Array all = int8s({1, 256}, bytes);
    const Value b = g.dequantise(s.is_constant ? g.constant(all) : g.input("b", DType::Int8, {1, 256}), s.sb, s.zb);
    const Value sum = g.node(s.op, {a, b});
    g.output(g.quantise(s.relu ? g.node("Relu", {sum}) : sum, s.sy, s.zy), DType::Int8, {256, 256});
    const Compiled c = compiled(g);
    EXPECT_EQ(count(c.schedule(), Op::Mul, true), 0) << s.name;
    EXPECT_EQ(count(c.schedule(), Op::Add, true) + count(c.schedule(), Op::Div, true), s.in_integers ? 0 : 2) << s.name;
    Ints want;
    for (const std::int64_t x : bytes)
      for (const std::int64_t y : bytes) {
        const float p = dequantised(x, static_cast<float>(s.sa), s.za), q = dequantised(y, static_cast<float>(s.sb), s.zb);
        const float real = std::string(s.op) == "Add" ? p + q : p - q;
        want.push_back(quantised(s.relu ? std::max(real, 0.0f) : real, static_cast<float>(s.sy), s.zy));
      }
    std::vector<Array> inputs{int8s({256, 1}, bytes)};
    if (!s.is_constant) inputs.push_back(all);
    EXPECT_EQ(run(c, inputs), want) << s.name;
  }
}

// What is too wide for tables: all backends round each product, though C is compiled so that it may contract a * b + c.
TEST(ByteFunctions, WiderSumsAreNotContracted) {
  constexpr std::int64_t kSize = 20000;
  constexpr float sa = 0.05f, sb = 0.031f, sy = 0.3f;  // many sums are ties
  std::mt19937 random(3);
  Ints a, b, want, contracted;
  std::vector<double> bias;
  for (std::int64_t i = 0; i < kSize; i++) {
    a.push_back(static_cast<std::int64_t>(random() % 65536) - 32768);
    b.push_back(static_cast<std::int64_t>(random() % 65536) - 32768);
    bias.push_back(static_cast<double>(static_cast<float>(random() % 1000) * 0.05f));
  }
  Net g(21);
  const Value x = g.dequantise(g.input("a", DType::Int16, {kSize}), static_cast<double>(sa), 5, DType::Int16);
  const Value y = g.dequantise(g.input("b", DType::Int16, {kSize}), static_cast<double>(sb), -7, DType::Int16);
  g.output(g.quantise(g.node("Sub", {x, y}), static_cast<double>(sy), 3, DType::Int16), DType::Int16, {kSize});
  const Value c = g.constant(Array::of_doubles(DType::Float32, {kSize}, bias));
  g.output(g.quantise(g.node("Relu", {g.node("Add", {x, c})}), static_cast<double>(sy), 3, DType::Int16), DType::Int16, {kSize});
  Ints of_bias;
  for (std::size_t i = 0; i < a.size(); i++) {
    const float p = dequantised(a[i], sa, 5), q = dequantised(b[i], sb, -7);
    want.push_back(quantised(p - q, sy, 3, -32768, 32767));
    contracted.push_back(quantised(std::fma(static_cast<float>(a[i] - 5), sa, -q), sy, 3, -32768, 32767));
    of_bias.push_back(quantised(std::max(p + static_cast<float>(bias[i]), 0.0f), sy, 3, -32768, 32767));
  }
  EXPECT_NE(want, contracted) << "the rounding counts";
  const auto wide = [](const Ints& values) { return Array::of_ints(DType::Int16, {kSize}, values); };
  EXPECT_EQ(run_all(compiled(g), {wide(a), wide(b)}), (std::vector<Ints>{want, of_bias}));
}

// Products of two bytes that other products are added to, and sums below other operations.
TEST(ByteFunctions, ProductsOfTwoAreNotContracted) {
  constexpr float sa = 0.1f, sb = 0.3f;
  const Ints bytes = every_byte();
  const auto real = [](float p, float q, int kind, bool contract) {
    volatile float product = p * q;
    if (kind == 0) return contract ? std::fma(p, q, p) : product + p;
    if (kind == 1) return contract ? std::fma(-p, q, p) : p - product;
    const float sum = contract ? std::fma(p, q, -q) : product - q;
    return sum * 0.7f;
  };
  for (const int kind : {0, 1, 2}) {
    const float sy = kind == 2 ? 4.2f : 4.0f;  // many sums are ties
    Net g;
    const Value a = g.dequantise(g.input("a", DType::Int8, {256, 1}), static_cast<double>(sa), 3);
    const Value b = g.dequantise(g.input("b", DType::Int8, {1, 256}), static_cast<double>(sb), -7), product = g.node("Mul", {a, b});
    const Value sum = kind == 0   ? g.node("Add", {product, a})
                      : kind == 1 ? g.node("Add", {a, g.node("Neg", {product})})
                                  : g.node("Mul", {g.node("Sub", {product, b}), g.constant(float32(static_cast<double>(0.7f)))});
    g.output(g.quantise(sum, static_cast<double>(sy), 3), DType::Int8, {256, 256});
    Ints want, contracted;
    for (const std::int64_t x : bytes)
      for (const std::int64_t y : bytes) {
        const float p = dequantised(x, sa, 3), q = dequantised(y, sb, -7);
        want.push_back(quantised(real(p, q, kind, false), sy, 3));
        contracted.push_back(quantised(real(p, q, kind, true), sy, 3));
      }
    EXPECT_NE(want, contracted) << "the rounding counts";
    EXPECT_EQ(run(compiled(g), {int8s({256, 1}, bytes), int8s({1, 256}, bytes)}), want) << kind;
  }
}

// Scales as calibration gives them: nearly all sums have a formula.
TEST(ByteFunctions, MostSumsHaveAFormula) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  ByteValues values{};
  for (std::size_t i = 0; i < 256; i++) values[i] = static_cast<std::int64_t>(i) - 128;
  int found = 0;
  const int tries = test::rounds(40);
  for (int k = 0; k < tries; k++) {
    const auto sa = static_cast<float>(std::pow(10.0, -3 + 2 * uniform(random)));
    const float sb = sa * static_cast<float>(std::pow(10.0, 1.4 * uniform(random) - 0.7));
    const float sy = std::max(sa, sb) * static_cast<float>(0.7 + 1.5 * uniform(random));
    const std::int64_t za = values[random() % 256], zb = values[random() % 256], zy = values[random() % 256];
    Ints wanted;
    std::vector<double> exact;
    for (const std::int64_t x : values)
      for (const std::int64_t y : values) {
        const float real = dequantised(x, sa, za) + dequantised(y, sb, zb);
        exact.push_back(static_cast<double>(real / sy));
        wanted.push_back(quantised(real, sy, zy));
      }
    const auto fit = fit_linear(values, values, wanted, exact);
    if (!fit) continue;
    found++;
    for (std::size_t i = 0; i < wanted.size(); i++) {
      const std::int64_t v = values[i / 256] * fit->times_a + values[i % 256] * fit->times_b + fit->plus;
      ASSERT_TRUE(v >= int_min(DType::Int32) && v <= int_max(DType::Int32));
      ASSERT_EQ(fit->ties, LinearFit::Ties::None);
      ASSERT_EQ(std::clamp(v >> fit->shift, fit->low, fit->high), wanted[i]) << k << ", pair " << i;
    }
  }
  EXPECT_GE(found, tries * 9 / 10);
}

// A quotient is no number where both are 0; all backends make the same of it.
TEST(ByteFunctions, QuotientsHaveNoFormula) {
  ByteValues values{};
  for (std::size_t i = 0; i < 256; i++) values[i] = static_cast<std::int64_t>(i) - 128;
  Ints wanted;
  std::vector<double> exact;
  for (const std::int64_t x : values)
    for (const std::int64_t y : values) {
      exact.push_back(static_cast<double>(static_cast<float>(x) / static_cast<float>(y)));
      wanted.push_back(
          x == 0 && y == 0 ? 0 : std::clamp<std::int64_t>(static_cast<std::int64_t>(std::clamp(exact.back(), -999.0, 999.0)), -128, 127));
    }
  EXPECT_FALSE(fit_linear(values, values, wanted, exact));
  Net g;
  const Value a = g.dequantise(g.input("a", DType::Int8, {256, 1}), 0.1, 3), b = g.dequantise(g.input("b", DType::Int8, {1, 256}), 0.2, 3);
  g.output(g.quantise(g.node("Div", {a, b}), 0.05, 3), DType::Int8, {256, 256});
  const Ints bytes = every_byte();
  const Ints got = run(compiled(g), {int8s({256, 1}, bytes), int8s({1, 256}, bytes)});
  for (std::size_t i = 0; i < got.size(); i++) {
    const float p = dequantised(bytes[i / 256], 0.1f, 3), q = dequantised(bytes[i % 256], 0.2f, 3);
    if (p == 0 && q == 0) continue;
    const double real = std::clamp(static_cast<double>(p / q), -1e6, 1e6);
    ASSERT_EQ(got[i], quantised(static_cast<float>(real), 0.05f, 3)) << i;
  }
}

// The parts of a Concat, and what a Where chooses from, are quantised each for itself.
TEST(ByteFunctions, ChoicesAreOfBytes) {
  Net g;
  const Value a = g.dequantise(g.input("a", DType::Int8, {2, 3}), 0.5, 3), b = g.dequantise(g.input("b", DType::Int8, {2, 1}), 0.3, -4);
  const Value c = g.dequantise(g.input("c", DType::Int8, {2, 2}), 0.7, 1);
  const Value cat = g.node("Concat", {a, b, c}, {{"axis", std::int64_t{1}}});
  const Value padded = g.node("Pad", {g.node("Transpose", {cat}), g.ints("pads", {1, 0, 0, 0})});
  g.output(g.quantise(padded, 0.5, 3), DType::Int8, {7, 2});
  const Value where = g.node("Where", {g.input("is", DType::Bool, {2, 1}), a, b});
  g.output(g.quantise(where, 0.4, 9), DType::Int8, {2, 3});
  const Compiled compiled_net = compiled(g);
  EXPECT_FALSE(has_floats_in_memory(compiled_net.schedule()));
  for (const ScheduleItem& item : compiled_net.schedule().items)
    for (const LazyOp* op : toposort(item.ast)) EXPECT_FALSE(is_float(op->dtype)) << to_text(item.ast);
  const Ints x{1, -2, 100, 4, 5, -128}, y{9, -90}, z{11, 12, 13, -14}, is{1, 0};
  Ints cat_want{3, 3}, where_want;  // the padding is 0
  for (std::size_t column = 0; column < 6; column++)
    for (std::size_t row = 0; row < 2; row++) {
      const float real = column < 3    ? dequantised(x[3 * row + column], 0.5f, 3)
                         : column == 3 ? dequantised(y[row], 0.3f, -4)
                                       : dequantised(z[2 * row + column - 4], 0.7f, 1);
      cat_want.push_back(quantised(real, 0.5f, 3));
    }
  for (std::size_t i = 0; i < 6; i++) {
    const float real = is[i / 3] != 0 ? dequantised(x[i], 0.5f, 3) : dequantised(y[i / 3], 0.3f, -4);
    where_want.push_back(quantised(real, 0.4f, 9));
  }
  const Array choice = Array::of_ints(DType::Bool, {2, 1}, is);
  EXPECT_EQ(run_all(compiled_net, {int8s({2, 3}, x), int8s({2, 1}, y), int8s({2, 2}, z), choice}),
            (std::vector<Ints>{cat_want, where_want}));
}

}  // namespace
}  // namespace etch::test
