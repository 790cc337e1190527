// No quantised result depends on whether a compiler makes one operation of a * b + c: the same bits from code that may and code that may
// not, by every compiler that is there.
#include <gtest/gtest.h>

#include <random>

#include "base/files.h"
#include "base/process.h"
#include "quant/networks.h"
#include "support/needs.h"

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
    {"LayerNormalization", 0.0001,
     [](Net& g, const Value& x, const Value&) {
       return g.node("LayerNormalization", {x, vector_of(g, 0.4, 0.03), vector_of(g, -1.3, 0.1)});
     }},
    {"a sum of products of two", 0.03,
     [](Net& g, const Value& x, const Value& y) {
       return g.node("Mul", {g.node("ReduceSum", {g.node("Mul", {x, y}), g.ints("axes", {1})}), x});
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

using FloatFunction = std::pair<Value (*)(Net&, const Value&, const Value&), double>;  // with the scale of its result

/// An output for each.
Compiled compiled_functions(const std::vector<FloatFunction>& functions) {
  Net g(21);
  const Value x = g.dequantise(g.input("x", DType::Int16, {kManyRows, kManyColumns}), 0.05, 5, DType::Int16);
  const Value y = g.dequantise(g.input("y", DType::Int16, {kManyRows, kManyColumns}), 0.031, -7, DType::Int16);
  for (const auto& [make, scale] : functions)
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

std::vector<Array> run_by(const Compiled& c, const std::string& compiler, const std::string& contraction) {
  DeviceOptions options;
  options.of<COptions>().cc = compiler;
  options.of<COptions>().flags = {"-std=gnu99", "-O2", "-march=native", "-ffp-contract=" + contraction};
  const auto device = make_device("c", options);
  return device->load(lower_model(c.frontend, device->language(), c.options))->run(random_inputs());
}

class QuantisedContraction : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string lacking = missing({GetParam()}); !lacking.empty()) GTEST_SKIP() << lacking;
  }
};

TEST_P(QuantisedContraction, ChangesNothing) {
  std::vector<FloatFunction> functions;
  for (const auto& f : kFloatFunctions) functions.emplace_back(f.make, f.scale);
  const Compiled c = compiled_functions(functions);
  const std::vector<Array> fused = run_by(c, GetParam(), "fast"), apart = run_by(c, GetParam(), "off");
  for (std::size_t i = 0; i < functions.size(); i++) EXPECT_TRUE(fused.at(i) == apart.at(i)) << kFloatFunctions[i].name;
}

INSTANTIATE_TEST_SUITE_P(Compilers, QuantisedContraction, testing::Values("gcc", "clang-19"));

// What is left: this one sum for each weight, and the report names its node.
TEST(QuantisedMatrixProducts, OfFloatsMayBeContracted) {
  const Compiled c = compiled_functions({{matrix_product, 0.01}});
  EXPECT_FALSE(c.frontend.float_nodes.empty());
  EXPECT_EQ(count(c.schedule(), Op::Max, true), 1) << "the bound of the type alone";
}

}  // namespace
}  // namespace etch::test
