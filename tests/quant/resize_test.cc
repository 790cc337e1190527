// Resampling of quantised values by weights that are fractions: sums of integers, against the same sums in exact arithmetic.
#include <gtest/gtest.h>

#include "quant/networks.h"

namespace etch::test {
namespace {

struct Resizing {
  const char *mode, *coordinates;
  std::int64_t size, out;
  int parts;  // of which all weights are whole numbers
  // For each output element its inputs and their weights in parts.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> taps;
};

const Resizing kResizings[] = {
    {"linear", "half_pixel", 3, 6, 4, {{{0, 4}}, {{0, 3}, {1, 1}}, {{0, 1}, {1, 3}}, {{1, 3}, {2, 1}}, {{1, 1}, {2, 3}}, {{2, 4}}}},
    {"linear", "align_corners", 3, 6, 5, {{{0, 5}}, {{0, 3}, {1, 2}}, {{0, 1}, {1, 4}}, {{1, 4}, {2, 1}}, {{1, 2}, {2, 3}}, {{2, 5}}}},
    {"linear", "asymmetric", 2, 6, 3, {{{0, 3}}, {{0, 2}, {1, 1}}, {{0, 1}, {1, 2}}, {{1, 3}}, {{1, 3}}, {{1, 3}}}},
    {"linear", "half_pixel", 6, 3, 2, {{{0, 1}, {1, 1}}, {{2, 1}, {3, 1}}, {{4, 1}, {5, 1}}}},
    {"cubic",
     "asymmetric",
     3,
     6,
     32,  // weights of a half pixel by Keys' kernel with -3/4: -3/32, 19/32, 19/32, -3/32
     {{{0, 32}}, {{0, 16}, {1, 19}, {2, -3}}, {{1, 32}}, {{0, -3}, {1, 19}, {2, 16}}, {{2, 32}}, {{1, -3}, {2, 35}}}},
};

TEST(Resampling, IsSumsOfIntegers) {
  constexpr double sx = 0.0507, sy = 0.0413;
  constexpr std::int64_t rows = 256, zx = 3, zy = -5;
  for (const Resizing& r : kResizings) {
    SCOPED_TRACE(std::string(r.mode) + ", " + r.coordinates);
    Net g(18);
    const Value scales = g.constant(
        Array::of_doubles(DType::Float32, {2}, std::vector<double>{1, static_cast<double>(r.out) / static_cast<double>(r.size)}));
    const Value resized = g.node("Resize", {g.dequantise(g.input("x", DType::Int8, {rows, r.size}), sx, zx), "", scales},
                                 {{"mode", r.mode}, {"coordinate_transformation_mode", r.coordinates}});
    g.output(g.quantise(resized, sy, zy), DType::Int8, {rows, r.out});
    const Compiled c = compiled(g);
    EXPECT_FALSE(has_floats_in_memory(c.schedule()));
    EXPECT_EQ(c.frontend.float_nodes, std::vector<std::string>());
    Ints x, want;
    for (std::int64_t i = 0; i < rows * r.size; i++) x.push_back((i * 37 + i / 256 * 11) % 256 - 128);
    const float m = static_cast<float>(sx) / (static_cast<float>(r.parts) * static_cast<float>(sy));
    for (std::int64_t row = 0; row < rows; row++)
      for (const auto& taps : r.taps) {
        std::int64_t sum = 0;
        for (const auto& [position, weight] : taps) sum += (x[static_cast<std::size_t>(row * r.size + position)] - zx) * weight;
        want.push_back(requantised(sum, m, zy));
      }
    EXPECT_EQ(run(c, {int8s({rows, r.size}, x)}), want);
  }
}

}  // namespace
}  // namespace etch::test
