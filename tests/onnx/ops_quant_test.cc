// Quantisation: rounding, saturation, axes and blocks by hand; integer products against loops in integers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using Ints = std::vector<std::int64_t>;

TEST(OnnxQuant, RoundsHalfToEvenAndSaturates) {
  const Array x = floats({9}, {-3, -1, 1, 3, 5, 1000, -1000, INFINITY, -INFINITY}), two = floats({}, {2});
  const auto zero = [](std::int64_t z, DType dtype) { return ints({}, {z}, dtype); };
  // x / 2 = -1.5 -0.5 0.5 1.5 2.5 500 -500
  expect_node({"QuantizeLinear", 13, {x, two, zero(0, DType::Int8)}}, {ints({9}, {-2, 0, 0, 2, 2, 127, -128, 127, -128}, DType::Int8)});
  expect_node({"QuantizeLinear", 13, {x, two, zero(128, DType::UInt8)}},
              {ints({9}, {126, 128, 128, 130, 130, 255, 0, 255, 0}, DType::UInt8)});
  expect_node({"QuantizeLinear", 13, {x, two}}, {ints({9}, {0, 0, 0, 2, 2, 255, 0, 255, 0}, DType::UInt8)});
  expect_node({"QuantizeLinear", 21, {x, two, zero(-7, DType::Int16)}},
              {ints({9}, {-9, -7, -7, -5, -5, 493, -507, 32767, -32768}, DType::Int16)});
  expect_node({"QuantizeLinear", 21, {x, two}, {{"output_dtype", std::int64_t{4}}}},
              {ints({9}, {0, 0, 0, 2, 2, 500, 0, 65535, 0}, DType::UInt16)});
  expect_node({"QuantizeLinear", 19, {floats({2}, {7, -9}, DType::Float16), floats({}, {2}, DType::Float16), zero(1, DType::Int8)}},
              {ints({2}, {5, -3}, DType::Int8)});
  expect_node({"QuantizeLinear", 13, {ints({2}, {7, -9}, DType::Int32), two, zero(1, DType::Int8)}}, {ints({2}, {5, -3}, DType::Int8)});
}

TEST(OnnxQuant, ParametersOfAnAxisAndOfBlocks) {
  const Array x = floats({2, 3}, {10, 20, 30, 40, 50, 60});
  const Array scale = floats({3}, {1, 2, 4}), zero = ints({3}, {0, 1, 2}, DType::UInt8),
              q = ints({2, 3}, {10, 11, 10, 40, 26, 17}, DType::UInt8);
  expect_node({"QuantizeLinear", 13, {x, scale, zero}}, {q});
  expect_node({"QuantizeLinear", 13, {x, scale, zero}, {{"axis", std::int64_t{-1}}}}, {q});
  expect_node({"DequantizeLinear", 13, {q, scale, zero}}, {floats({2, 3}, {10, 20, 32, 40, 50, 60})});
  expect_node({"DequantizeLinear", 13, {q, floats({2}, {1, 10}), ints({2}, {10, 0}, DType::UInt8)}, {{"axis", std::int64_t{0}}}},
              {floats({2, 3}, {0, 1, 0, 400, 260, 170})});
  // blocks of 2 along axis 1: scales [2, 2], the last block is short
  const Attributes blocks{{"block_size", std::int64_t{2}}, {"axis", std::int64_t{1}}};
  const Array block_scale = floats({2, 2}, {1, 2, 10, 20}), block_zero = ints({2, 2}, {0, 5, -1, 1}, DType::Int8);
  expect_node({"QuantizeLinear", 21, {x, block_scale, block_zero}, blocks}, {ints({2, 3}, {10, 20, 20, 3, 4, 4}, DType::Int8)});
  expect_node({"DequantizeLinear", 21, {ints({2, 3}, {10, 20, 20, 3, 4, 4}, DType::Int8), block_scale, block_zero}, blocks},
              {floats({2, 3}, {10, 20, 30, 40, 50, 60})});
  expect_node({"DequantizeLinear", 19, {ints({2}, {-100000, 3}, DType::Int32), floats({}, {0.5})}}, {floats({2}, {-50000, 1.5})});
  expect_node({"DequantizeLinear", 19, {ints({2}, {-100, 3}, DType::Int8), floats({}, {0.5}, DType::Float16)}},
              {floats({2}, {-50, 1.5}, DType::Float16)});
  expect_refused({"QuantizeLinear", 13, {x, floats({2}, {1, 2})}}, "the scale has the shape");
  expect_refused({"QuantizeLinear", 21, {x, floats({2, 3}, {1, 2, 3, 4, 5, 6})}, blocks}, "blocks of 2 along axis 1");
  expect_refused({"DequantizeLinear", 13, {q, scale, ints({3}, {0, 1, 2}, DType::Int8)}}, "ONNX wants one type for both");
}

