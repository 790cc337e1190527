#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif
/* In each lane: sum + the products of 4 elements of a and b. */
static inline void etch_vpdpbusd_a(etch_u32x16 *sum, const etch_u8x4 *a, const etch_i8x64 *b) {
#if defined(__AVX512VNNI__)
  uint32_t a_bits;
  etch_u32x16 a_all = {0};
  memcpy(&a_bits, a, sizeof a_bits);
  a_all = a_all + a_bits;
  *sum = (etch_u32x16)_mm512_dpbusd_epi32((__m512i)(*sum), (__m512i)a_all, (__m512i)(*b));
#else
  int i;
  for (i = 0; i < 64; i++)
    (*sum)[i / 4] += (uint32_t)((*a)[i % 4] * (*b)[i]);
#endif
}

static void dot_product(void *const *arg) {
  int32_t *const out = (int32_t *)arg[0];
  const uint8_t *const x = (const uint8_t *)arg[1];
  const int8_t *const y = (const int8_t *)arg[2];
  etch_u32x16 acc_m0 = {0}, acc_m1 = {0};
  const etch_i8x64 y_value = *(const etch_i8x64_u *)&y[0];
  const etch_u8x4 x_value = *(const etch_u8x4_u *)&x[0];
  etch_vpdpbusd_a(&acc_m0, &x_value, &y_value);
  const etch_u8x4 x_value_2 = *(const etch_u8x4_u *)&x[8];
  etch_vpdpbusd_a(&acc_m1, &x_value_2, &y_value);
  const etch_i8x64 y_value_2 = *(const etch_i8x64_u *)&y[64];
  const etch_u8x4 x_value_3 = *(const etch_u8x4_u *)&x[4];
  etch_vpdpbusd_a(&acc_m0, &x_value_3, &y_value_2);
  const etch_u8x4 x_value_4 = *(const etch_u8x4_u *)&x[12];
  etch_vpdpbusd_a(&acc_m1, &x_value_4, &y_value_2);
  int32_t tile[32];
  *(etch_u32x16_u *)&tile[0] = acc_m0; *(etch_u32x16_u *)&tile[16] = acc_m1;
  for (int lane = 0; lane < 16; lane++) {
    out[lane] = tile[lane]; out[lane + 16] = tile[lane + 16];
  }
}
