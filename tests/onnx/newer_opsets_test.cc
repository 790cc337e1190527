// Changes of existing operators in opsets 22 to 28: the new values, and that older opsets stay the same.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using Doubles = std::vector<double>;

constexpr std::int64_t kFloat = 1, kInt8 = 3, kFloat16 = 10, kDouble = 11, kBFloat16 = 16;

TEST(NewerOpsets, ShiftsOfSignedIntegers) {
  const Attributes right{{"direction", "RIGHT"}}, left{{"direction", "LEFT"}};
  const auto bytes = [](std::vector<std::int64_t> v) { return ints({static_cast<std::int64_t>(v.size())}, v, DType::Int8); };
  // The definition: copies of the sign come in; what is shifted past it is gone; a negative or large amount leaves the sign alone.
  expect_node({"BitShift", 28, {bytes({-128, -1, 5, -8, -8, 8}), bytes({7, 3, 1, -1, 8, 100})}, right}, {bytes({-1, -1, 2, -1, -1, 0})});
  expect_node({"BitShift", 28, {bytes({1, -1, 64, 3, 3}), bytes({7, 1, 1, 8, -1})}, left}, {bytes({-128, -2, -128, 0, 0})});
  expect_node({"BitShift", 28, {ints({2}, {-4, std::numeric_limits<std::int64_t>::min()}), ints({2}, {1, 63})}, right},
              {ints({2}, {-2, -1})});
  expect_refused({"BitShift", 27, {bytes({1}), bytes({1})}, left}, "from opset 28 on it takes int8");
}

TEST(NewerOpsets, ModOfFloatsHasTheSignOfTheDivisor) {
  const double inf = INFINITY;
  const struct {
    double x, y, rest;
  } rows[] = {{5, 3, 2},     {-5, 3, 1},    {5, -3, -1},   {-5, -3, -2},  {5.5, 2, 1.5},  {-0.5, 4, 3.5},  {6, 3, 0},      {-6, 3, 0},
              {6, -3, -0.0}, {0, -3, -0.0}, {-0.0, 3, 0},  {1, inf, 1},   {-1, inf, inf}, {1, -inf, -inf}, {-1, -inf, -1}, {inf, 3, NAN},
              {1, 0, NAN},   {0, 0, NAN},   {NAN, 3, NAN}, {3, NAN, NAN}, {0, inf, 0},    {0, -inf, -0.0}};
  Doubles x, y, rest;
  for (const auto& row : rows) {
    x.push_back(row.x);
    y.push_back(row.y);
    rest.push_back(row.rest);
  }
  const auto n = static_cast<std::int64_t>(x.size());
  for (DType dtype : {DType::Float32, DType::Float64, DType::Float16}) {
    for (std::size_t constants : {std::size_t{0}, std::size_t{2}}) {
      const Array got = test::run_node({"Mod", 28, {floats({n}, x, dtype), floats({n}, y, dtype)}, {}, 1, constants})[0];
      for (std::int64_t i = 0; i < n; i++) {
        const double value = got.double_at(i), wanted = rest[static_cast<std::size_t>(i)];
        const bool same = std::isnan(wanted) ? std::isnan(value) : value == wanted && std::signbit(value) == std::signbit(wanted);
        EXPECT_TRUE(same) << x[static_cast<std::size_t>(i)] << " mod " << y[static_cast<std::size_t>(i)] << " is " << value << " in "
                          << name_of(dtype);
      }
    }
  }
  expect_refused({"Mod", 27, {floats({1}, {1}), floats({1}, {1})}}, "ONNX wants fmod = 1 for floats before opset 28");
  expect_refused({"Mod", 28, {floats({1}, {1}), floats({1}, {1})}, {{"fmod", std::int64_t{2}}}}, "it is 0 or 1");
}

