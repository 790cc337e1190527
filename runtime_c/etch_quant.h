/* Steps of quantised arithmetic that emitted kernels use: rounding of products, saturation, and parts of dot products. The same text is C99,
 * C++, OpenCL C and CUDA. Nothing here is undefined for what its comment allows, and no function uses double. */
#ifndef ETCH_QUANT_H
#define ETCH_QUANT_H

#if !defined(ETCH_MATH_H) /* where there are no files to include it stands in front */
#include "etch_math.h"
#endif
#if (defined(__ARM_FEATURE_SAT) || defined(__ARM_FEATURE_SIMD32)) && !defined(__aarch64__)
#include <arm_acle.h>
#endif

/* No instruction computes with floats. */
#if !defined(ETCH_SOFT_FLOAT)
#if defined(__SOFTFP__) || (defined(__riscv) && !defined(__riscv_flen)) || defined(__AVR__)
#define ETCH_SOFT_FLOAT 1
#else
#define ETCH_SOFT_FLOAT 0
#endif
#endif

/* etch_rint_i32(v * m), v and the product rounded to float, for 0 < m <= 2^22 and a product of at most 2^30. */
#if defined(__OPENCL_VERSION__)
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) { return (int32_t)rint((float)v * m); }
#elif ETCH_SOFT_FLOAT
/* x / 2^n, rounded to the nearest, ties to even; 0 < n < 64, x < 2^62. */
ETCH_INLINE uint64_t etch_shift_rounded(uint64_t x, int n) {
  return (x + (UINT64_C(1) << (n - 1)) - 1 + (x >> n & 1)) >> n;
}
/* x, below 2^62, with the 24 bits that a float has. */
ETCH_INLINE uint64_t etch_float_rounded(uint64_t x) {
  int n = 0, i;
  for (i = 0; i < 4; i++) n += x >> n >> 31 != 0 ? 8 : 0;
  for (i = 0; i < 7; i++) n += x >> n >> 24 != 0;
  return n > 0 ? etch_shift_rounded(x, n) << n : x;
}
/* |v| * m24 / 2^n with both roundings; 0 < n. */
ETCH_INLINE uint32_t etch_requantise_exactly(uint32_t v, uint32_t m24, int n) {
  const uint64_t product = etch_float_rounded(etch_float_rounded(v) * m24);
  return (uint32_t)(n < 64 ? etch_shift_rounded(product, n) : 0);
}
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) {
  const uint32_t bits = etch_f32_bits(m), m24 = (bits & 0x7fffffu) | 0x800000u;
  const int n = 150 - (int)(bits >> 23); /* m is m24 / 2^n */
  const uint32_t size = v < 0 ? 0 - (uint32_t)v : (uint32_t)v;
  int is_clear = 0;
  uint32_t q = 0;
  if (size < 0x1000000u && n > 8 && n < 64) {
    /* In units of 1/256. A small product that is no neighbour of a tie is rounded as if nothing had been rounded before. */
    const uint64_t fine = (uint64_t)size * m24 >> (n - 8);
    is_clear = fine < 0x400000u && ((uint32_t)fine & 0xffu) - 0x7fu > 1u;
    q = ((uint32_t)fine + 0x80u) >> 8;
  }
  if (!is_clear) q = etch_requantise_exactly(size, m24, n);
  return v < 0 ? -(int32_t)q : (int32_t)q;
}
#elif defined(__ARM_FP) && defined(__GNUC__) && !defined(__aarch64__)
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) {
  float n; /* the bits of an int32; no function of C stands for this instruction alone */
  __asm("vcvtr.s32.f32 %0, %1" : "=t"(n) : "t"((float)v * m));
  return (int32_t)etch_f32_bits(n);
}
#elif defined(__riscv_flen) && defined(__GNUC__)
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) {
  int32_t n; /* C's lrintf is a call, as it may set errno */
  __asm("fcvt.w.s %0, %1, rne" : "=r"(n) : "f"((float)v * m));
  return n;
}
#elif ETCH_ROUNDS
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) { return (int32_t)rintf((float)v * m); }
#else
ETCH_INLINE int32_t etch_requantise(int32_t v, float m) { return etch_rint_i32((float)v * m); }
#endif