TEST(OnnxQuant, DynamicQuantisationOfZeros) {
  expect_node({"DynamicQuantizeLinear", 11, {floats({3}, {0, 0, 0})}},
              {ints({3}, {0, 0, 0}, DType::UInt8), floats({}, {0}), ints({}, {0}, DType::UInt8)});
  // range [-1, 4]: scale 5 / 255, zero point 51
  expect_node({"DynamicQuantizeLinear", 11, {floats({3}, {-1, 4, 0.6})}},
              {ints({3}, {0, 255, 82}, DType::UInt8), floats({}, {5.0 / 255}), ints({}, {51}, DType::UInt8)});
}

Ints random_ints(std::mt19937& random, std::size_t n, std::int64_t low, std::int64_t high) {
  Ints values(n);
  for (std::int64_t& v : values) v = low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  return values;
}

std::int64_t requantised(std::int64_t sum, float factor, std::int64_t zero) {
  const float y = std::nearbyint(static_cast<float>(sum) * factor) + static_cast<float>(zero);
  return static_cast<std::int64_t>(std::min(255.0f, std::max(0.0f, y)));
}

TEST(OnnxQuant, MatrixProductsWithZeroPointsOfRowsAndColumns) {
  std::mt19937 random(3);
  const std::size_t m = 3, k = 50, n = 4;
  const Ints a = random_ints(random, m * k, 0, 255), b = random_ints(random, k * n, -128, 127), a_zero = random_ints(random, m, 0, 255),
             b_zero = random_ints(random, n, -128, 127);
  Ints sums, q;
  const std::vector<double> b_scale{0.5, 0.25, 1, 0.125};
  for (std::size_t i = 0; i < m; i++) {
    for (std::size_t j = 0; j < n; j++) {
      std::int64_t sum = 0;
      for (std::size_t t = 0; t < k; t++) sum += (a[i * k + t] - a_zero[i]) * (b[t * n + j] - b_zero[j]);
      sums.push_back(sum);
      q.push_back(requantised(sum, 0.02f * static_cast<float>(b_scale[j]) / 4.0f, 120));
    }
  }
  const Array left = ints({3, 50}, a, DType::UInt8), right = ints({50, 4}, b, DType::Int8), left_zero = ints({3}, a_zero, DType::UInt8),
              right_zero = ints({4}, b_zero, DType::Int8);
  expect_node({"MatMulInteger", 10, {left, right, left_zero, right_zero}}, {ints({3, 4}, sums, DType::Int32)});
  expect_node(
      {"QLinearMatMul",
       10,
       {left, floats({}, {0.02}), left_zero, right, floats({4}, b_scale), right_zero, floats({}, {4}), ints({}, {120}, DType::UInt8)}},
      {ints({3, 4}, q, DType::UInt8)});
}

TEST(OnnxQuant, QLinearConvPerChannelWithBiasAndPadding) {
  std::mt19937 random(5);
  const std::int64_t channels = 2, size = 5, outputs = 3, kernel = 3;
  const Ints x = random_ints(random, 50, 0, 255), w = random_ints(random, 54, -128, 127), bias = random_ints(random, 3, -500, 500),
             w_zero{0, 3, -5};
  const std::vector<double> w_scale{0.01, 0.02, 0.005};
  Ints y;
  for (std::int64_t o = 0; o < outputs; o++)
    for (std::int64_t r = 0; r < size; r++)
      for (std::int64_t c = 0; c < size; c++) {
        std::int64_t sum = bias[static_cast<std::size_t>(o)];
        for (std::int64_t i = 0; i < channels * kernel * kernel; i++) {
          const std::int64_t channel = i / 9, row = r + i / 3 % 3 - 1, column = c + i % 3 - 1;
          if (row < 0 || row >= size || column < 0 || column >= size) continue;  // padding is x's zero point
          sum += (x[static_cast<std::size_t>((channel * size + row) * size + column)] - 100) *
                 (w[static_cast<std::size_t>(o * 18 + i)] - w_zero[static_cast<std::size_t>(o)]);
        }
        const float factor = 0.5f * static_cast<float>(w_scale[static_cast<std::size_t>(o)]) / 2.0f;
        y.push_back(requantised(sum, factor, 128));
      }
  expect_node({"QLinearConv",
               10,
               {ints({1, 2, 5, 5}, x, DType::UInt8), floats({}, {0.5}), ints({}, {100}, DType::UInt8), ints({3, 2, 3, 3}, w, DType::Int8),
                floats({3}, w_scale), ints({3}, w_zero, DType::Int8), floats({}, {2}), ints({}, {128}, DType::UInt8),
                ints({3}, bias, DType::Int32)},
               {{"pads", Ints{1, 1, 1, 1}}}},
              {ints({1, 3, 5, 5}, y, DType::UInt8)});
}

}  // namespace
}  // namespace etch
