// etch_requantise and the saturating functions of etch_quant.h: as this processor has them, and as a core without FPU does.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "etch_quant.h"

namespace soft {
#undef ETCH_QUANT_H
#undef ETCH_SOFT_FLOAT
#define ETCH_SOFT_FLOAT 1
#include "etch_quant.h"
}  // namespace soft

namespace {

// The definition, each step rounded to float.
std::int32_t wanted(std::int32_t v, float m) {
  const volatile float value = static_cast<float>(v), product = value * m;
  return static_cast<std::int32_t>(std::rint(product));
}

struct Count {
  int tried = 0, ties = 0;
};

void expect_same(std::int32_t v, float m, Count& count) {
  const volatile float product = static_cast<float>(v) * m;
  if (!(std::fabs(product) <= 0x1p30f)) return;
  count.tried++;
  count.ties += std::fabs(product - std::trunc(product)) == 0.5f ? 1 : 0;
  ASSERT_EQ(etch_requantise(v, m), wanted(v, m)) << v << " * " << m;
  ASSERT_EQ(soft::etch_requantise(v, m), wanted(v, m)) << v << " * " << m << " without FPU";
}

// Random values, and those whose product is near a tie, where both roundings count.
TEST(Requantise, RoundsTwice) {
  std::mt19937_64 rng(3);
  Count count;
  for (int i = 0; i < 2000000; i++) {
    float m = std::ldexp(1.0f + static_cast<float>(rng() & 0x7fffff) / 8388608.0f, static_cast<int>(rng() % 60) - 50);
    if (rng() % 4 == 0) m = std::ldexp(static_cast<float>(rng() % 64 + 1), static_cast<int>(rng() % 60) - 50);
    std::int64_t v = static_cast<std::int32_t>(rng());
    if (rng() % 2 == 0) {
      const double tie = (static_cast<double>(rng() % 1024) - 512 + 0.5) / static_cast<double>(m);
      if (!(std::fabs(tie) < 2147483000.0)) continue;
      v = static_cast<std::int64_t>(tie) + static_cast<std::int64_t>(rng() % 3) - 1;
    }
    expect_same(static_cast<std::int32_t>(v), m, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.tried, 1000000);
  EXPECT_GT(count.ties, 50000);
}

TEST(Requantise, TakesItsWholeRange) {
  Count count;
  for (const float m : {std::numeric_limits<float>::min(), 0x1p-64f, 0x1.fffffep-33f, 0x1p-31f, 0x1.8p-9f, 1.0f, 0x1p22f})
    for (const std::int32_t v : {0, 1, -1, 127, -128, 16777215, 16777216, 16777217, -16777217, 33554433, INT32_MAX, INT32_MIN})
      expect_same(v, m, count);
  EXPECT_GT(count.tried, 50);
}

// Each lane of the functions of vectors is what the functions of numbers give.
template <class U, class F, class Max, class Min, class All, class Requantise, class Rint, class ToInt>
void expect_lanes(int n, Max max, Min min, All all, Requantise requantise, Rint rint, ToInt to_int) {
  std::mt19937 rng(5);
  const std::int32_t edges[] = {0, 1, -1, 127, -128, 8388607, -8388608, INT32_MAX, INT32_MIN};
  for (int round = 0; round < 2000; round++) {
    U a = {}, b = {};
    F m = {}, x = {};
    for (int i = 0; i < n; i++) {
      a[i] = rng() % 2 == 0 ? static_cast<std::uint32_t>(edges[rng() % 9]) : static_cast<std::uint32_t>(rng());
      b[i] = rng() % 2 == 0 ? a[i] : static_cast<std::uint32_t>(rng());
      m[i] = std::ldexp(1.0f + static_cast<float>(rng() & 0x7fffff) / 8388608.0f, -2 - static_cast<int>(rng() % 30));
      x[i] = std::ldexp(static_cast<float>(rng() % 4096) - 2048.0f, static_cast<int>(rng() % 40) - 12);
    }
    const U larger = max(a, b), smaller = min(a, b), same = all(static_cast<std::int32_t>(a[0])), scaled = requantise(a, m),
            whole = to_int(x);
    const F rounded = rint(x);
    for (int i = 0; i < n; i++) {
      const auto va = static_cast<std::int32_t>(a[i]), vb = static_cast<std::int32_t>(b[i]);
      ASSERT_EQ(static_cast<std::int32_t>(larger[i]), std::max(va, vb));
      ASSERT_EQ(static_cast<std::int32_t>(smaller[i]), std::min(va, vb));
      ASSERT_EQ(same[i], a[0]);
      ASSERT_EQ(static_cast<std::int32_t>(scaled[i]), wanted(va, m[i])) << va << " * " << m[i];
      ASSERT_EQ(rounded[i], std::rint(x[i]));
      ASSERT_EQ(static_cast<std::int32_t>(whole[i]), etch_f32_to_i32(x[i]));
    }
  }
}

TEST(Lanes, AreWhatNumbersAre) {
  expect_lanes<etch_u32x4, etch_f32x4>(4, etch_max_u32x4, etch_min_u32x4, etch_all_u32x4, etch_requantise_x4, etch_rint_f32x4,
                                       etch_f32_to_u32x4);
#if defined(__AVX512F__)
  expect_lanes<etch_u32x16, etch_f32x16>(16, etch_max_u32x16, etch_min_u32x16, etch_all_u32x16, etch_requantise_x16, etch_rint_f32x16,
                                         etch_f32_to_u32x16);
#endif
  const std::int8_t bytes[] = {-128, 1, 2, 127, 5};
  const etch_i8x4 other = etch_all_i8x4(-7), read = etch_load_if_i8x4(true, bytes + 1, other),
                  left = etch_load_if_i8x4(false, bytes, other);
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(read[i], bytes[i + 1]);
    EXPECT_EQ(left[i], -7);
  }
}

TEST(Saturate, GivesTheNearestValueOfTheType) {
  const auto nearest = [](std::int32_t x, std::int32_t low, std::int32_t high) { return x < low ? low : x > high ? high : x; };
  for (const std::int32_t around : {0, 127, -128, 255, 32767, -32768, 65535, INT32_MAX - 3, INT32_MIN + 3})
    for (std::int32_t d = -3; d <= 3; d++) {
      const std::int32_t x = around + d;
      EXPECT_EQ(etch_saturate_i8(x), nearest(x, -128, 127));
      EXPECT_EQ(etch_saturate_u8(x), nearest(x, 0, 255));
      EXPECT_EQ(etch_saturate_i16(x), nearest(x, -32768, 32767));
      EXPECT_EQ(etch_saturate_u16(x), nearest(x, 0, 65535));
    }
}

}  // namespace
