// Scales and zero points that ONNX does not define are refused for every operator that takes them, with one number and with one for each
// channel.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/node_model.h"

namespace etch::quant_limits_test {
namespace {

using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using test::NodeModel;
using test::run_node;
using Ints = std::vector<std::int64_t>;

// A node that is accepted, and which of its inputs are scales and zero points. A zero point has the type of the input `like`.
struct Row {
  NodeModel good;
  std::vector<int> scales;
  struct Zero {
    int input = 0, like = 0;
  };
  std::vector<Zero> zeros;
};

Array all(std::vector<std::int64_t> shape, DType dtype, std::int64_t value = 1) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  return ints(std::move(shape), Ints(static_cast<std::size_t>(size), value), dtype);
}

std::vector<Row> rows() {
  const Array x = all({1, 2, 3, 3}, DType::UInt8), w = all({4, 2, 2, 2}, DType::Int8), a = all({3, 4}, DType::UInt8),
              b = all({4, 2}, DType::Int8);
  const Array half = floats({}, {0.5}), halves = floats({4}, {0.5, 1, 2, 4}), columns = floats({2}, {0.5, 1});
  const Array u = all({}, DType::UInt8, 3), s = all({}, DType::Int8, 3), channels = all({4}, DType::Int8, 3),
              columns_zero = all({2}, DType::Int8, 3);
  const Array real = floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  return {
      {{"QuantizeLinear", 13, {real, half, u}}, {1}, {}},
      {{"QuantizeLinear", 13, {real, halves, all({4}, DType::UInt8)}}, {1}, {}},
      {{"DequantizeLinear", 13, {all({2, 4}, DType::Int8), half, s}}, {1}, {{2, 0}}},
      {{"DequantizeLinear", 13, {all({2, 4}, DType::Int8), halves, channels}}, {1}, {{2, 0}}},
      {{"QLinearConv", 10, {x, half, u, w, half, s, half, u}}, {1, 4, 6}, {{2, 0}, {5, 3}}},
      {{"QLinearConv", 10, {x, half, u, w, halves, channels, half, u}}, {1, 4, 6}, {{2, 0}, {5, 3}}},
      {{"QLinearMatMul", 10, {a, half, u, b, half, s, half, u}}, {1, 4, 6}, {{2, 0}, {5, 3}}},
      {{"QLinearMatMul", 10, {a, half, u, b, columns, columns_zero, half, u}}, {1, 4, 6}, {{2, 0}, {5, 3}}},
      {{"ConvInteger", 10, {x, w, u, s}}, {}, {{2, 0}, {3, 1}}},
      {{"ConvInteger", 10, {x, w, u, channels}}, {}, {{2, 0}, {3, 1}}},
      {{"MatMulInteger", 10, {a, b, u, s}}, {}, {{2, 0}, {3, 1}}},
      {{"MatMulInteger", 10, {a, b, u, columns_zero}}, {}, {{2, 0}, {3, 1}}},
  };
}

Array& input_of(NodeModel& model, int input) { return model.inputs[static_cast<std::size_t>(input)]; }

// The array with its last element replaced.
Array spoilt(const Array& array, double value) {
  std::vector<double> values = array.doubles();
  values.back() = value;
  return Array::of_doubles(array.dtype(), array.shape(), values);
}

TEST(QuantLimits, GoodOnesAreAccepted) {
  for (const Row& row : rows()) EXPECT_NO_THROW(run_node(row.good)) << row.good.op;
}

TEST(QuantLimits, ScalesAreFiniteAndAbove0) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Row& row : rows())
    for (int scale : row.scales)
      for (const auto& [value, text] :
           {std::pair(0.0, "is 0"), {-0.5, "is -0.5"}, {infinity, "is inf"}, {-infinity, "is -inf"}, {std::nan(""), "is nan"}}) {
        SCOPED_TRACE(row.good.op + " input " + std::to_string(scale) + " " + text);
        NodeModel bad = row.good;
        input_of(bad, scale) = spoilt(input_of(bad, scale), value);
        expect_refused(bad, text);
        expect_refused(bad, "a scale is a finite number above 0");
        if (input_of(bad, scale).size() > 1) expect_refused(bad, "at element " + std::to_string(input_of(bad, scale).size() - 1));
      }
}

TEST(QuantLimits, ScalesAreFloats) {
  for (const Row& row : rows())
    for (int scale : row.scales) {
      SCOPED_TRACE(row.good.op + " input " + std::to_string(scale));
      NodeModel bad = row.good;
      input_of(bad, scale) = all(input_of(bad, scale).shape(), DType::Int8);
      expect_refused(bad, "is int8");
    }
}

TEST(QuantLimits, ZeroPointsHaveTheTypeOfWhatTheyBelongTo) {
  for (const Row& row : rows())
    for (const Row::Zero& zero : row.zeros) {
      NodeModel bad = row.good;
      const DType right = input_of(bad, zero.like).dtype();
      for (const DType wrong : {DType::Int8, DType::UInt8, DType::Int32, DType::Float32}) {
        if (wrong == right) continue;
        SCOPED_TRACE(row.good.op + " input " + std::to_string(zero.input) + " " + std::string(name_of(wrong)));
        const Array& good = row.good.inputs[static_cast<std::size_t>(zero.input)];
        input_of(bad, zero.input) = Array::of_doubles(wrong, good.shape(), good.doubles());
        expect_refused(bad, std::string(name_of(wrong)));
      }
    }
}

// The zero point of what is written decides the type: only that of bytes is one.
TEST(QuantLimits, ZeroPointsOfOutputsAreBytes) {
  for (const Row& row : rows()) {
    const int zero = row.good.op == "QuantizeLinear" ? 2 : row.good.op.starts_with("QLinear") ? 7 : -1;
    if (zero < 0) continue;
    for (const DType wrong : {DType::Int32, DType::Float32}) {
      NodeModel bad = row.good;
      const Array good = input_of(bad, zero);
      input_of(bad, zero) = Array::of_doubles(wrong, good.shape(), good.doubles());
      SCOPED_TRACE(row.good.op + " " + std::string(name_of(wrong)));
      expect_refused(bad, std::string(name_of(wrong)));
    }
  }
}

// As many as there are channels, or one.
TEST(QuantLimits, ParametersHaveTheSizeOfTheirAxis) {
  for (const Row& row : rows()) {
    std::vector<int> parameters = row.scales;
    for (const Row::Zero& zero : row.zeros) parameters.push_back(zero.input);
    for (int parameter : parameters) {
      SCOPED_TRACE(row.good.op + " input " + std::to_string(parameter));
      NodeModel bad = row.good;
      const Array good = input_of(bad, parameter);
      input_of(bad, parameter) = Array::of_doubles(good.dtype(), {7}, std::vector<double>(7, 1));
      expect_refused(bad, "has the shape (7)");
    }
  }
}

TEST(QuantLimits, DynamicQuantisationTakesFloats) {
  expect_refused({"DynamicQuantizeLinear", 11, {ints({2}, {1, 2}, DType::Int32)}}, "int32");
}

}  // namespace
}  // namespace etch::quant_limits_test