TEST(NewerOpsets, SpaceToDepthKnowsBothOrders) {
  Doubles x;
  for (int i = 0; i < 16; i++) x.push_back(i);
  const Array image = floats({1, 2, 2, 4}, x);  // two channels of 2 x 4
  const auto run = [&](const char* mode) { return Attributes{{"blocksize", std::int64_t{2}}, {"mode", mode}}; };
  const Array dcr = floats({1, 8, 1, 2}, {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15});
  const Array crd = floats({1, 8, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
  expect_node({"SpaceToDepth", 28, {image}, run("DCR")}, {dcr});
  expect_node({"SpaceToDepth", 28, {image}, run("CRD")}, {crd});
  expect_node({"SpaceToDepth", 28, {image}, {{"blocksize", std::int64_t{2}}}}, {dcr});
  expect_node({"DepthToSpace", 28, {crd}, run("CRD")}, {image});
  expect_refused({"SpaceToDepth", 28, {image}, run("RCD")}, "accepted are DCR and CRD");
  expect_refused({"SpaceToDepth", 27, {image}, run("CRD")}, "attribute mode is not supported at opset 27");
}

TEST(NewerOpsets, RangesOfHalvesAreComputedInFloats) {
  // 2048 and beyond float16 has no odd numbers: adding 1 there again and again would stay at 2048.
  Doubles wanted;
  for (int i = 0; i < 8; i++) wanted.push_back(2044 + i);
  const auto number = [](double v, DType dtype) { return floats({}, {v}, dtype); };
  for (const Attributes& attributes : {Attributes{}, Attributes{{"stash_type", kFloat}}, Attributes{{"stash_type", kDouble}}}) {
    for (DType dtype : {DType::Float16, DType::BFloat16}) {
      const test::NodeModel node{
          "Range", 27, {number(2044, dtype), number(dtype == DType::Float16 ? 2052 : 2064, dtype), number(1, dtype)}, attributes, 1, 0};
      const Array start = number(2044, dtype), limit = node.inputs[1];
      Doubles values;
      for (double v = start.double_at(0); v < limit.double_at(0); v += 1) values.push_back(v);
      expect_node(node, {floats({static_cast<std::int64_t>(values.size())}, values, dtype)}, 0, 0);
    }
  }
  expect_refused(
      {"Range", 27, {number(0, DType::Float16), number(2, DType::Float16), number(1, DType::Float16)}, {{"stash_type", kFloat16}}, 1, 0},
      "accepted are float32 and float64");
  expect_refused({"Range", 26, {number(0, DType::Float16), number(2, DType::Float16), number(1, DType::Float16)}, {}, 1, 0},
                 "from opset 27 on it takes float16");
}

TEST(NewerOpsets, QuantisationSaysItsPrecision) {
  const Array q = ints({3}, {1, 2, 127}, DType::Int8), third = floats({}, {1.0 / 3}), half = floats({}, {1.0 / 3}, DType::Float16);
  const auto rounded = [](double v, DType dtype) { return floats({}, {v}, dtype).double_at(0); };
  const double narrow = rounded(1.0 / 3, DType::Float16);
  expect_node({"DequantizeLinear", 23, {q, half}}, {floats({3}, {narrow, 2 * narrow, 127 * narrow}, DType::Float16)}, 1e-3, 0);
  expect_node({"DequantizeLinear", 23, {q, half}, {{"output_dtype", kFloat}}}, {floats({3}, {narrow, 2 * narrow, 127 * narrow})}, 1e-7, 0);
  const Array narrowed = test::run_node({"DequantizeLinear", 23, {q, third}, {{"output_dtype", kFloat16}}})[0];
  EXPECT_EQ(narrowed.dtype(), DType::Float16);
  EXPECT_EQ(narrowed.double_at(2), rounded(127 * narrow, DType::Float16));
  expect_refused({"DequantizeLinear", 23, {q, third}, {{"output_dtype", kInt8}}}, "accepted are float32, float16 and bfloat16");
  expect_refused({"DequantizeLinear", 22, {q, third}, {{"output_dtype", kFloat}}}, "attribute output_dtype is not supported at opset 22");

  // 1000.5 / 1 in float32 rounds half to even, 1000; float16 has 0.5 there too, bfloat16 steps of 4: 1000 and then nothing to round.
  const Array x = floats({2}, {1001.5, 3}), one = floats({}, {1}), zero = ints({}, {0}, DType::Int16);
  expect_node({"QuantizeLinear", 23, {x, one, zero}}, {ints({2}, {1002, 3}, DType::Int16)});
  expect_node({"QuantizeLinear", 23, {x, one, zero}, {{"precision", kBFloat16}}}, {ints({2}, {1000, 3}, DType::Int16)});
  expect_node({"QuantizeLinear", 23, {x, floats({}, {1}, DType::BFloat16), zero}}, {ints({2}, {1000, 3}, DType::Int16)});
  expect_node({"QuantizeLinear", 23, {floats({1}, {3}, DType::Float16), floats({}, {2}), zero}}, {ints({1}, {2}, DType::Int16)});
  expect_refused({"QuantizeLinear", 21, {floats({1}, {3}, DType::Float16), floats({}, {2}), zero}}, "ONNX wants one type for both");
  expect_refused({"QuantizeLinear", 23, {ints({1}, {4}, DType::Int32), ints({}, {2}, DType::Int32), zero}}, "input 1 is int32");
}

TEST(NewerOpsets, WhatConcernsFloat8AloneChangesNothing) {
  const Array x = floats({3}, {1.5, -2.5, 300});
  expect_node({"Cast", 24, {x}, {{"to", kFloat16}, {"round_mode", "down"}, {"saturate", std::int64_t{0}}}},
              {floats({3}, {1.5, -2.5, 300}, DType::Float16)});
  expect_node({"CastLike", 25, {x, floats({1}, {0}, DType::Float16)}, {{"round_mode", "nearest"}}},
              {floats({3}, {1.5, -2.5, 300}, DType::Float16)});
  expect_refused({"Cast", 23, {x}, {{"to", kFloat16}, {"round_mode", "down"}}}, "attribute round_mode is not supported at opset 23");
  for (std::int64_t type : {17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28})  // float8 to float6, int4 and int2
    expect_refused({"Cast", 28, {x}, {{"to", type}}}, "accepted are float32");
}

TEST(NewerOpsets, ANormOfZeroLeavesZeros) {
  const Array x = floats({2, 2}, {0, 0, 3, -4});
  expect_node({"LpNormalization", 22, {x}}, {floats({2, 2}, {0, 0, 0.6, -0.8})});
  expect_node({"LpNormalization", 1 + 6, {x}, {{"p", std::int64_t{1}}}}, {floats({2, 2}, {0, 0, 3.0 / 7, -4.0 / 7})});
}

TEST(NewerOpsets, TypesAreThoseOfTheVersion) {
  const Array brain = floats({1, 1, 2, 2}, {1, 2, 3, 4}, DType::BFloat16), weight = floats({1, 1, 1, 1}, {2}, DType::BFloat16);
  expect_node({"Conv", 22, {brain, weight}}, {floats({1, 1, 2, 2}, {2, 4, 6, 8}, DType::BFloat16)});
  expect_refused({"Conv", 21, {brain, weight}}, "its input 0 is bfloat16, Conv takes float16, float32, float64 at opset 21");
  expect_refused({"Conv", 21, {brain, weight}}, "from opset 22 on it takes bfloat16");
  const Array counts = ints({2, 2}, {1, 2, 3, 4}, DType::Int32);
  expect_node({"ReduceLogSum", 27, {counts, ints({1}, {1})}, {{"keepdims", std::int64_t{0}}}},
              {test::run_node({"ReduceLogSum", 18, {counts, ints({1}, {1})}, {{"keepdims", std::int64_t{0}}}})[0]});
  expect_refused({"ReduceLogSum", 28, {counts, ints({1}, {1})}}, "its input 0 is int32, ReduceLogSum takes");
  expect_refused({"ReduceLogSumExp", 28, {counts, ints({1}, {1})}}, "insert a Cast before the node");
  expect_refused({"Gather", 28, {counts, floats({1}, {0})}}, "its input 1 is float32, Gather takes int32, int64 at opset 28");
  expect_refused({"Add", 28, {counts, floats({1}, {0})}}, "input 0 is int32 and input 1 is float32, ONNX wants one type for both");
  expect_refused({"Concat", 28, {counts, counts, floats({1, 2}, {0, 0})}, {{"axis", std::int64_t{0}}}}, "ONNX wants one type for both");
}

}  // namespace
}  // namespace etch
