// What code generation must be able to prove: every index inside its buffer.
#include <gtest/gtest.h>

#include "shape/shapetracker.h"
#include "shape/symbolic.h"

namespace etch {
namespace {

void expect_inside(Sint idx, Sint valid, Sint size, const std::string& what) {
  EXPECT_TRUE(proves_nonnegative(idx, valid)) << what << ": " << to_text(idx) << " where " << to_text(valid);
  EXPECT_TRUE(proves_less(idx, size, valid)) << what << ": " << to_text(idx) << " where " << to_text(valid);
}

TEST(Prove, PaddedConvolution) {
  for (int64_t step : {1, 2}) {
    Symbols s;
    const int64_t H = 28, W = 30;
    Sint y = s.variable("y", 0, (H - 1) / step), x = s.variable("x", 0, (W - 1) / step);
    Sint ky = s.variable("ky", 0, 2), kx = s.variable("kx", 0, 2);
    Sint row = y * step + ky - 1, col = x * step + kx - 1;
    Sint valid = ands({ge(row, 0), lt(row, H), ge(col, 0), lt(col, W)});
    Sint idx = row * W + col;
    expect_inside(idx, valid, H * W, "convolution");
    auto [lo, hi] = bounds_under(idx, valid);
    EXPECT_EQ(lo, 0);
    EXPECT_EQ(hi, H * W - 1);
    EXPECT_FALSE(proves_less(idx, H * W - 1, valid));   // it is reached
    EXPECT_FALSE(proves_nonnegative(idx, lt(row, H)));  // without the condition it is not inside
  }
}

TEST(Prove, FlattenedIndex) {
  Symbols s;
  Sint f = s.variable("f", 0, 30 * 30 - 1);
  Sint row = floordiv(f, 30), col = floormod(f, 30);
  Sint valid = ands({ge(row, 1), lt(row, 29), ge(col, 1), lt(col, 29)});
  expect_inside((row - 1) * 28 + (col - 1), valid, 28 * 28, "flattened");
  Sint g = s.variable("g", 0, 3 * 28 * 28 - 1);
  Sint r = floormod(floordiv(g, 28), 28), c = floormod(g, 28), plane = floordiv(g, 784);
  expect_inside(plane * 784 + r * 28 + c - 29, ands({ge(r, 1), ge(c, 1)}), 3 * 784, "merged modulos");
}

TEST(Prove, SymbolicSizes) {
  Symbols s;
  Sint n = s.variable("n", 1, 16);
  Sint i = s.variable("i", 0, n - 1), j = s.variable("j", 0, 783), c = s.variable("c", 0, 3), f = s.variable("f", 0, n * 784 - 1);
  expect_inside(i * 784 + j, 1, n * 784, "batch first");
  expect_inside(j * n + i, 1, n * 784, "batch last");
  expect_inside((c * n + i) * 784 + j, 1, n * 784 * 4, "batch between");
  expect_inside(floordiv(f, 784), 1, n, "batch of a flat index");
  expect_inside(floormod(f, 784) * n + floordiv(f, 784), 1, n * 784, "transposed flat index");
  expect_inside((n - 1 - i) * 784 + j, 1, n * 784, "flipped");
  Sint y = s.variable("y", 0, 29);
  expect_inside((i * 28 + y - 1) * 28, ands({ge(y, 1), lt(y, 29)}), n * 784, "padded axis");
  expect_inside((c - 1) * n + i, ands({ge(c, 1), lt(c, 3)}), n * 2, "padded axis outside the batch");
  EXPECT_FALSE(proves_less(i * 784 + j, n * 783, 1));
  EXPECT_FALSE(proves_less(i, n - 1, 1));
  Sint m = s.variable("m", 1, 8), k = s.variable("k", 0, n + m - 1);
  expect_inside(k - n, ge(k, n), m, "concatenation of two unknown sizes");
}

TEST(Prove, ContradictionMeansNothingIsRead) {
  Symbols s;
  Sint a = s.variable("a", 0, 7), b = s.variable("b", 0, 7);
  Sint never = ands({lt(a + b, 3), ge(a, 2), ge(b, 2)});
  auto [lo, hi] = bounds_under(a, never);
  EXPECT_GT(lo, hi);
  EXPECT_TRUE(proves_less(a, 0, never));
}

// All positions that random trackers read are proved inside a buffer of exactly the real size.
TEST(Prove, TrackersStayInTheirBuffer) {
  struct Row {
    const char* what;
    ShapeTracker st;
  };
  ShapeTracker image = ShapeTracker::from_shape({1, 3, 28, 28});
  const Row rows[] = {
      {"pad", image.pad({{0, 0}, {0, 0}, {1, 1}, {1, 1}})},
      {"pad, flatten", image.pad({{0, 0}, {0, 0}, {1, 1}, {1, 1}}).reshape({2700})},
      {"pad, flatten, cut", image.pad({{0, 0}, {0, 0}, {1, 1}, {1, 1}}).reshape({2700}).shrink({{7, 2000}})},
      {"transpose, flatten", image.permute({0, 2, 3, 1}).reshape({2352})},
      {"flip, flatten, split", image.stride({1, 1, -1, -1}).reshape({2352}).reshape({48, 49})},
      {"pad, split", image.reshape({2352}).pad({{5, 3}}).reshape({59, 40})},
  };
  for (const Row& r : rows) {
    Symbols s;
    std::vector<Sint> idxs;
    for (std::size_t k = 0; k < r.st.shape().size(); ++k) {
      idxs.push_back(r.st.shape()[k].is_int(1) ? Sint(0) : s.variable("idx" + std::to_string(k), 0, r.st.shape()[k] - 1));
    }
    ShapeTracker::Index at = r.st.expr_idxs(idxs);
    expect_inside(at.idx, at.valid, r.st.real_size(), r.what);
    EXPECT_LE(r.st.real_size(), 2352) << r.what;
  }
}

}  // namespace
}  // namespace etch