#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(ETCH_CUDA)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi" /* of functions that are always inlined */
/* The same in each lane. Where no instruction does a step in all lanes, compilers make of a loop what they can. */
#if defined(__clang__)
#define ETCH_LANES_MAX(n, a, b) ((etch_u32x##n)__builtin_elementwise_max((etch_i32x##n)(a), (etch_i32x##n)(b)))
#define ETCH_LANES_MIN(n, a, b) ((etch_u32x##n)__builtin_elementwise_min((etch_i32x##n)(a), (etch_i32x##n)(b)))
#else
#define ETCH_LANES_LESS(n, a, b) ((etch_u32x##n)((etch_i32x##n)(a) < (etch_i32x##n)(b)))
#define ETCH_LANES_MAX(n, a, b) (((b) & ETCH_LANES_LESS(n, a, b)) | ((a) & ~ETCH_LANES_LESS(n, a, b)))
#define ETCH_LANES_MIN(n, a, b) (((a) & ETCH_LANES_LESS(n, a, b)) | ((b) & ~ETCH_LANES_LESS(n, a, b)))
#endif
#define ETCH_LOADS(type, name, n)                                                                                      \
  ETCH_INLINE etch_##name##x##n etch_all_##name##x##n(type v) { const etch_##name##x##n zero = {0}; return zero + v; } \
  ETCH_INLINE etch_##name##x##n etch_load_if_##name##x##n(bool is, const type *at, etch_##name##x##n other) {          \
    if (is) other = *(const etch_##name##x##n##_u *)at;                                                                \
    return other;                                                                                                      \
  }
#define ETCH_LANES(n)                                                                                                \
  ETCH_INLINE etch_u32x##n etch_all_u32x##n(int32_t v) { const etch_u32x##n zero = {0}; return zero + (uint32_t)v; } \
  ETCH_INLINE etch_u32x##n etch_load_if_u32x##n(bool is, const int32_t *at, etch_u32x##n other) {                    \
    if (is) other = *(const etch_u32x##n##_u *)at;                                                                   \
    return other;                                                                                                    \
  }                                                                                                                  \
  ETCH_INLINE etch_u32x##n etch_max_u32x##n(etch_u32x##n a, etch_u32x##n b) { return ETCH_LANES_MAX(n, a, b); }      \
  ETCH_INLINE etch_u32x##n etch_min_u32x##n(etch_u32x##n a, etch_u32x##n b) { return ETCH_LANES_MIN(n, a, b); }      \
  ETCH_INLINE etch_f32x##n etch_rint_f32x##n(etch_f32x##n v) {                                                       \
    int i;                                                                                                           \
    for (i = 0; i < n; i++) v[i] = ETCH_RINT_F32(v[i]);                                                              \
    return v;                                                                                                        \
  }                                                                                                                  \
  ETCH_INLINE etch_u32x##n etch_f32_to_u32x##n(etch_f32x##n v) {                                                     \
    etch_u32x##n r = {0};                                                                                            \
    int i;                                                                                                           \
    for (i = 0; i < n; i++) r[i] = (uint32_t)etch_f32_to_i32(v[i]);                                                  \
    return r;                                                                                                        \
  }                                                                                                                  \
  ETCH_LOADS(int16_t, i16, n)                                                                                        \
  ETCH_LOADS(uint16_t, u16, n)
#define ETCH_REQUANTISE(n)                                                         \
  ETCH_INLINE etch_u32x##n etch_requantise_x##n(etch_u32x##n v, etch_f32x##n m) {  \
    int i;                                                                         \
    for (i = 0; i < n; i++) v[i] = (uint32_t)etch_requantise((int32_t)v[i], m[i]); \
    return v;                                                                      \
  }
