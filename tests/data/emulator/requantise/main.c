/* etch_requantise, of numbers and in lanes, beside the C library's rounding to the nearest, ties to even: of ties, of their neighbours, and
 * of numbers of all sizes. Prints how many were compared. */
#include "etch_quant.h"

#include <math.h>
#include <stdio.h>

static long count, wrong;

static void check(int32_t v, float m) {
  const volatile float product = (float)v * m;
  const int32_t expected = (int32_t)lrintf(product);
  etch_u32x8 values = {0};
  etch_f32x8 factors = {0.0f};
  etch_u32x4 four = {0};
  etch_f32x4 four_factors = {0.0f};
  int lane;
  for (lane = 0; lane < 8; lane++) {
    values[lane] = (uint32_t)(lane % 2 != 0 ? -v : v);
    factors[lane] = m;
  }
  for (lane = 0; lane < 4; lane++) {
    four[lane] = values[lane];
    four_factors[lane] = m;
  }
  values = etch_requantise_x8(values, factors);
  four = etch_requantise_x4(four, four_factors);
  if (etch_requantise(v, m) != expected) wrong++;
  for (lane = 0; lane < 8; lane++)
    if ((int32_t)values[lane] != (lane % 2 != 0 ? -expected : expected) || (lane < 4 && four[lane] != values[lane])) wrong++;
  count++;
}

int main(void) {
  uint32_t seed = 1;
  int i;
  for (i = -2000; i <= 2000; i++) {
    check(i, 0.5f); /* each second one is a tie */
    check(i, 0.25f);
    check(i, 0.49999997f);
    check(i, 0.50000006f);
    check(i, 1.0f / 3.0f);
  }
  for (i = 0; i < 20000; i++) {
    seed = seed * 1664525u + 1013904223u;
    check((int32_t)seed >> (i % 24), 0.25f / (float)(1 + i % 4096)); /* products of at most 2^29 */
  }
  printf("%ld compared\n", count);
  return wrong == 0 ? 0 : 1;
}
