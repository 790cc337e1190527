// A quantised softmax against its definition in long double: the same but for what lies next to a tie. Nothing of it is a float, so that
// no compiler, order or library can change a bit.
#include <gtest/gtest.h>

#include <random>

#include "quant/networks.h"

namespace etch::test {
namespace {

struct SoftmaxCase {
  const char* name;
  Ints shape;
  std::int64_t axis;
  int opset;  // below 13 all axes from `axis` on are summed over
  DType in, out;
  double sx;
  std::int64_t zx;
  double sy;
  std::int64_t zy;
  bool transposed = false;  // before it is quantised
};

const SoftmaxCase kSoftmaxCases[] = {
    {"classes", {64, 12}, -1, 13, DType::Int8, DType::Int8, 0.1, 3, 1.0 / 256, -128},
    {"two classes", {64, 2}, 1, 13, DType::Int8, DType::Int8, 0.02, 100, 1.0 / 256, -128},
    {"unsigned", {16, 40}, 1, 13, DType::UInt8, DType::UInt8, 0.03, 128, 0.0021, 0},
    {"of channels", {2, 20, 3, 5}, 1, 13, DType::Int8, DType::UInt8, 0.07, -5, 0.0031, 17},
    {"of a matrix, before opset 13", {4, 5, 3, 2}, 2, 11, DType::UInt8, DType::Int8, 0.05, 0, 1.0 / 128, -128},
    {"transposed", {12, 10}, 1, 13, DType::Int8, DType::Int8, 0.05, 0, 1.0 / 256, -128, true},
    {"long rows", {4, 2000}, 1, 13, DType::Int8, DType::UInt8, 0.1, 0, 0.0001, 0},
    {"of one", {4, 1}, 1, 13, DType::Int8, DType::UInt8, 0.1, 0, 1.0 / 256, 0},
    {"steep", {16, 12}, 1, 13, DType::Int8, DType::Int8, 9.3, 0, 1.0 / 256, -128},
    {"flat", {16, 12}, 1, 13, DType::Int8, DType::UInt8, 1e-6, 0, 0.001, 0},
    {"most saturates", {16, 12}, 1, 13, DType::Int8, DType::Int8, 0.1, 0, 1e-5, -100},
    {"a coarse result", {16, 12}, 1, 13, DType::Int8, DType::Int8, 0.1, 0, 1e9, 7},
    {"of words", {16, 24}, 1, 21, DType::Int16, DType::Int16, 0.0007, 300, 1.0 / 65536, -32768},
    {"of unsigned words", {16, 24}, 1, 21, DType::UInt16, DType::Int8, 0.0003, 40000, 1.0 / 256, -128},
    {"words of bytes", {16, 24}, 1, 21, DType::Int8, DType::UInt16, 0.08, 1, 1.0 / 65535, 0},
};

std::vector<OnnxDim> sizes_of(const Ints& shape) { return {shape.begin(), shape.end()}; }

Compiled compiled_softmax(const SoftmaxCase& c, const char* op = "Softmax") {
  Net g(c.opset);
  Value x = g.node(op, {g.dequantise(g.input("x", c.in, sizes_of(c.shape)), c.sx, c.zx, c.in)}, {{"axis", c.axis}}, op);
  if (c.transposed) x = g.node("Transpose", {x});
  g.output(g.quantise(x, c.sy, c.zy, c.out), c.out, sizes_of(c.transposed ? Ints{c.shape[1], c.shape[0]} : c.shape));
  return compiled(g);
}

/// All values, those around one, and all the same.
Ints softmax_values(const SoftmaxCase& c, std::size_t size) {
  std::mt19937 random(5);
  const std::int64_t low = int_min(c.in), high = int_max(c.in), span = high - low + 1;
  Ints values;
  for (std::size_t i = 0; i < size; i++) {
    const std::int64_t any = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(span));
    values.push_back(i < size / 2 ? low + any : i < 3 * size / 4 ? low + span / 2 + any % 16 : high);
  }
  return values;
}

/// Elements behind the axes that are summed over, and along them.
std::pair<std::int64_t, std::int64_t> inner_and_count(const SoftmaxCase& c) {
  const auto rank = static_cast<std::int64_t>(c.shape.size()), axis = c.axis < 0 ? c.axis + rank : c.axis;
  std::int64_t inner = 1, count = 1;
  for (std::int64_t a = axis; a < rank; a++) (a == axis || c.opset < 13 ? count : inner) *= c.shape[static_cast<std::size_t>(a)];
  return {inner, count};
}

/// How far softmax.h says that a value may be off before it is rounded, which is `quotient` if exact.
long double bound_of(const SoftmaxCase& c, long double quotient) {
  const auto result_scale = static_cast<long double>(static_cast<float>(c.sy));
  const int k = std::min(60 + std::ilogb(result_scale), bytes_of(c.out) == 1 ? 53 : 45);
  const auto n = static_cast<long double>(inner_and_count(c).second);
  const int table = bytes_of(c.in) == 1 ? 1 : 3;
  return std::ldexp(1.0L, 29 - k) + table * std::ldexp(1 / result_scale + n * quotient, -31);
}

/// The value that is rounded, for each element.
std::vector<long double> softmax_quotients(const SoftmaxCase& c, const Ints& x) {
  const auto sizes = inner_and_count(c);
  const std::int64_t inner = sizes.first, count = sizes.second;
  const auto row = [&](std::size_t i) {
    return static_cast<std::int64_t>(i) / (inner * count) * inner + static_cast<std::int64_t>(i) % inner;
  };
  const long double scale = static_cast<float>(c.sx), result_scale = static_cast<float>(c.sy);
  std::vector<long double> sums(x.size()), result;
  // Without the largest the powers may be too small for any type.
  std::vector<std::int64_t> largest(x.size(), int_min(c.in));
  for (std::size_t i = 0; i < x.size(); i++) {
    std::int64_t& most = largest[static_cast<std::size_t>(row(i))];
    most = std::max(most, x[i]);
  }
  const auto part = [&](std::size_t i) {
    return std::exp(scale * static_cast<long double>(x[i] - largest[static_cast<std::size_t>(row(i))]));
  };
  for (std::size_t i = 0; i < x.size(); i++) sums[static_cast<std::size_t>(row(i))] += part(i);
  for (std::size_t i = 0; i < x.size(); i++) result.push_back(part(i) / sums[static_cast<std::size_t>(row(i))] / result_scale);
  return result;
}

std::size_t transposed_place(const SoftmaxCase& c, std::size_t i) {
  const auto rows = static_cast<std::size_t>(c.shape[0]), columns = static_cast<std::size_t>(c.shape[1]);
  return i % columns * rows + i / columns;
}

TEST(QuantisedSoftmax, IsExactButNextToTies) {
  for (const SoftmaxCase& c : kSoftmaxCases) {
    SCOPED_TRACE(c.name);
    const Compiled made = compiled_softmax(c);
    EXPECT_EQ(made.frontend.float_nodes, std::vector<std::string>());
    ASSERT_EQ(made.schedule().items.size(), c.transposed ? 2u : 1u) << "no row is kept in memory";
    for (const ScheduleItem& item : made.schedule().items) {
      EXPECT_EQ(item.outs()[0]->dtype, c.out);
      for (const LazyOp* op : toposort(item.ast)) EXPECT_FALSE(is_float(op->dtype));
    }
    std::size_t size = 1;
    for (const std::int64_t n : c.shape) size *= static_cast<std::size_t>(n);
    const Ints x = softmax_values(c, size), got = run(made, {Array::of_ints(c.in, c.shape, x)});
    const std::vector<long double> exact = softmax_quotients(c, x);
    int near = 0;
    for (std::size_t i = 0; i < size; i++) {
      const long double q = exact[i], bounded = std::min(std::nearbyint(q), 1e6L);
      const std::int64_t want = std::clamp(static_cast<std::int64_t>(bounded) + c.zy, int_min(c.out), int_max(c.out));
      const std::int64_t is = got[c.transposed ? transposed_place(c, i) : i];
      const bool is_near = std::abs(q - std::floor(q) - 0.5L) < bound_of(c, q);
      near += is_near ? 1 : 0;
      EXPECT_LE(std::abs(is - want), is_near ? 1 : 0) << "element " << i << ", before rounding " << static_cast<double>(q);
    }
    EXPECT_LE(near, 1 + static_cast<int>(size) / 100);
  }
}

TEST(QuantisedSoftmax, WhatIsTooFineOrTooLongIsNamed) {
  SoftmaxCase fine = kSoftmaxCases[0], wide = kSoftmaxCases[0];
  fine.sy = 1e-9;
  wide.shape = {1, 20000};
  for (const SoftmaxCase& c : {fine, wide}) EXPECT_EQ(compiled_softmax(c).frontend.float_nodes, std::vector<std::string>{"Softmax"});
  EXPECT_EQ(compiled_softmax(kSoftmaxCases[0], "LogSoftmax").frontend.float_nodes, std::vector<std::string>{"LogSoftmax"});
}

// As graphs have it that were exported without the operator, and of what a pool chose.
TEST(QuantisedSoftmax, OfPartsIsFoundToo) {
  Net g(13);
  const Value x = g.dequantise(g.input("x", DType::Int8, {1, 6, 8, 8}), 0.06, 4);
  const Value pooled = g.node("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const Value e = g.node("Exp", {g.node("Sub", {pooled, g.node("ReduceMax", {pooled}, {{"axes", Ints{1}}})})});
  const Value y = g.node("Div", {e, g.node("ReduceSum", {e, g.ints("axes", {1})})});
  g.output(g.quantise(y, 1.0 / 256, 0, DType::UInt8), DType::UInt8, {1, 6, 4, 4});
  const Compiled made = compiled(g);
  EXPECT_EQ(made.frontend.float_nodes, std::vector<std::string>());
  const SoftmaxCase c{"", {1, 6, 8, 8}, 1, 13, DType::Int8, DType::UInt8, 0.06, 4, 1.0 / 256, 0};
  const Ints x_values = softmax_values(c, 384), got = run(made, {int8s(c.shape, x_values)});
  Ints chosen;
  for (std::size_t channel = 0; channel < 6; channel++)
    for (std::size_t i = 0; i < 16; i++) {
      const std::size_t at = channel * 64 + i / 4 * 16 + i % 4 * 2;
      chosen.push_back(std::max({x_values[at], x_values[at + 1], x_values[at + 8], x_values[at + 9]}));
    }
  SoftmaxCase of_chosen = c;
  of_chosen.shape = {1, 6, 4, 4};
  const std::vector<long double> exact = softmax_quotients(of_chosen, chosen);
  for (std::size_t i = 0; i < got.size(); i++)
    EXPECT_EQ(got[i], std::min<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(exact[i])), 255)) << i;
}

// Of another row's sum it is none.
TEST(QuantisedSoftmax, IsByTheInverseOfItsOwnSum) {
  const auto float_nodes = [](bool own) {
    Net g(13);
    const Value e = g.node("Exp", {g.dequantise(g.input("x", DType::Int8, {4, 4, 8}), 0.06, 4)}, {}, "exp");
    Value sum = g.node("ReduceSum", {e, g.ints("axes", {2})}, {}, "sum");
    if (!own) sum = g.node("Transpose", {sum}, {{"perm", Ints{1, 0, 2}}}, "transpose");
    const Value y = g.node("Mul", {e, g.node("Reciprocal", {sum}, {}, "inverse")}, {}, "product");
    g.output(g.quantise(y, 1.0 / 256, 0, DType::UInt8), DType::UInt8, {4, 4, 8});
    return compiled(g).frontend.float_nodes;
  };
  EXPECT_EQ(float_nodes(true), std::vector<std::string>());
  EXPECT_NE(float_nodes(false), std::vector<std::string>());
}

}  // namespace
}  // namespace etch::test