/* Integers of other sizes, modulo 2^bits. GCC 12 converts vectors of bytes one by one, lists of the same by an instruction. */
#if defined(__clang__)
#define ETCH_CONVERT(type, to, n) return __builtin_convertvector(v, etch_##to##x##n);
#else
#define ETCH_LIST_4(type, l) (type)v[l], (type)v[l + 1], (type)v[l + 2], (type)v[l + 3]
#define ETCH_LIST_8(type, l) ETCH_LIST_4(type, l), ETCH_LIST_4(type, l + 4)
#define ETCH_LIST_16(type, l) ETCH_LIST_8(type, l), ETCH_LIST_8(type, l + 8)
#define ETCH_CONVERT(type, to, n) const etch_##to##x##n converted = {ETCH_LIST_##n(type, 0)}; return converted;
#endif
#define ETCH_CONVERSION(from, type, to, n) \
  ETCH_INLINE etch_##to##x##n etch_##from##_to_##to##x##n(etch_##from##x##n v) { ETCH_CONVERT(type, to, n) }
#define ETCH_CONVERSIONS(n)                                                           \
  ETCH_CONVERSION(i8, uint32_t, u32, n) ETCH_CONVERSION(u32, int8_t, i8, n)           \
  ETCH_CONVERSION(u8, uint32_t, u32, n) ETCH_CONVERSION(u32, uint8_t, u8, n)          \
  ETCH_CONVERSION(i16, uint32_t, u32, n) ETCH_CONVERSION(u32, int16_t, i16, n)        \
  ETCH_CONVERSION(u16, uint32_t, u32, n) ETCH_CONVERSION(u32, uint16_t, u16, n)       \
  ETCH_CONVERSION(i8, int16_t, i16, n) ETCH_CONVERSION(i16, int8_t, i8, n)            \
  ETCH_CONVERSION(i8, uint16_t, u16, n) ETCH_CONVERSION(u16, int8_t, i8, n)           \
  ETCH_CONVERSION(u8, int16_t, i16, n) ETCH_CONVERSION(i16, uint8_t, u8, n)           \
  ETCH_CONVERSION(u8, uint16_t, u16, n) ETCH_CONVERSION(u16, uint8_t, u8, n)
ETCH_CONVERSIONS(4)
ETCH_CONVERSIONS(8)
ETCH_CONVERSIONS(16)
ETCH_LANES(4)
ETCH_LANES(8)
ETCH_LANES(16)
ETCH_LOADS(int8_t, i8, 8)
ETCH_LOADS(uint8_t, u8, 8)
ETCH_LOADS(int8_t, i8, 16)
ETCH_LOADS(uint8_t, u8, 16)
ETCH_LOADS(int8_t, i8, 32)
ETCH_LOADS(uint8_t, u8, 32)
ETCH_LOADS(int8_t, i8, 64)
ETCH_LOADS(uint8_t, u8, 64)
#if defined(__riscv_v_fixed_vlen) && __riscv_v_fixed_vlen == 256 && defined(__clang__)
#include <riscv_vector.h>
/* In a register or half of one. */
#define ETCH_REQUANTISE_IN(n, part)                                                                                    \
  typedef vfloat32##part##_t etch_register_f32x##n __attribute__((riscv_rvv_vector_bits(32 * n)));                     \
  typedef vint32##part##_t etch_register_i32x##n __attribute__((riscv_rvv_vector_bits(32 * n)));                       \
  ETCH_INLINE etch_u32x##n etch_requantise_x##n(etch_u32x##n v, etch_f32x##n m) {                                      \
    const etch_f32x##n product = __builtin_convertvector((etch_i32x##n)v, etch_f32x##n) * m;                           \
    return (etch_u32x##n)(etch_register_i32x##n)__riscv_vfcvt_x_f_v_i32##part((etch_register_f32x##n)product, n);      \
  }
