// Quantised graphs become integer arithmetic: what is computed, and that no float is left in memory. Wanted numbers are loops of this
// file, by the definition: saturate(rint(float32(acc) * M) + zero), M = float32(float32(sx * sw) / sy).
#include <gtest/gtest.h>

#include <random>

#include "quant/networks.h"

namespace etch::test {
namespace {

TEST(QuantisedGraphs, AConvolutionIsASumOfIntegers) {
  constexpr int kChannels = 3, kOut = 4, kSize = 5;
  std::mt19937 random(1);
  const auto bytes = [&](std::size_t n) {
    Ints values(n);
    for (auto& v : values) v = static_cast<std::int64_t>(random() % 256) - 128;
    return values;
  };
  const Ints x = bytes(kChannels * kSize * kSize), w = bytes(kOut * kChannels * 9);
  const Ints bias{1000, -30000, 0, 77};
  const std::vector<double> sw{0.01, 0.02, 0.005, 0.3};
  constexpr double sx = 0.05, sy = 0.4;
  constexpr std::int64_t zx = -7, zy = 11;

  Net g;
  const Value weight = g.initializer("w", int8s({kOut, kChannels, 3, 3}, w));
  const Value scales = g.initializer("w_scale", Array::of_doubles(DType::Float32, {kOut}, sw));
  const Value points = g.initializer("w_zero", int8s({kOut}, Ints(kOut, 0)));
  const Value dw = g.node("DequantizeLinear", {weight, scales, points}, {{"axis", std::int64_t{0}}});
  std::vector<double> bias_scales;
  for (double s : sw) bias_scales.push_back(static_cast<double>(static_cast<float>(sx) * static_cast<float>(s)));
  const Value db = g.node("DequantizeLinear",
                          {g.initializer("b", Array::of_ints(DType::Int32, {kOut}, bias)),
                           g.initializer("b_scale", Array::of_doubles(DType::Float32, {kOut}, bias_scales))},
                          {{"axis", std::int64_t{0}}});
  const Value dx = g.dequantise(g.input("x", DType::Int8, {1, kChannels, kSize, kSize}), sx, zx);
  const Value y = g.node("Conv", {dx, dw, db}, {{"pads", Ints{1, 1, 1, 1}}});
  g.output(g.quantise(y, sy, zy), DType::Int8, {1, kOut, kSize, kSize});
  const Compiled c = compiled(g);
  EXPECT_FALSE(has_floats_in_memory(c.schedule())) << to_text(c.schedule());
  EXPECT_EQ(c.schedule().items.size(), 1u);

  Ints want;
  for (int o = 0; o < kOut; o++)
    for (int r = 0; r < kSize; r++)
      for (int col = 0; col < kSize; col++) {
        std::int64_t acc = bias[static_cast<std::size_t>(o)];
        for (int ch = 0; ch < kChannels; ch++)
          for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
              const int yy = r + i - 1, xx = col + j - 1;
              if (yy < 0 || yy >= kSize || xx < 0 || xx >= kSize) continue;
              acc += (x[static_cast<std::size_t>((ch * kSize + yy) * kSize + xx)] - zx) *
                     w[static_cast<std::size_t>(((o * kChannels + ch) * 3 + i) * 3 + j)];
            }
        const float m = static_cast<float>(sx) * static_cast<float>(sw[static_cast<std::size_t>(o)]) / static_cast<float>(sy);
        want.push_back(requantised(acc, m, zy));
      }
  EXPECT_EQ(run(c, {int8s({1, kChannels, kSize, kSize}, x)}), want);
}

TEST(QuantisedGraphs, AnAverageSumsIntegers) {
  const Ints x{-128, -127, 3, 4, 127, 127, 126, -5};
  Net g;
  const Value dx = g.dequantise(g.input("x", DType::Int8, {1, 2, 2, 2}), 0.1, -128);
  g.output(g.quantise(g.node("GlobalAveragePool", {dx}), 0.07, 5), DType::Int8, {1, 2, 1, 1});
  const Compiled c = compiled(g);
  EXPECT_FALSE(has_floats_in_memory(c.schedule()));
  const float m = 0.1f / (4.0f * 0.07f);
  const Ints want{requantised(-128 - 127 + 3 + 4 + 4 * 128, m, 5), requantised(127 + 127 + 126 - 5 + 4 * 128, m, 5)};
  EXPECT_EQ(run(c, {int8s({1, 2, 2, 2}, x)}), want);
}

// The same scale and zero point: the integers are taken over as they are.
TEST(QuantisedGraphs, MovementAndMaximaStayIntegers) {
  Net g;
  const Value dx = g.dequantise(g.input("x", DType::Int8, {1, 1, 4, 4}), 0.5, 3);
  const Value q = g.quantise(g.node("Transpose", {dx}, {{"perm", Ints{0, 1, 3, 2}}}), 0.5, 3);
  const Value pooled =
      g.node("MaxPool", {g.dequantise(q, 0.5, 3)}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  g.output(g.quantise(pooled, 0.5, 3), DType::Int8, {1, 1, 2, 2});
  const Compiled c = compiled(g);
  EXPECT_FALSE(has_floats_in_memory(c.schedule()));
  for (const ScheduleItem& item : c.schedule().items)
    for (const LazyOp* op : toposort(item.ast)) EXPECT_FALSE(is_float(op->dtype)) << to_text(item.ast);
  Ints x;
  for (int i = 0; i < 16; i++) x.push_back(i % 2 == 0 ? -100 + i : 50 - 3 * i);
  // of columns, as the rows of the transposed: windows around (0,0), (0,2), (2,0), (2,2)
  Ints want;
  for (int r : {0, 2})
    for (int col : {0, 2}) {
      std::int64_t most = -128;
      for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
          if (r + i >= 0 && r + i < 4 && col + j >= 0 && col + j < 4)
            most = std::max(most, x[static_cast<std::size_t>((col + j) * 4 + r + i)]);
      want.push_back(most);
    }
  EXPECT_EQ(run(c, {int8s({1, 1, 4, 4}, x)}), want);
}

TEST(QuantisedGraphs, BoundsBeforeAQuantisationBecomeBoundsOfIntegers) {
  Net g;
  const Value dx = g.dequantise(g.input("x", DType::Int8, {8}), 0.25, 10);
  const Value clipped = g.node("Clip", {dx, g.initializer("low", float32(-3.1)), g.initializer("high", float32(4.9))});
  g.output(g.quantise(clipped, 0.1, -20), DType::Int8, {8});
  const Compiled c = compiled(g);
  EXPECT_FALSE(has_floats_in_memory(c.schedule()));
  const Ints x{-128, -3, -2, 9, 10, 29, 30, 127};
  Ints want;
  const float m = 0.25f / 0.1f;
  for (std::int64_t v : x) {
    const std::int64_t low = requantised(1, -3.1f / 0.1f, -20), high = requantised(1, 4.9f / 0.1f, -20);
    want.push_back(std::clamp(requantised(v - 10, m, -20), low, high));
  }
  EXPECT_EQ(run(c, {int8s({8}, x)}), want);
}

// A sum that may leave int32 is computed as the model says.
TEST(QuantisedGraphs, WhatDoesNotFitStaysFloat) {
  Net g(21);
  const Value a = g.dequantise(g.input("a", DType::Int16, {2, 3}), 1e-4, 0, DType::Int16);
  const Value b = g.dequantise(g.input("b", DType::Int16, {3, 2}), 1e-4, 0, DType::Int16);
  g.output(g.quantise(g.node("MatMul", {a, b}), 1.0, 0), DType::Int8, {2, 2});
  const Compiled c = compiled(g);
  EXPECT_EQ(count(c.schedule(), Op::ReduceSum, true), 1);
  EXPECT_EQ(count(c.schedule(), Op::ReduceSum, false), 0);
  const Ints x(6, 32767);
  EXPECT_EQ(run(c, {Array::of_ints(DType::Int16, {2, 3}, x), Array::of_ints(DType::Int16, {3, 2}, x)}), Ints(4, 32));
}

// What is multiplied one after the other lies side by side: the buffer between two convolutions has its channels last.
TEST(QuantisedGraphs, ChannelsAreLastWhereASumRunsAlongThem) {
  Net g;
  std::mt19937 random(5);
  const auto weights = [&](const std::string& name, const Ints& shape) {
    Ints values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
    for (auto& v : values) v = static_cast<std::int64_t>(random() % 255) - 127;
    return g.dequantise(g.initializer(name, int8s(shape, values)), 0.01, 0);
  };
  const Value x = g.dequantise(g.input("x", DType::Int8, {1, 2, 6, 6}), 0.1, 0);
  const Value one = g.quantise(g.node("Conv", {x, weights("w1", {8, 2, 3, 3})}), 0.2, 0);
  const Value two = g.node("Conv", {g.dequantise(one, 0.2, 0), weights("w2", {4, 8, 1, 1})});
  g.output(g.quantise(two, 0.3, 0), DType::Int8, {1, 4, 4, 4});
  const Compiled c = compiled(g);
  ASSERT_EQ(c.schedule().items.size(), 2u);
  const auto last_axis_of_store = [](const LazyOp* store) {
    const auto strides = store->st().real_strides();
    Ints moving;
    for (std::size_t i = 0; i < strides.size(); i++)
      if (!store->shape[i].is_int(1)) moving.push_back(strides[i]->as_int());
    return moving;
  };
  EXPECT_EQ(last_axis_of_store(c.schedule().items[0].ast), (Ints{1, 32, 8})) << "8 channels of 4 x 4";
  EXPECT_EQ(last_axis_of_store(c.schedule().items[1].ast), (Ints{16, 4, 1})) << "an output keeps its order";
  Ints values(72);
  for (auto& v : values) v = static_cast<std::int64_t>(random() % 256) - 128;
  run(c, {int8s({1, 2, 6, 6}, values)});
}

}  // namespace
}  // namespace etch::test
