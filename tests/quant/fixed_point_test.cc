// Requantisation by products of integers gives the bits of the one in float32, next to ties too. Wanted numbers are loops of this file, by
// the definition: saturate(rint(float32(acc) * M) + zero), M = float32(float32(sx * sw) / sy).
#include <gtest/gtest.h>

#include <random>

#include "quant/networks.h"

namespace etch::test {
namespace {

Compiled compiled_for(const GraphBuilder& g, std::int64_t product_bits) {
  Compiled c;
  c.options.import.bytes = g.bytes();
  c.options.import.path = "net.onnx";
  c.options.target = find_target("c99", std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  c.options.target.product_bits = product_bits;
  c.frontend = read_model(c.options);
  return c;
}

bool has_shift(const Compiled& c) {
  for (const ScheduleItem& item : c.schedule().items)
    for (const LazyOp* op : toposort(item.ast))
      if (op->op == Op::Shr) return true;
  return false;
}

/// A QLinearConv of 1 x 1 over `pixels` positions, with a bias and a scale for each output.
struct Rescaled {
  std::int64_t channels = 1, pixels = 1, x_zero = 0, y_zero = 0;
  DType type = DType::Int8;
  Ints weights{}, bias{};  // [outputs, channels], [outputs]
  std::vector<float> scales{};

  std::int64_t outputs() const { return std::ssize(scales); }

  Compiled compiled(std::int64_t product_bits) const {
    Net g;
    const auto point = [&](DType t, std::int64_t v) { return g.constant(Array::of_ints(t, {}, Ints{v})); };
    const std::vector<double> all(scales.begin(), scales.end());
    const Value x = g.input("x", DType::Int8, {1, channels, 1, pixels}), w = g.constant(int8s({outputs(), channels, 1, 1}, weights));
    const Value y = g.node("QLinearConv", {x, g.constant(float32(1)), point(DType::Int8, x_zero), w,
                                           g.constant(Array::of_doubles(DType::Float32, {outputs()}, all)),
                                           g.constant(int8s({outputs()}, Ints(scales.size(), 0))), g.constant(float32(1)),
                                           point(type, y_zero), g.constant(Array::of_ints(DType::Int32, {outputs()}, bias))});
    g.output(y, type, {1, outputs(), 1, pixels});
    return compiled_for(g, product_bits);
  }

  Ints of(const Ints& x) const {
    const std::int64_t low = type == DType::Int8 ? -128 : 0, high = low + 255;
    Ints y;
    for (std::int64_t o = 0; o < outputs(); o++)
      for (std::int64_t p = 0; p < pixels; p++) {
        std::int64_t v = bias[static_cast<std::size_t>(o)];
        for (std::int64_t k = 0; k < channels; k++)
          v += (x[static_cast<std::size_t>(k * pixels + p)] - x_zero) * weights[static_cast<std::size_t>(o * channels + k)];
        const float product = static_cast<float>(v) * scales[static_cast<std::size_t>(o)];
        y.push_back(std::clamp(static_cast<std::int64_t>(std::nearbyintf(product)) + y_zero, low, high));
      }
    return y;
  }
};

Ints random_bytes(std::size_t n, std::mt19937& random) {
  Ints values(n);
  for (auto& v : values) v = static_cast<std::int64_t>(random() % 256) - 128;
  return values;
}

TEST(FixedPoint, ProductsOfIntegersGiveTheBitsOfFloats) {
  for (const std::int64_t bits : {32, 64})
    for (unsigned seed = 0; seed < 6; seed++) {
      SCOPED_TRACE(std::to_string(bits) + " bits, seed " + std::to_string(seed));
      std::mt19937 random(seed);
      constexpr std::int64_t kOutputs = 12, kChannels = 16, kPixels = 700;
      Rescaled r{.channels = kChannels, .pixels = kPixels};
      r.type = seed % 2 == 0 ? DType::Int8 : DType::UInt8;
      r.y_zero = seed % 3 == 0 ? (seed % 2 == 0 ? -128 : 0) : 3;
      r.x_zero = static_cast<std::int64_t>(random() % 256) - 128;
      r.weights = random_bytes(kOutputs * kChannels, random);
      for (std::int64_t o = 0; o < kOutputs; o++) {
        r.bias.push_back(static_cast<std::int64_t>(random() % 20000) - 10000);
        const float spread = std::ldexp(1.0F + static_cast<float>(random() % 100000) / 100000.0F, -8 - static_cast<int>(random() % 4));
        // Of every third channel many products are ties.
        r.scales.push_back(o % 3 == 0 ? std::ldexp(1.0F + static_cast<float>(random() % 4) / 4.0F, -9) : spread);
      }
      const Compiled c = r.compiled(bits);
      EXPECT_TRUE(has_shift(c)) << to_text(c.schedule());
      const Ints x = random_bytes(kChannels * kPixels, random);
      EXPECT_EQ(run(c, {int8s({1, kChannels, 1, kPixels}, x)}), r.of(x));
    }
}

// A value next to a tie at every step: 1.5, 2.5, 3.5 ... and their neighbours, with factors that float32 rounds up and down.
TEST(FixedPoint, TiesAreRoundedAsInFloats) {
  for (const std::int64_t bits : {32, 64}) {
    SCOPED_TRACE(bits);
    Rescaled r{.channels = 2, .pixels = 256 * 64};
    r.scales = {1.0F / 256, 1.0F / 1000, 1.0F / 254, std::nextafterf(1.0F / 256, 0), std::nextafterf(1.0F / 256, 1), 3.0F / 1024};
    for (std::size_t o = 0; o < r.scales.size(); o++) {
      r.weights.insert(r.weights.end(), {127, 1});
      r.bias.push_back(static_cast<std::int64_t>(o) - 3);
    }
    Ints x;
    for (int c = 0; c < 2; c++)
      for (std::int64_t p = 0; p < r.pixels; p++) x.push_back(c == 0 ? p / 64 - 128 : 2 * (p % 64) - 64);
    const Compiled c = r.compiled(bits);
    EXPECT_TRUE(has_shift(c));
    EXPECT_EQ(run(c, {int8s({1, 2, 1, r.pixels}, x)}), r.of(x));
  }
}

// Channels without weights have biases of any size, and factors as small.
TEST(FixedPoint, ConstantChannelsMayBeLarge) {
  for (const std::int64_t bits : {32, 64}) {
    SCOPED_TRACE(bits);
    Rescaled r{.channels = 4, .pixels = 256, .y_zero = -20};
    r.weights = {0, 0, 0, 0, 3, -7, 100, 1, 0, 0, 0, 0, 90, 5, -4, 33};
    r.bias = {1 << 30, 100, -(1 << 30), -7000};
    r.scales = {2.5e-8F, 0.004F, 6.1e-9F, 0.0071F};
    std::mt19937 random(1);
    const Ints x = random_bytes(4 * 256, random);
    const Compiled c = r.compiled(bits);
    EXPECT_TRUE(has_shift(c)) << to_text(c.schedule());
    EXPECT_EQ(run(c, {int8s({1, 4, 1, 256}, x)}), r.of(x));
  }
}

TEST(FixedPoint, NothingChangesWithoutProducts) {
  std::mt19937 random(1);
  Rescaled r{.channels = 2, .pixels = 8};
  r.weights = {1, 2, 3, 4};
  r.bias = {0, 0};
  r.scales = {0.01F, 0.02F};
  EXPECT_FALSE(has_shift(r.compiled(0)));
}

// Values of which nothing is known but that they fit int32.
TEST(FixedPoint, WhatCouldNotBeBoundedStays) {
  Rescaled r{.channels = 2, .pixels = 8};
  r.weights = {127, 127, 127, 127};
  r.bias = {2147000000, 0};
  r.scales = {1e-7F, 0.02F};
  std::mt19937 random(3);
  const Ints x = random_bytes(16, random);
  for (const std::int64_t bits : {32, 64}) {
    const Compiled c = r.compiled(bits);
    EXPECT_FALSE(has_shift(c));
    EXPECT_EQ(run(c, {int8s({1, 2, 1, 8}, x)}), r.of(x));
  }
}

}  // namespace
}  // namespace etch::test
