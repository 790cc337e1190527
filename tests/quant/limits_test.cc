// What only looks like integers times a scale stays as the model says, sums are computed once, and long graphs take linear time and no
// stack. Wanted numbers are loops of this file.
#include <gtest/gtest.h>

#include "quant/bounds.h"
#include "quant/integers.h"
#include "quant/networks.h"
#include "support/small_stack.h"

namespace etch::test {
namespace {

// The scales of the bias are those of the sum, in their order, but along the other axis: it is added in float.
TEST(QuantisedGraphs, ABiasOfAnotherAxisIsNotAddedAsAnInteger) {
  const std::vector<double> scales{0.5, 0.25, 2, 1};
  const Ints weights{1, 2, 3, 4, 5, 6, 7, 8}, bias{10, 20, 30, 40};
  Net g;
  const Value x = g.dequantise(g.input("x", DType::Int8, {4, 2}), 1, 0);
  const Value w = g.node(
      "DequantizeLinear",
      {g.constant(int8s({2, 4}, weights)), g.constant(Array::of_doubles(DType::Float32, {4}, scales)), g.constant(int8s({4}, Ints(4, 0)))},
      {{"axis", std::int64_t{1}}});
  const Value b = g.dequantise_along(g.constant(Array::of_ints(DType::Int32, {4, 1}, bias)), 0, scales);
  g.output(g.quantise(g.node("Add", {g.node("MatMul", {x, w}), b}), 1, 0), DType::Int8, {4, 4});
  Ints want;
  const Ints values{1, 2, 3, 4, -5, 6, 7, -8};
  for (std::size_t r = 0; r < 4; r++)
    for (std::size_t c = 0; c < 4; c++) {
      const double sum = static_cast<double>(values[2 * r] * weights[c] + values[2 * r + 1] * weights[4 + c]);
      want.push_back(std::clamp<std::int64_t>(
          static_cast<std::int64_t>(std::nearbyint(sum * scales[c] + static_cast<double>(bias[r]) * scales[r])), -128, 127));
    }
  EXPECT_EQ(run(compiled(g), {int8s({4, 2}, values)}), want);
}

// 63 * 0.001 * 1 / 0.002 is 31.4999 in float32, 63 * (0.001 * 1 / 0.002) is 31.5: only a product that is quantised may be rounded so.
TEST(QuantisedGraphs, ARoundOfTheModelIsNoQuantisation) {
  Net g;
  const Value product =
      g.node("Mul", {g.dequantise(g.input("x", DType::Int8, {3}), 0.001, 0), g.dequantise(g.input("y", DType::Int8, {3}), 1, 0)});
  const Value rounded = g.node("Round", {g.node("Div", {product, g.constant(float32(0.002))})});
  const Value clipped = g.node("Clip", {rounded, g.constant(float32(-128)), g.constant(float32(127))});
  g.output(g.node("Cast", {clipped}, {{"to", std::int64_t{3}}}), DType::Int8, {3});
  g.output(g.quantise(product, 0.002, 1), DType::Int8, {3});
  EXPECT_EQ(run_all(compiled(g), {int8s({3}, {63, -63, 10}), int8s({3}, {1, 1, 1})}), (std::vector<Ints>{{31, -31, 5}, {33, -31, 6}}));
}

// One value that is moved is multiplied by each factor in turn.
TEST(QuantisedGraphs, WhatIsMovedIsRescaledAsTheGraphSays) {
  for (const DType dtype : {DType::Int8, DType::Int16}) {
    Net g(21);
    const Value x = g.dequantise(g.input("x", dtype, {1, 1, 2, 2}), 0.001, 0, dtype);
    const Value most = g.node("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}});
    g.output(g.quantise(g.node("Relu", {x}), 0.002, 1, dtype), dtype, {1, 1, 2, 2});
    g.output(g.quantise(most, 0.002, 1, dtype), dtype, {1, 1, 1, 1});
    EXPECT_EQ(run_all(compiled(g), {Array::of_ints(dtype, {1, 1, 2, 2}, Ints{63, -63, 10, 5})}), (std::vector<Ints>{{32, 1, 6, 3}, {32}}));
  }
}

// -infinity ends at -128 also where the least integer is above 0 and one of several scales is large.
TEST(QuantisedGraphs, AnInfinityEndsAtTheBoundForEveryScale) {
  Net g;
  const Value least = g.constant(int8s({}, {5}));
  const Value x = g.node("Cast", {g.node("Max", {g.input("x", DType::Int8, {2, 2}), least})}, {{"to", std::int64_t{6}}});
  const Value inside = g.constant(Array::of_ints(DType::Bool, {1, 2}, Ints{1, 0}));
  const Value real = g.dequantise_along(x, 0, {0.01, 1});
  const Array lowest = Array::of_doubles(DType::Float32, {1}, std::vector<double>{-std::numeric_limits<double>::infinity()});
  const Value outside = g.node("ConstantOfShape", {g.ints("shape", {2, 2})}, {{"value", lowest}});
  g.output(g.quantise(g.node("Where", {inside, real, outside}), 1, -128), DType::Int8, {2, 2});
  const Compiled c = compiled(g);
  EXPECT_EQ(count(c.schedule(), Op::Div, true), 0) << to_text(c.schedule());
  EXPECT_EQ(run(c, {int8s({2, 2}, {-3, 7, 100, 8})}), (Ints{-128, -128, -28, -128}));
}

TEST(QuantisedGraphs, ManyFactorsStayFloat) {
  constexpr int kFactors = 40;
  Net g(21);
  Value x = g.dequantise(g.input("x", DType::Int16, {2}), 1, 0, DType::Int16);
  for (int i = 0; i < kFactors; i++) x = g.node("Mul", {x, g.constant(float32(i % 2 == 0 ? 1.25 : 0.75))});
  g.output(g.quantise(x, 1, 0), DType::Int8, {2});
  const Compiled c = compiled(g);
  EXPECT_GE(count(c.schedule(), Op::Mul, true), kFactors);
  float want = 1;
  for (int i = 0; i < kFactors; i++) want *= i % 2 == 0 ? 1.25f : 0.75f;
  EXPECT_EQ(run(c, {Array::of_ints(DType::Int16, {2}, Ints{100, -100})}),
            (Ints{static_cast<std::int64_t>(std::nearbyint(100 * want)), -static_cast<std::int64_t>(std::nearbyint(100 * want))}));
}

// The product of scales along three axes would have as many elements as the value itself.
TEST(QuantisedGraphs, FactorsOfAllAxesStayFloat) {
  constexpr std::int64_t kSize = 64;
  Net g;
  Value x = g.dequantise(g.input("x", DType::Int8, {kSize, kSize, kSize}), 1, 0);
  for (std::size_t axis = 0; axis < 3; axis++) {
    Ints shape(3, 1);
    shape[axis] = kSize;
    std::vector<double> values;
    for (std::int64_t i = 0; i < kSize; i++) values.push_back(i % 3 == 0 ? 0.5 : 1);
    x = g.node("Mul", {x, g.constant(Array::of_doubles(DType::Float32, shape, values))});
  }
  g.output(g.quantise(x, 1, 0), DType::Int8, {kSize, kSize, kSize});
  const Compiled c = compiled(g);
  for (const ScheduleItem& item : c.schedule().items)
    for (const LazyBuffer* b : item.inputs) EXPECT_TRUE(b->kind != LazyKind::Data || b->st.size().as_int() <= kSize);
}

// A sum that is quantised and read in float, too, is computed once.
TEST(QuantisedGraphs, ASumThatIsReadInFloatIsComputedOnce) {
  Net g;
  const Value x = g.dequantise(g.input("x", DType::Int8, {2, 3}), 0.5, 1);
  const Value w = g.dequantise(g.constant(int8s({3, 2}, {1, -2, 3, 4, -5, 6})), 0.25, 0);
  const Value sum = g.node("MatMul", {x, w});
  g.output(g.quantise(sum, 0.5, 3), DType::Int8, {2, 2});
  const Value exp = g.node("Tanh", {sum});
  g.output(exp, DType::Float32, {2, 2});
  const Compiled c = compiled(g);
  EXPECT_EQ(count(c.schedule(), Op::ReduceSum, true), 0);
  EXPECT_EQ(count(c.schedule(), Op::ReduceSum, false), 1);
  const Ints values{5, 6, 7, -8, 9, 10}, weights{1, -2, 3, 4, -5, 6};
  Ints want;
  std::vector<double> sums;
  for (std::size_t r = 0; r < 2; r++)
    for (std::size_t k = 0; k < 2; k++) {
      std::int64_t total = 0;
      for (std::size_t i = 0; i < 3; i++) total += (values[3 * r + i] - 1) * weights[2 * i + k];
      want.push_back(requantised(total, 0.25f, 3));
      sums.push_back(std::tanh(static_cast<double>(total) * 0.125));
    }
  EXPECT_EQ(run(c, {int8s({2, 3}, values)}), want);
  const std::vector<double> found =
      make_reference_device()->load(lower_model(c.frontend, nullptr, c.options))->run({int8s({2, 3}, values)}).at(1).doubles();
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(found[i], sums[i], 1e-6);
}

// Between quantised operators one that is not: floats there, integers before and after.
TEST(QuantisedGraphs, AFloatOperatorStandsBetweenIntegers) {
  Net g;
  const Value x = g.dequantise(g.input("x", DType::Int8, {2, 2}), 0.1, 0);
  const Value w = g.dequantise(g.constant(int8s({2, 2}, {1, 2, 3, 4})), 0.1, 0);
  const Value one = g.dequantise(g.quantise(g.node("MatMul", {x, w}), 0.1, 2), 0.1, 2);
  const Value two = g.node("Softmax", {one}, {{"axis", std::int64_t{1}}});
  const Value three = g.node("MatMul", {g.dequantise(g.quantise(two, 1.0 / 256, -128), 1.0 / 256, -128), w});
  g.output(g.quantise(three, 0.005, 0), DType::Int8, {2, 2});
  const Compiled c = compiled(g);
  const Ints values{10, -20, 30, 40}, weights{1, 2, 3, 4};
  Ints want;
  for (std::size_t r = 0; r < 2; r++) {
    std::vector<double> exps;
    for (std::size_t k = 0; k < 2; k++) {
      const std::int64_t sum = values[2 * r] * weights[k] + values[2 * r + 1] * weights[2 + k];
      exps.push_back(std::exp(static_cast<double>(requantised(sum, 0.1f * 0.1f / 0.1f, 2) - 2) * 0.1));
    }
    Ints soft;
    for (std::size_t k = 0; k < 2; k++) soft.push_back(static_cast<std::int64_t>(std::nearbyint(exps[k] / (exps[0] + exps[1]) * 256)));
    for (std::int64_t& v : soft) v = std::min<std::int64_t>(v, 255);
    for (std::size_t k = 0; k < 2; k++)
      want.push_back(requantised(soft[0] * weights[k] + soft[1] * weights[2 + k], static_cast<float>(1.0 / 256) * 0.1f / 0.005f, 0));
  }
  EXPECT_EQ(run(c, {int8s({2, 2}, values)}), want);
  EXPECT_EQ(count(c.schedule(), Op::Mul, false) > 0, true) << "the products are of integers";
}

constexpr int kLong = 4000;  // operations in a row: a call inside of a call for each does not fit 256 KiB

/// to_integers() of the imported graph on a small stack; how many buffers the result has.
std::size_t rewritten(const GraphBuilder& g) {
  ImportOptions options;
  options.bytes = g.bytes();
  options.path = "net.onnx";
  const ImportedModel model = import_onnx(options);
  std::vector<const LazyBuffer*> outputs;
  for (const ImportedTensor& t : model.outputs) outputs.push_back(t.tensor.buffer());
  with_small_stack([&] { outputs = to_integers(*model.graph, outputs); });
  for (const LazyBuffer* b : toposort_bases(outputs)) EXPECT_FALSE(is_op(b, Op::Div) && !b->constant);
  return toposort_bases(outputs).size();
}

TEST(QuantisedGraphs, LongChainsOfBoundsAreTwoBounds) {
  Net g;
  Value x = g.dequantise(g.input("x", DType::Int8, {4}), 0.5, 0);
  for (int i = 0; i < kLong; i++) {
    const double edge = 60.0 - i * 0.01;
    x = i % 3 == 0 ? g.node("Relu", {x}) : g.node("Clip", {x, g.constant(float32(-edge)), g.constant(float32(edge))});
  }
  g.output(g.quantise(x, 0.25, 0), DType::Int8, {4});
  EXPECT_LT(rewritten(g), 40u);
}

TEST(QuantisedGraphs, LongChainsOfQuantisationsNeedNoStack) {
  Net g;
  Value x = g.input("x", DType::Int8, {4});
  for (int i = 0; i < kLong / 8; i++) {  // each is more than eight operations
    Value real = g.dequantise(x, i % 2 == 0 ? 0.5 : 0.3, i % 5);
    if (i % 3 == 0) real = g.node("Clip", {real, g.constant(float32(-20 - i * 0.001)), g.constant(float32(20 + i * 0.001))});
    x = g.quantise(real, i % 2 == 0 ? 0.3 : 0.5, i % 7);
  }
  g.output(x, DType::Int8, {4});
  rewritten(g);
}

// The least and the largest integer of values that are built here.
struct BoundsRow {
  const char* name;
  Tensor (*make)(LazyGraph&);
  IntegerBounds want;
};

Tensor bytes_from(LazyGraph& g, double least) {
  return Tensor::input(g, "x", DType::UInt8, {4}).cast(DType::Int32).maximum(Tensor::full(g, {4}, Scalar::of_double(DType::Int32, least)));
}
Tensor rising(LazyGraph& g, std::int64_t n) { return Tensor::arange(g, n, DType::Int64); }
Tensor hill(LazyGraph& g, std::int64_t n) {
  const Tensor top = rising(g, n).full_like(static_cast<double>(n - 1));
  return rising(g, n) * (top - rising(g, n));
}

const BoundsRow kBoundsRows[] = {
    {"a sum", [](LazyGraph& g) { return bytes_from(g, 3).sum({0}); }, {12, 4 * 255}},
    {"a running sum starts with one element", [](LazyGraph& g) { return bytes_from(g, 3).cumsum(0); }, {3, 4 * 255}},
    {"a table's values",
     [](LazyGraph& g) {
       const Tensor table = Tensor::constant(g, Array::of_ints(DType::Int8, {3}, Ints{-5, 70, 11}));
       return table.gather(0, Tensor::input(g, "x", DType::UInt8, {4}));
     },
     {-5, 70}},
    {"half of uint64 is negative in int64",
     [](LazyGraph& g) { return Tensor::input(g, "x", DType::UInt64, {4}).cast(DType::Int64); },
     {int_min(DType::Int64), int_max(DType::Int64)}},
    {"positions", [](LazyGraph& g) { return rising(g, 1 << 30); }, {0, (1 << 30) - 1}},
    {"a small constant is computed", [](LazyGraph& g) { return hill(g, 101); }, {0, 2500}},
    {"a large one is not", [](LazyGraph& g) { return hill(g, 1 << 24); }, {0, ((std::int64_t{1} << 24) - 1) * ((1 << 24) - 1)}},
};

TEST(Bounds, AreThoseOfTheOperations) {
  for (const BoundsRow& row : kBoundsRows) {
    const auto graph = LazyGraph::create();
    const IntegerBounds found = BoundsFinder(*graph).of(row.make(*graph).buffer());
    EXPECT_TRUE(found == row.want) << row.name << ": " << found.low << " to " << found.high;
  }
}

}  // namespace
}  // namespace etch::test
