// No quantised result depends on whether a compiler makes one operation of a * b + c: the same bits from code that may and code that may
// not, by every compiler that is there.
#include <gtest/gtest.h>

#include <random>

#include "quant/networks.h"
#include "support/needs.h"
#include "support/processor.h"

namespace etch::test {
namespace {

constexpr std::int64_t kManyRows = 48, kManyColumns = 32;

Value vector_of(Net& g, double first, double step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kManyColumns; i++)
    values.push_back(static_cast<double>(static_cast<float>(first + step * static_cast<double>(i))));
  return g.constant(Array::of_doubles(DType::Float32, {kManyColumns}, values));
}

// Scales for which many results are ties, or use all of int16.
const struct {
  const char* name;
  double scale;
  Value (*make)(Net&, const Value& x, const Value& y);
} kFloatFunctions[] = {
    {"a sum", 0.3, [](Net& g, const Value& x, const Value& y) { return g.node("Add", {x, y}); }},
    {"a square and a number", 0.005,
     [](Net& g, const Value& x, const Value&) { return g.node("Add", {g.node("Mul", {x, x}), vector_of(g, 0.25, 0.05)}); }},
    {"products of what is not negative", 0.005,
     [](Net& g, const Value& x, const Value& y) {
       const Value positive = g.node("Relu", {x});
       return g.node("Sub", {y, g.node("Mul", {positive, g.node("Mul", {positive, positive})})});
     }},
    {"a chosen product", 0.001,
     [](Net& g, const Value& x, const Value& y) {
       const Value product = g.node("Mul", {x, vector_of(g, -1.1, 0.07)});
       return g.node("Add", {g.node("Where", {g.node("Less", {x, y}), product, x}), y});
     }},
    {"Relu of a square", 0.005,
     [](Net& g, const Value& x, const Value&) {
       return g.node("Add", {g.node("Relu", {g.node("Mul", {x, x})}), vector_of(g, 0.25, 0.05)});
     }},
    {"a number less Relu of a square", 0.005,
     [](Net& g, const Value& x, const Value&) {
       const Value square = g.node("Neg", {g.node("Relu", {g.node("Mul", {x, x})})});
       return g.node("Add", {square, vector_of(g, 0.25, 0.05)});
     }},
    {"LayerNormalization", 0.0001,
     [](Net& g, const Value& x, const Value&) {
       return g.node("LayerNormalization", {x, vector_of(g, 0.4, 0.03), vector_of(g, -1.3, 0.1)});
     }},
    {"a sum of products of two", 0.03,
     [](Net& g, const Value& x, const Value& y) {
       return g.node("Mul", {g.node("ReduceSum", {g.node("Mul", {x, y}), g.ints("axes", {1})}), x});
     }},
    {"a sum of products of which one operand is reshaped", 0.03,
     [](Net& g, const Value& x, const Value& y) {
       const Value moved = g.node("Reshape", {g.node("Transpose", {x}), g.ints("shape", {kManyRows, kManyColumns})});
       return g.node("Mul", {g.node("ReduceSum", {g.node("Mul", {moved, y}), g.ints("axes", {1})}), x});
     }},
    {"a sum of products of which one operand is padded", 0.03,
     [](Net& g, const Value& x, const Value& y) {
       const Value padded =
           g.node("Slice", {g.node("Pad", {x, g.ints("pads", {1, 0, 0, 0})}), g.ints("from", {0}), g.ints("to", {kManyRows})});
       return g.node("Mul", {g.node("ReduceSum", {g.node("Mul", {padded, y}), g.ints("axes", {1})}), x});
     }},
    {"LogSoftmax", 0.0008, [](Net& g, const Value& x, const Value&) { return g.node("LogSoftmax", {x}); }},
    {"HardSwish", 0.0004, [](Net& g, const Value& x, const Value&) { return g.node("HardSwish", {x}); }},
};

/// Matrix products of floats are as fast as the processor has them.
Value matrix_product(Net& g, const Value& x, const Value&) {
  std::vector<double> weights;
  for (std::int64_t i = 0; i < kManyColumns * kManyColumns; i++)
    weights.push_back(static_cast<double>(static_cast<float>(i * 37 % 101) * 0.01f - 0.5f));
  return g.node("MatMul", {x, g.constant(Array::of_doubles(DType::Float32, {kManyColumns, kManyColumns}, weights))});
}

using FloatFunction = Value (*)(Net&, const Value& x, const Value& y);

/// In a network of its own: what several outputs share would be kept in memory, where no compiler contracts it.
Compiled compiled_function(FloatFunction make, double scale) {
  Net g(21);
  const Value x = g.dequantise(g.input("x", DType::Int16, {kManyRows, kManyColumns}), 0.05, 5, DType::Int16);
  const Value y = g.dequantise(g.input("y", DType::Int16, {kManyRows, kManyColumns}), 0.031, -7, DType::Int16);
  g.output(g.quantise(make(g, x, y), scale, 3, DType::Int16), DType::Int16, {kManyRows, kManyColumns});
  return compiled(g);
}

std::vector<Array> random_inputs() {
  std::mt19937 random(11);
  Ints x, y;
  for (std::int64_t i = 0; i < kManyRows * kManyColumns; i++) {
    x.push_back(static_cast<std::int64_t>(random() % 512) - 256);
    y.push_back(static_cast<std::int64_t>(random() % 512) - 256);
  }
  return {Array::of_ints(DType::Int16, {kManyRows, kManyColumns}, x), Array::of_ints(DType::Int16, {kManyRows, kManyColumns}, y)};
}

Array run_by(const Compiled& c, const std::vector<Array>& inputs, const std::string& compiler, const std::string& contraction) {
  DeviceOptions options;
  options.of<COptions>().cc = compiler;
  options.of<COptions>().flags = {"-std=gnu99", "-O2", "-march=native", "-ffp-contract=" + contraction};
  const auto device = make_device("c", options);
  return device->load(lower_model(c.frontend, device->language(), c.options))->run(inputs).at(0);
}

class QuantisedContraction : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string lacking = missing({GetParam()}); !lacking.empty()) GTEST_SKIP() << lacking;
    if (!has_fma()) GTEST_SKIP() << "this processor has no fused multiply-add (fma, asimd)";
  }
};