ETCH_REQUANTISE_IN(8, m1)
#else
ETCH_REQUANTISE(8)
#endif
ETCH_REQUANTISE(16)
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && defined(__clang__)
#include <arm_mve.h>
ETCH_INLINE etch_u32x4 etch_requantise_x4(etch_u32x4 v, etch_f32x4 m) {
  return (etch_u32x4)vcvtnq_s32_f32((float32x4_t)(__builtin_convertvector((etch_i32x4)v, etch_f32x4) * m));
}
ETCH_INLINE etch_i8x4 etch_all_i8x4(int8_t v) {
  const etch_i8x4 zero = {0};
  return zero + v;
}
ETCH_INLINE etch_u8x4 etch_all_u8x4(uint8_t v) {
  const etch_u8x4 zero = {0};
  return zero + v;
}
/* Predicated: nothing is read where it is not wanted, and no branch keeps vectors alive. */
ETCH_INLINE etch_i8x4 etch_load_if_i8x4(bool is, const int8_t *at, etch_i8x4 other) {
  const mve_pred16_t wanted = is ? 0xffff : 0;
  const int32x4_t others = (int32x4_t)__builtin_convertvector(other, etch_i32x4);
  return __builtin_convertvector((etch_i32x4)vpselq_s32(vldrbq_z_s32(at, wanted), others, wanted), etch_i8x4);
}
ETCH_INLINE etch_u8x4 etch_load_if_u8x4(bool is, const uint8_t *at, etch_u8x4 other) {
  const mve_pred16_t wanted = is ? 0xffff : 0;
  const uint32x4_t others = (uint32x4_t)__builtin_convertvector(other, etch_u32x4);
  return __builtin_convertvector((etch_u32x4)vpselq_u32(vldrbq_z_u32(at, wanted), others, wanted), etch_u8x4);
}
#else
#if defined(__aarch64__)
#include <arm_neon.h>
ETCH_INLINE etch_u32x4 etch_requantise_x4(etch_u32x4 v, etch_f32x4 m) {
  return (etch_u32x4)vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32((int32x4_t)v), (float32x4_t)m));
}
#elif defined(ETCH_REQUANTISE_IN)
ETCH_REQUANTISE_IN(4, mf2)
#else
ETCH_REQUANTISE(4)
#endif
ETCH_LOADS(int8_t, i8, 4)
ETCH_LOADS(uint8_t, u8, 4)
#endif
#pragma GCC diagnostic pop
#endif

#if defined(__ARM_FEATURE_SIMD32) && !defined(__aarch64__)
/* ACLE's types of words differ in their sign; no conversion changes a bit. */
ETCH_INLINE int32_t etch_smlad(uint32_t a, uint32_t b, int32_t sum) { return __smlad((int32_t)a, (int32_t)b, sum); }
ETCH_INLINE uint32_t etch_sxtb16(uint32_t x) { return (uint32_t)__sxtb16((int32_t)x); }
ETCH_INLINE uint32_t etch_uxtb16(uint32_t x) { return (uint32_t)__uxtb16(x); }
/* Bytes 1 and 3 as two 16-bit numbers. Compilers offer the instruction only without its rotation. */
#if defined(__GNUC__)
ETCH_INLINE uint32_t etch_sxtb16_odd(uint32_t x) {
  uint32_t y;
  __asm("sxtb16 %0, %1, ror #8" : "=r"(y) : "r"(x));
  return y;
}
ETCH_INLINE uint32_t etch_uxtb16_odd(uint32_t x) {
  uint32_t y;
  __asm("uxtb16 %0, %1, ror #8" : "=r"(y) : "r"(x));
  return y;
}
#else
ETCH_INLINE uint32_t etch_sxtb16_odd(uint32_t x) { return etch_sxtb16(x >> 8); }
ETCH_INLINE uint32_t etch_uxtb16_odd(uint32_t x) { return etch_uxtb16(x >> 8); }
#endif
#if defined(__GNUC__) /* else two words are not loaded by one instruction */
#define ETCH_WORD_ALIGNED(p) __builtin_assume_aligned(p, 4)
#else
#define ETCH_WORD_ALIGNED(p) (p)
#endif
/* Of bytes a of one sign:
 * etch_smlad_s8_pairs: sum + the products of bytes 0 and 2 with the first two of four weights, which lie in two whole words, and of bytes
 * 1 and 3 with the others;
 * etch_smlad_s8_words: sum + the products of eight bytes with eight weights, which lie in two whole words. */
