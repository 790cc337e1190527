// Proofs that code generation needs: every index is inside its buffer.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "shape/open_sizes.h"
#include "shape/shapetracker.h"
#include "shape/symbolic.h"
#include "support/rounds.h"

namespace etch {
namespace {

void expect_inside(Sint idx, Sint valid, Sint size, const std::string& what) {
  EXPECT_TRUE(proves_nonnegative(idx, valid)) << what << ": " << to_text(idx) << " where " << to_text(valid);
  EXPECT_TRUE(proves_less(idx, size, valid)) << what << ": " << to_text(idx) << " where " << to_text(valid);
}

TEST(Prove, PaddedConvolution) {
  for (std::int64_t step : {1, 2}) {
    Symbols s;
    const std::int64_t H = 28, W = 30;
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

TEST(Prove, OpenHeightAndWidth) {
  Symbols s;
  Sint h = s.variable("H", 8, 64), w = s.variable("W", 8, 64), n = s.variable("N", 1, 4);
  Sint c = s.variable("c", 0, 2), ky = s.variable("ky", 0, 2), kx = s.variable("kx", 0, 2), b = s.variable("b", 0, n - 1);
  for (std::int64_t step : {1, 2, 3}) {
    const std::string what = "step " + std::to_string(step);
    Sint rows = floordiv(h + 2 - 3, step) + 1, columns = floordiv(w + 2 - 3, step) + 1;
    Sint y = s.variable("y" + what, 0, rows - 1), x = s.variable("x" + what, 0, columns - 1);
    expect_inside(((b * 3 + c) * rows + y) * columns + x, 1, n * 3 * rows * columns, "result, " + what);
    Sint row = y * step + ky - 1, col = x * step + kx - 1;
    Sint valid = ands({ge(row, 0), lt(row, h), ge(col, 0), lt(col, w)});
    Sint idx = ((b * 3 + c) * h + row) * w + col;
    expect_inside(idx, valid, n * 3 * h * w, "padded window, " + what);
    EXPECT_FALSE(proves_nonnegative(idx, lt(row, h))) << what;  // without the conditions it is not inside
    EXPECT_FALSE(proves_less(idx, n * 3 * h * w - 1, valid)) << what;
    expect_inside(((b * 3 + c) * (h + 2) + row + 1) * (w + 2) + col + 1, 1, n * 3 * (h + 2) * (w + 2), "stored padding, " + what);
  }
  Sint half = floordiv(w, 2), p = s.variable("p", 0, half - 1), q = s.variable("q", 0, 1), y = s.variable("y", 0, h - 1);
  expect_inside(y * w + p * 2 + q, 1, h * w, "pairs of columns");
  EXPECT_FALSE(proves_less(p * 2 + q + 1, w));
  Sint flat = s.variable("flat", 0, h * w - 1);
  expect_inside(floormod(flat, w) * h + floordiv(flat, w), 1, h * w, "transposed flat index");
  Sint up = s.variable("up", 0, w * 2);  // between the elements are zeros
  expect_inside(floordiv(up - 1, 2), ands({ge(up, 1), lt(floormod(up + 1, 2), 1), lt(up, w * 2)}), w, "transposed convolution");
  EXPECT_TRUE(proves_nonnegative(h * w - h - w));
  EXPECT_FALSE(proves_nonnegative(h * w - h * 9));
}

// Several layers, each with its own windows along both open axes: the accesses of each to the output of the previous one, which is
// stored without its padding and read with it.
TEST(Prove, ChainsOfWindows) {
  std::mt19937 rng(1);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng); };
  for (int round = 0; round < test::rounds(200); round++) {
    Symbols s;
    Sint n = s.variable("N", 1, 4), h = s.variable("H", 16, 320), w = s.variable("W", 24, 320);
    Sint b = s.variable("b", 0, n - 1), c = s.variable("c", 0, 7);
    std::string history;
    for (int layer = 0; layer < 4 && h.min() >= 4 && w.min() >= 4; layer++) {
      if (pick(0, 3) == 0) {  // a transposed convolution
        const int up = pick(1, 3), more = pick(0, 3);
        h = h * up + more, w = w * 2;
        history += " up " + std::to_string(up) + "+" + std::to_string(more);
        continue;
      }
      const int kh = pick(1, 4), kw = pick(1, 4), sh = pick(1, 3), sw = pick(1, 3);
      const int top = pick(0, kh - 1), bottom = pick(0, kh - 1), left = pick(0, kw - 1), right = pick(0, kw - 1);
      for (int v : {kh, sh, top, bottom, kw, sw, left, right}) history += " " + std::to_string(v);
      history += ";";
      const Sint rows = floordiv(h + (top + bottom - kh), sh) + 1, columns = floordiv(w + (left + right - kw), sw) + 1;
      const ShapeTracker padded = ShapeTracker::from_shape({n, 8, h, w}).pad({{0, 0}, {0, 0}, {top, bottom}, {left, right}});
      const std::vector<Sint> step = strides_for_shape(padded.shape());
      std::vector<View> views = padded.views();
      views.push_back(
          View::create({n, 8, rows, columns, kh, kw}, std::vector<Sint>{step[0], step[1], step[2] * sh, step[3] * sw, step[2], step[3]}));
      const auto index = [&](const char* name, const Sint& size) {
        return size.is_int(1) ? Sint(0) : s.variable(name + std::to_string(layer), 0, size - 1);
      };
      const ShapeTracker::Index at =
          ShapeTracker(views).simplify().expr_idxs({b, c, index("y", rows), index("x", columns), index("ky", kh), index("kx", kw)});
      expect_inside(at.idx, at.valid, n * 8 * h * w, history);
      h = rows, w = columns;
    }
  }
}

// Whatever is proved is true for all values: random sums of products of two open sizes, indices below them and quotients, under random
// conditions.
TEST(Prove, RandomPolynomialsAreProvedIfAndOnlyIfTheyHold) {
  std::mt19937 rng(3);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng); };
  int proved = 0, held = 0;
  for (int round = 0; round < 400; round++) {
    Symbols s;
    Sint h = s.variable("h", pick(1, 2), 4), w = s.variable("w", pick(1, 3), 5);
    const int more = pick(0, 2), step = pick(2, 3);  // each by itself: the order of arguments is the compiler's
    Sint out = floordiv(w + more, step) + 1;
    Sint y = s.variable("y", 0, h - 1), x = s.variable("x", 0, out - 1), f = s.variable("f", 0, h * w - 1);
    const Sint atoms[] = {h, w, y, x, f, out, floordiv(f, w), floormod(f, w), floordiv(x + pick(0, 3), 2), h * w, y * w, x * h};
    const auto random_sum = [&] {
      Sint sum = pick(-3, 6);
      for (int k = pick(1, 4); k > 0; k--) {
        const int atom = pick(0, 11), factor = pick(-2, 3);
        sum += atoms[atom] * factor;
      }
      return sum;
    };
    const Sint expr = random_sum();
    std::vector<Sint> conditions;
    for (int k = pick(0, 2); k > 0; k--) conditions.push_back(ge(random_sum(), 0));
    const Sint valid = ands(conditions);
    const bool is_proved = proves_nonnegative(expr, valid);
    proved += is_proved;
    bool holds = true;
    std::map<std::string, std::int64_t> v;
    for (v["h"] = 1; v["h"] <= 4; v["h"]++)
      for (v["w"] = 1; v["w"] <= 5; v["w"]++)
        for (v["y"] = 0; v["y"] < v["h"]; v["y"]++)
          for (v["x"] = 0; v["x"] < evaluate(out, v); v["x"]++)
            for (v["f"] = 0; v["f"] < v["h"] * v["w"]; v["f"]++) {
              if (v["h"] < h.min() || v["w"] < w.min() || evaluate(valid, v) == 0) continue;
              holds = holds && evaluate(expr, v) >= 0;
            }
    held += holds;
    ASSERT_TRUE(holds || !is_proved) << "round " << round << ": " << to_text(expr) << " where " << to_text(valid);
  }
  EXPECT_EQ(held, 220);
  EXPECT_EQ(proved, held) << "all that hold are proved";
}

TEST(Prove, TheLeastSizeThatWorks) {
  Symbols s;
  Sint t = s.variable("T", 1, 8), w = s.variable("W", 1, 8);
  EXPECT_EQ(least_value(t - 3), 3);
  EXPECT_EQ(least_value(floordiv(t + 1, 2) - 3), 5);
  EXPECT_EQ(least_value(t), 1);
  EXPECT_EQ(least_value(t - 9), std::nullopt);  // none
  EXPECT_EQ(least_value(3 - t), std::nullopt);  // no value from which on
  EXPECT_EQ(least_value(t - w), std::nullopt);
  EXPECT_EQ(ranges_text({t - w, w * 2}), "T is 1..8, W is 1..8");
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
    for (std::size_t k = 0; k < r.st.shape().size(); k++) {
      idxs.push_back(r.st.shape()[k].is_int(1) ? Sint(0) : s.variable("idx" + std::to_string(k), 0, r.st.shape()[k] - 1));
    }
    ShapeTracker::Index at = r.st.expr_idxs(idxs);
    expect_inside(at.idx, at.valid, r.st.real_size(), r.what);
    EXPECT_LE(r.st.real_size(), 2352) << r.what;
  }
}

}  // namespace
}  // namespace etch