// INTERP never contracts. Sums of floats have an order of their own in each backend.
TEST_P(QuantisedContraction, ChangesNothing) {
  for (const auto& f : kFloatFunctions) {
    const Compiled c = compiled_function(f.make, f.scale);
    const std::vector<Array> inputs = random_inputs();
    const bool sums = count(c.schedule(), Op::ReduceSum, true) > 0;
    const Array want = sums ? run_by(c, inputs, GetParam(), "off")
                            : make_reference_device()->load(lower_model(c.frontend, nullptr, c.options))->run(inputs).at(0);
    EXPECT_TRUE(run_by(c, inputs, GetParam(), "fast") == want) << f.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, QuantisedContraction, testing::Values("gcc", "clang-19"));

// Compilers drop the other bound where they know the sign: that of integers, too.
TEST(RoundedProducts, AreBoundedOnTheSideOfTheirSign) {
  const struct {
    std::int64_t zero;
    int least, largest;  // of floats, with one each for the bounds of the type
  } rows[] = {{-128, 2, 1}, {-127, 1, 2}, {127, 1, 2}};
  for (const auto& row : rows) {
    Net g;
    const Value x = g.dequantise(g.input("x", DType::Int8, {kManyRows, kManyColumns}), 0.05, row.zero);
    const Value sum = g.node("Add", {g.node("Mul", {x, vector_of(g, 0.4, 0.03)}), vector_of(g, 0.25, 0.05)});
    g.output(g.quantise(sum, 0.1, 3), DType::Int8, {kManyRows, kManyColumns});
    const Compiled c = compiled(g);
    EXPECT_EQ(count(c.schedule(), Op::Min, true), row.least) << row.zero;
    EXPECT_EQ(count(c.schedule(), Op::Max, true), row.largest) << row.zero;
  }
}

// What is left: this one sum for each weight, and the report names its node.
TEST(QuantisedMatrixProducts, OfFloatsMayBeContracted) {
  const Compiled c = compiled_function(matrix_product, 0.01);
  EXPECT_FALSE(c.frontend.float_nodes.empty());
  EXPECT_EQ(count(c.schedule(), Op::Max, true), 1) << "the bound of the type alone";
}

}  // namespace
}  // namespace etch::test