#define ETCH_SMLAD(pairs, words, type, even_bytes, odd_bytes)                                                                    \
  ETCH_INLINE int32_t pairs(int32_t sum, const type *a, const int16_t *b) {                                                      \
    uint32_t bytes, even, odd;                                                                                                   \
    memcpy(&bytes, a, sizeof bytes);                                                                                             \
    memcpy(&even, ETCH_WORD_ALIGNED(b), sizeof even);                                                                            \
    memcpy(&odd, ETCH_WORD_ALIGNED(b + 2), sizeof odd);                                                                          \
    return etch_smlad(odd_bytes(bytes), odd, etch_smlad(even_bytes(bytes), even, sum));                                          \
  }                                                                                                                              \
  ETCH_INLINE int32_t words(int32_t sum, const type *a, const int8_t *b) {                                                       \
    uint32_t first, second, w, w_second;                                                                                         \
    memcpy(&first, a, sizeof first);                                                                                             \
    memcpy(&second, a + 4, sizeof second);                                                                                       \
    memcpy(&w, ETCH_WORD_ALIGNED(b), sizeof w);                                                                                  \
    memcpy(&w_second, ETCH_WORD_ALIGNED(b + 4), sizeof w_second);                                                                \
    sum = etch_smlad(odd_bytes(first), etch_sxtb16_odd(w), etch_smlad(even_bytes(first), etch_sxtb16(w), sum));                  \
    return etch_smlad(odd_bytes(second), etch_sxtb16_odd(w_second), etch_smlad(even_bytes(second), etch_sxtb16(w_second), sum)); \
  }
ETCH_SMLAD(etch_smlad_s8_pairs, etch_smlad_s8_words, int8_t, etch_sxtb16, etch_sxtb16_odd)
ETCH_SMLAD(etch_smlad_u8_pairs, etch_smlad_u8_words, uint8_t, etch_uxtb16, etch_uxtb16_odd)
#endif

/* The nearest value of the type. */
#if defined(__ARM_FEATURE_SAT) && !defined(__aarch64__)
#if defined(__GNUC__) /* GCC's macro __ssat converts to another sign without a cast */
#define ETCH_SSAT(x, bits) __builtin_arm_ssat(x, bits)
#else
#define ETCH_SSAT(x, bits) __ssat(x, bits)
#endif
ETCH_INLINE int8_t etch_saturate_i8(int32_t x) { return (int8_t)ETCH_SSAT(x, 8); }
ETCH_INLINE uint8_t etch_saturate_u8(int32_t x) { return (uint8_t)__usat(x, 8); }
ETCH_INLINE int16_t etch_saturate_i16(int32_t x) { return (int16_t)ETCH_SSAT(x, 16); }
ETCH_INLINE uint16_t etch_saturate_u16(int32_t x) { return (uint16_t)__usat(x, 16); }
#else
ETCH_INLINE int8_t etch_saturate_i8(int32_t x) { return (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x); }
ETCH_INLINE uint8_t etch_saturate_u8(int32_t x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }
ETCH_INLINE int16_t etch_saturate_i16(int32_t x) { return (int16_t)(x < -32768 ? -32768 : x > 32767 ? 32767 : x); }
ETCH_INLINE uint16_t etch_saturate_u16(int32_t x) { return (uint16_t)(x < 0 ? 0 : x > 65535 ? 65535 : x); }
#endif

#endif
