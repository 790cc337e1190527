/* Arithmetic that emitted kernels use where C leaves a result undefined, or where a C library would compute in double. The
 * same text is C99, C++, OpenCL C and CUDA. Nothing here is undefined for any input, and no function of float uses double.
 *
 *   etch_f32_to_i8 ...      float to integer: truncates, wraps modulo 2^bits; NaN and infinity give 0
 *   etch_div_i32 ...        x / 0 = 0, INT_MIN / -1 = INT_MIN;  etch_mod_i32: x % 0 = 0
 *   etch_shl_i32 ...        shifts by any amount
 *   etch_half_to_float ...  IEEE binary16 and bfloat16 as bits; rounding to nearest even
 *   etch_exp2f ...          exp2, log2, pow, log, log1p, asinh, acosh, atanh in float
 */
#ifndef ETCH_MATH_H
#define ETCH_MATH_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__)
#define ETCH_CUDA
#endif

#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(ETCH_CUDA)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal" /* 0, infinity and NaN are compared with exactly */
#endif

#if defined(__OPENCL_VERSION__)
#define ETCH_INLINE static
typedef char int8_t; typedef uchar uint8_t;
typedef short int16_t; typedef ushort uint16_t;
typedef int int32_t; typedef uint uint32_t;
typedef long int64_t; typedef ulong uint64_t;
#define UINT64_C(x) x##UL
#define ETCH_FLOOR_F32(x) floor(x)
#define ETCH_SQRT_F32(x) sqrt(x)
ETCH_INLINE uint32_t etch_f32_bits(float x) { return as_uint(x); }
ETCH_INLINE float etch_f32_of_bits(uint32_t b) { return as_float(b); }
#if !defined(ETCH_NO_DOUBLE)
ETCH_INLINE uint64_t etch_f64_bits(double x) { return as_ulong(x); }
ETCH_INLINE double etch_f64_of_bits(uint64_t b) { return as_double(b); }
#endif
#elif defined(ETCH_CUDA)
#define ETCH_INLINE static __device__ inline
#if defined(__CUDACC_RTC__) || !defined(__CUDACC__) /* no files to include: the text is compiled by itself */
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
#define UINT64_C(x) x##ull
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#else
#include <math.h>
#include <stdint.h>
#endif
#define ETCH_FLOOR_F32(x) floorf(x)
#define ETCH_SQRT_F32(x) sqrtf(x)
ETCH_INLINE uint32_t etch_f32_bits(float x) { return (uint32_t)__float_as_int(x); }
ETCH_INLINE float etch_f32_of_bits(uint32_t b) { return __int_as_float((int)b); }
ETCH_INLINE uint64_t etch_f64_bits(double x) { return (uint64_t)__double_as_longlong(x); }
ETCH_INLINE double etch_f64_of_bits(uint64_t b) { return __longlong_as_double((long long)b); }
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define ETCH_INLINE static inline
#define ETCH_FLOOR_F32(x) floorf(x)
#define ETCH_SQRT_F32(x) sqrtf(x)
/* rintf, for C libraries without it. Where the last bit of a float is worth 1, a sum rounds; a zero keeps its sign. */
ETCH_INLINE float etch_rintf(float x) {
  const float large = x < 0.0f ? -8388608.0f : 8388608.0f; /* 2^23 */
  const volatile float sum = x + large;
  const float whole = sum - large;
  if (!(x < 0.0f || x > 0.0f) || x <= -8388608.0f || x >= 8388608.0f) return x;
  return x < 0.0f && whole >= 0.0f ? -0.0f : whole;
}
#if defined(__AVR__)
#define ETCH_RINT_F32(x) etch_rintf(x)
#else
#define ETCH_RINT_F32(x) rintf(x)
#endif
ETCH_INLINE uint32_t etch_f32_bits(float x) { uint32_t b; memcpy(&b, &x, sizeof b); return b; }
ETCH_INLINE float etch_f32_of_bits(uint32_t b) { float x; memcpy(&x, &b, sizeof x); return x; }
#if !defined(ETCH_NO_DOUBLE)
ETCH_INLINE uint64_t etch_f64_bits(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }
ETCH_INLINE double etch_f64_of_bits(uint64_t b) { double x; memcpy(&x, &b, sizeof x); return x; }
#endif
/* In front of a loop whose stores are far from each other: clang would make slow vectors of them. */
#if defined(__clang__)
#define ETCH_NO_VECTORS _Pragma("clang loop vectorize(disable)")
#else
#define ETCH_NO_VECTORS
#endif
#if defined(__GNUC__)
/* Vectors: etch_f32x4 has 4 floats, and so on; those that end in _u may lie anywhere in an array of such elements. Integers of 32 bits that
 * kernels compute with are unsigned ones, which wrap around; signed ones are the results of comparisons. */
#define ETCH_VECTOR(type, name, n)                                               \
  typedef type etch_##name##x##n __attribute__((vector_size(sizeof(type) * n))); \
  typedef type etch_##name##x##n##_u __attribute__((vector_size(sizeof(type) * n), aligned(sizeof(type)), may_alias));
#define ETCH_VECTORS(n)                                                                   \
  ETCH_VECTOR(float, f32, n)                                                              \
  ETCH_VECTOR(int32_t, i32, n) ETCH_VECTOR(int16_t, i16, n) ETCH_VECTOR(int8_t, i8, n)    \
  ETCH_VECTOR(uint32_t, u32, n) ETCH_VECTOR(uint16_t, u16, n) ETCH_VECTOR(uint8_t, u8, n)
/* Asks for what is read soon, in the cache of that level, 1 or 2. */
#define ETCH_PREFETCH(place, level) __builtin_prefetch((place), 0, 4 - (level))
/* Four vectors as columns, side by side from `to` on: element l of each lies l * `stride` further. In each four lanes pairs of two vectors,
 * then pairs of these, are rows of four. RISC-V has an instruction for elements that are far from each other instead. */
#if (defined(__clang__) || __GNUC__ >= 12) && !defined(__riscv)
#define ETCH_MIX_4(a, b, p, q, r, s) __builtin_shufflevector(a, b, p, q, r, s)
#define ETCH_MIX_8(a, b, p, q, r, s) __builtin_shufflevector(a, b, p, q, r, s, p + 4, q + 4, r + 4, s + 4)
#define ETCH_MIX_16(a, b, p, q, r, s) \
  __builtin_shufflevector(a, b, p, q, r, s, p + 4, q + 4, r + 4, s + 4, p + 8, q + 8, r + 8, s + 8, p + 12, q + 12, r + 12, s + 12)
#define ETCH_ROW(l, v, f) *(etch_f32x4_u *)(to + (l + f) * stride) = __builtin_shufflevector(v, v, f, f + 1, f + 2, f + 3);
#define ETCH_ROWS_4(l, v) ETCH_ROW(l, v, 0)
#define ETCH_ROWS_8(l, v) ETCH_ROW(l, v, 0) ETCH_ROW(l, v, 4)
#define ETCH_ROWS_16(l, v) ETCH_ROWS_8(l, v) ETCH_ROW(l, v, 8) ETCH_ROW(l, v, 12)
#define ETCH_STORE_COLUMNS(n)                                                                                            \
  const etch_f32x##n ab = ETCH_MIX_##n(a, b, 0, n, 1, n + 1), cd = ETCH_MIX_##n(c, d, 0, n, 1, n + 1);                   \
  const etch_f32x##n ab2 = ETCH_MIX_##n(a, b, 2, n + 2, 3, n + 3), cd2 = ETCH_MIX_##n(c, d, 2, n + 2, 3, n + 3);         \
  const etch_f32x##n row0 = ETCH_MIX_##n(ab, cd, 0, 1, n, n + 1), row1 = ETCH_MIX_##n(ab, cd, 2, 3, n + 2, n + 3);       \
  const etch_f32x##n row2 = ETCH_MIX_##n(ab2, cd2, 0, 1, n, n + 1), row3 = ETCH_MIX_##n(ab2, cd2, 2, 3, n + 2, n + 3);   \
  ETCH_ROWS_##n(0, row0) ETCH_ROWS_##n(1, row1) ETCH_ROWS_##n(2, row2) ETCH_ROWS_##n(3, row3)
#else
#define ETCH_STORE_COLUMNS(n) \
  for (int l = 0; l < n; l++) to[l * stride] = a[l], to[l * stride + 1] = b[l], to[l * stride + 2] = c[l], to[l * stride + 3] = d[l];
#endif
#define ETCH_COLUMNS(n)                                                                                                        \
  ETCH_INLINE void etch_store_columns_f32x##n(float *to, intptr_t stride, etch_f32x##n a, etch_f32x##n b, etch_f32x##n c, etch_f32x##n d) { \
    ETCH_STORE_COLUMNS(n)                                                                                                      \
  }
ETCH_VECTORS(4) ETCH_VECTORS(8) ETCH_VECTORS(16)
#if !defined(__OPENCL_C_VERSION__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi" /* of functions that are always inlined */
/* Where clang sees that what has to be greater is one number in all lanes, it compares by Helium's LT or LE, which are true of NaN, and it
 * takes x != x for false. What is hidden it does not see. A number less a vector of zeros is a vector. */
#if defined(__clang__) && defined(__ARM_FEATURE_MVE)
ETCH_INLINE etch_f32x4 etch_hide_f32x4(etch_f32x4 v) { __asm__("" : "=w"(v) : "0"(v)); return v; }
#define ETCH_HIDDEN_4(...) etch_hide_f32x4((__VA_ARGS__) - (etch_f32x4){0})
#else
#define ETCH_HIDDEN_4(...) (__VA_ARGS__)
#endif
#define ETCH_HIDDEN_8(...) (__VA_ARGS__)
#define ETCH_HIDDEN_16(...) (__VA_ARGS__)
/* One number in all lanes; in each lane a where `is` is -1, b where it is 0; `low` where a is below it, `high` where a is above, else a, NaN
 * or not; the larger and the smaller one, NaN if either is; square roots, an instruction where there is one. */
#define ETCH_FLOAT_LANES(n, higher, lower)                                                                                  \
  ETCH_INLINE etch_f32x##n etch_all_f32x##n(float v) { const etch_f32x##n zero = {0}; return v - zero; }                    \
  ETCH_INLINE etch_f32x##n etch_choose_f32x##n(etch_i32x##n is, etch_f32x##n a, etch_f32x##n b) {                           \
    return (etch_f32x##n)((is & (etch_i32x##n)a) | (~is & (etch_i32x##n)b)); }                                              \
  ETCH_INLINE etch_f32x##n etch_at_least_f32x##n(etch_f32x##n a, etch_f32x##n low) { return higher; }                       \
  ETCH_INLINE etch_f32x##n etch_at_most_f32x##n(etch_f32x##n a, etch_f32x##n high) { return lower; }                        \
  ETCH_INLINE etch_f32x##n etch_max_f32x##n(etch_f32x##n a, etch_f32x##n b) {                                               \
    return etch_choose_f32x##n(b != ETCH_HIDDEN_##n(b), b, etch_at_least_f32x##n(a, b));                                    \
  }                                                                                                                         \
  ETCH_INLINE etch_f32x##n etch_min_f32x##n(etch_f32x##n a, etch_f32x##n b) {                                               \
    return etch_choose_f32x##n(b != ETCH_HIDDEN_##n(b), b, etch_at_most_f32x##n(a, b));                                     \
  }                                                                                                                         \
  ETCH_INLINE etch_f32x##n etch_sqrt_f32x##n(etch_f32x##n a) { for (int l = 0; l < n; l++) a[l] = ETCH_SQRT_F32(a[l]); return a; }
#define ETCH_CHOICES(n)                                                                                   \
  ETCH_FLOAT_LANES(n, etch_choose_f32x##n(a < ETCH_HIDDEN_##n(low), low, a), etch_choose_f32x##n(high < ETCH_HIDDEN_##n(a), high, a))
#if defined(__AVX__) && !defined(__clang__) /* GCC makes no single instruction of a comparison and a choice */
ETCH_FLOAT_LANES(4, __builtin_ia32_maxps(low, a), __builtin_ia32_minps(high, a))
ETCH_FLOAT_LANES(8, __builtin_ia32_maxps256(low, a), __builtin_ia32_minps256(high, a))
#else
ETCH_CHOICES(4) ETCH_CHOICES(8)
#endif
#if defined(__AVX512F__) && !defined(__clang__) && (__GNUC__ < 14 || __GNUC__ > 15 || defined(__EVEX512__))
ETCH_FLOAT_LANES(16, __builtin_ia32_maxps512_mask(low, a, a, -1, 4), __builtin_ia32_minps512_mask(high, a, a, -1, 4))
#else /* also of GCC 14 and 15 where they have AVX-512 without vectors of 512 bits */
ETCH_CHOICES(16)
#endif
ETCH_COLUMNS(4) ETCH_COLUMNS(8) ETCH_COLUMNS(16)
#pragma GCC diagnostic pop
#endif
/* The bytes of 8 and of 16 lanes of dot products. */
ETCH_VECTOR(int8_t, i8, 32) ETCH_VECTOR(uint8_t, u8, 32)
ETCH_VECTOR(int8_t, i8, 64) ETCH_VECTOR(uint8_t, u8, 64)
#endif
#endif

/* --- float to integer ------------------------------------------------------------------------------------------------ */

ETCH_INLINE uint64_t etch_f32_to_u64(float x) {
  const uint32_t b = etch_f32_bits(x);
  const int shift = (int)(b >> 23 & 0xffu) - 150; /* value = mantissa * 2^shift */
  const uint64_t mantissa = (b & 0x7fffffu) | 0x800000u;
  uint64_t v;
  if (shift >= 64 || shift <= -24) return 0; /* a multiple of 2^64, infinity, NaN; or below 1 */
  v = shift >= 0 ? mantissa << shift : mantissa >> -shift;
  return b >> 31 != 0 ? 0 - v : v;
}
ETCH_INLINE int64_t etch_f32_to_i64(float x) { return (int64_t)etch_f32_to_u64(x); }
ETCH_INLINE int32_t etch_f32_to_i32(float x) {
  return x > -2147483648.0f && x < 2147483648.0f ? (int32_t)x : (int32_t)(uint32_t)(etch_f32_to_u64(x) & 0xffffffffu);
}
ETCH_INLINE uint32_t etch_f32_to_u32(float x) {
  return x > -1.0f && x < 4294967296.0f ? (uint32_t)x : (uint32_t)(etch_f32_to_u64(x) & 0xffffffffu);
}

/* An instruction rounds to a whole number. */
#if defined(ETCH_CUDA) || defined(__ARM_FEATURE_DIRECTED_ROUNDING) || defined(__SSE4_1__) || defined(__aarch64__) || \
    (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#define ETCH_ROUNDS 1
#else
#define ETCH_ROUNDS 0
#endif

/* etch_f32_to_i32 of the nearest whole number, ties to even. */
#if defined(__OPENCL_VERSION__)
ETCH_INLINE int32_t etch_rint_i32(float x) { return etch_f32_to_i32(rint(x)); }
#elif ETCH_ROUNDS
ETCH_INLINE int32_t etch_rint_i32(float x) { return etch_f32_to_i32(rintf(x)); }
#else
/* The same for a magnitude of at most 2^22; of a larger one nothing that is nearer to 0. From 2^23 to 2^24 the last bit of a float is
 * worth 1, so this sum rounds. It must not be computed in one step with a product that x may be. */
ETCH_INLINE int32_t etch_rint_by_sum(float x) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  const float sum = __builtin_assoc_barrier(x) + 12582912.0f; /* 1.5 * 2^23 */
#else
  const volatile float alone = x;
  const float sum = alone + 12582912.0f; /* 1.5 * 2^23 */
#endif
  return (int32_t)(etch_f32_bits(sum) - 0x4b400000u);
}
ETCH_INLINE int32_t etch_rint_i32(float x) {
  const int32_t n = etch_rint_by_sum(x);
  return n >= -0x400000 && n < 0x400000 ? n : etch_f32_to_i32(ETCH_RINT_F32(x));
}
#endif

ETCH_INLINE int16_t etch_f32_to_i16(float x) { return (int16_t)etch_f32_to_i32(x); }
ETCH_INLINE uint16_t etch_f32_to_u16(float x) { return (uint16_t)etch_f32_to_i32(x); }
ETCH_INLINE int8_t etch_f32_to_i8(float x) { return (int8_t)etch_f32_to_i32(x); }
ETCH_INLINE uint8_t etch_f32_to_u8(float x) { return (uint8_t)etch_f32_to_i32(x); }

#if !defined(ETCH_NO_DOUBLE)
ETCH_INLINE uint64_t etch_f64_to_u64(double x) {
  const uint64_t b = etch_f64_bits(x);
  const int shift = (int)(b >> 52 & 0x7ffu) - 1075;
  const uint64_t mantissa = (b & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
  uint64_t v;
  if (shift >= 64 || shift <= -53) return 0;
  v = shift >= 0 ? mantissa << shift : mantissa >> -shift;
  return b >> 63 != 0 ? 0 - v : v;
}
ETCH_INLINE int64_t etch_f64_to_i64(double x) { return (int64_t)etch_f64_to_u64(x); }
ETCH_INLINE int32_t etch_f64_to_i32(double x) { return (int32_t)(uint32_t)(etch_f64_to_u64(x) & 0xffffffffu); }
ETCH_INLINE uint32_t etch_f64_to_u32(double x) { return (uint32_t)(etch_f64_to_u64(x) & 0xffffffffu); }
ETCH_INLINE int16_t etch_f64_to_i16(double x) { return (int16_t)etch_f64_to_i32(x); }
ETCH_INLINE uint16_t etch_f64_to_u16(double x) { return (uint16_t)etch_f64_to_i32(x); }
ETCH_INLINE int8_t etch_f64_to_i8(double x) { return (int8_t)etch_f64_to_i32(x); }
ETCH_INLINE uint8_t etch_f64_to_u8(double x) { return (uint8_t)etch_f64_to_i32(x); }
#endif

/* --- integers -------------------------------------------------------------------------------------------------------- */

/* S: short name, T: type, U: unsigned type, B: bits */
#define ETCH_SIGNED(S, T, U, B)                                                                                 \
  ETCH_INLINE T etch_div_##S(T a, T b) { return (T)(b == 0 ? (T)0 : b == -1 ? (T)((U)0 - (U)a) : (T)(a / b)); } \
  ETCH_INLINE T etch_mod_##S(T a, T b) { return (T)(b == 0 || b == -1 ? (T)0 : (T)(a % b)); }                   \
  ETCH_INLINE T etch_shl_##S(T a, T b) { return (T)(b < 0 || b >= (B) ? (T)0 : (T)(U)((U)a << b)); }            \
  ETCH_INLINE T etch_shr_##S(T a, T b) { return (T)(a >> (b < 0 || b >= (B) ? (B)-1 : b)); }
#define ETCH_UNSIGNED(S, T, B)                                                        \
  ETCH_INLINE T etch_div_##S(T a, T b) { return (T)(b == 0 ? (T)0 : (T)(a / b)); }    \
  ETCH_INLINE T etch_mod_##S(T a, T b) { return (T)(b == 0 ? (T)0 : (T)(a % b)); }    \
  ETCH_INLINE T etch_shl_##S(T a, T b) { return (T)(b >= (B) ? (T)0 : (T)(a << b)); } \
  ETCH_INLINE T etch_shr_##S(T a, T b) { return (T)(b >= (B) ? (T)0 : (T)(a >> b)); }
ETCH_SIGNED(i8, int8_t, uint32_t, 8)
ETCH_SIGNED(i16, int16_t, uint32_t, 16)
ETCH_SIGNED(i32, int32_t, uint32_t, 32)
ETCH_SIGNED(i64, int64_t, uint64_t, 64)
ETCH_UNSIGNED(u8, uint8_t, 8)
ETCH_UNSIGNED(u16, uint16_t, 16)
ETCH_UNSIGNED(u32, uint32_t, 32)
ETCH_UNSIGNED(u64, uint64_t, 64)
#undef ETCH_SIGNED
#undef ETCH_UNSIGNED

/* --- float16 and bfloat16 --------------------------------------------------------------------------------------------- */

ETCH_INLINE float etch_half_to_float(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  const uint32_t exponent = (uint32_t)(h >> 10) & 31u;
  uint32_t mantissa = h & 0x3ffu;
  uint32_t e = 113;
  if (exponent == 31) return etch_f32_of_bits(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return etch_f32_of_bits(sign | (exponent + 112u) << 23 | mantissa << 13);
  if (mantissa == 0) return etch_f32_of_bits(sign);
  for (int i = 0; i < 10 && (mantissa & 0x400u) == 0; i++) { /* subnormal: the leading one moves to the hidden bit's place */
    mantissa <<= 1;
    e--;
  }
  return etch_f32_of_bits(sign | e << 23 | (mantissa & 0x3ffu) << 13);
}
ETCH_INLINE uint16_t etch_float_to_half(float x) {
  const uint32_t b = etch_f32_bits(x);
  const uint32_t sign = b >> 16 & 0x8000u;
  const uint32_t magnitude = b & 0x7fffffffu;
  uint32_t v;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and more */
  if (magnitude >= 0x38800000u) {
    v = magnitude - 0x38000000u;
    return (uint16_t)(sign | ((v + 0xfffu + (v >> 13 & 1u)) >> 13));
  }
  if (magnitude <= 0x33000000u) return (uint16_t)sign; /* 2^-25 and less */
  {
    const uint32_t shift = 126u - (magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t rest = mantissa & (((uint32_t)1 << shift) - 1u);
    const uint32_t middle = (uint32_t)1 << (shift - 1u);
    v = mantissa >> shift;
    if (rest > middle || (rest == middle && (v & 1u) != 0)) v++;
    return (uint16_t)(sign | v);
  }
}
ETCH_INLINE float etch_round_half(float x) { return etch_half_to_float(etch_float_to_half(x)); }

ETCH_INLINE float etch_bfloat16_to_float(uint16_t h) { return etch_f32_of_bits((uint32_t)h << 16); }
ETCH_INLINE uint16_t etch_float_to_bfloat16(float x) {
  const uint32_t b = etch_f32_bits(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((b >> 16 & 0x8000u) | 0x7fc0u);
  return (uint16_t)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
ETCH_INLINE float etch_round_bfloat16(float x) { return etch_bfloat16_to_float(etch_float_to_bfloat16(x)); }

#if !defined(ETCH_NO_DOUBLE)
/* Rounded once: first to odd, which keeps what the second rounding needs to know. */
ETCH_INLINE float etch_double_to_float_odd(double x) {
  const float f = (float)x;
  const uint32_t b = etch_f32_bits(f);
  const double d = (double)f;
  if (d == x || (b & 1u) != 0 || !(x - x == 0.0)) return f;
  if ((b & 0x7fffffffu) == 0x7f800000u) return f;
  return etch_f32_of_bits((x < d) == (b >> 31 == 0) && (b & 0x7fffffffu) != 0 ? b - 1u : b + 1u);
}
ETCH_INLINE uint16_t etch_double_to_half(double x) { return etch_float_to_half(etch_double_to_float_odd(x)); }
ETCH_INLINE uint16_t etch_double_to_bfloat16(double x) { return etch_float_to_bfloat16(etch_double_to_float_odd(x)); }
#endif

/* --- exp2, log2, pow in float ----------------------------------------------------------------------------------------- */

/* 2^k * x for |k| <= 300, rounded once */
ETCH_INLINE float etch_scale_f32(float x, int k) {
  if (k > 127) {
    x *= 1.7014118346e38f; /* 2^127 */
    k -= 127;
    if (k > 127) k = 127;
  } else if (k < -126) {
    if (k < -252) k = -252;
    /* the second factor is normal, so only the last product can round */
    x *= etch_f32_of_bits((uint32_t)(127 + k + 126) << 23);
    return x * 1.17549435e-38f; /* 2^-126 */
  }
  return x * etch_f32_of_bits((uint32_t)(127 + k) << 23);
}

/* 2^(whole + rest), |rest| <= 0.5 and a little more */
ETCH_INLINE float etch_exp2_parts(float whole, float rest) {
  /* Taylor coefficients ln(2)^n / n!; the remainder is below 2^-27 */
  float p = ((1.5252734e-5f * rest + 1.5403530e-4f) * rest + 1.3333558e-3f) * rest + 9.6181291e-3f;
  p = ((p * rest + 5.5504109e-2f) * rest + 2.4022651e-1f) * rest + 6.9314718e-1f;
  return etch_scale_f32(p * rest + 1.0f, (int)whole);
}

ETCH_INLINE float etch_exp2f(float x) {
  float whole;
  if (x != x) return x;
  if (x >= 128.0f) return INFINITY;
  if (x < -151.0f) return 0.0f;
  whole = ETCH_FLOOR_F32(x + 0.5f);
  return etch_exp2_parts(whole, x - whole);
}

/* log2 of a positive finite x as *whole + high + low, the fraction in two parts */
ETCH_INLINE float etch_log2_parts(float x, float *high, float *low) {
  uint32_t b = etch_f32_bits(x);
  float whole = 0.0f, m, f, s, s_low, s2, p, h, d;
  if (b < 0x800000u) {
    b = etch_f32_bits(x * 8388608.0f);
    whole = -23.0f;
  }
  whole += (float)((int)(b >> 23) - 127);
  m = etch_f32_of_bits((b & 0x7fffffu) | 0x3f800000u);
  if (m > 1.41421356f) {
    m *= 0.5f;
    whole += 1.0f;
  }
  /* log2(m) = 2/ln(2) * atanh(s), s = (m-1)/(m+1), carried in two floats */
  f = m - 1.0f; /* exact */
  d = m + 1.0f;
  s = f / d;
  s = etch_f32_of_bits(etch_f32_bits(s) & 0xfffff000u); /* 12 bits: products with it are nearly exact */
  {
    const float d_high = etch_f32_of_bits(etch_f32_bits(d) & 0xfffff000u);
    const float d_low = (m - (d_high - 1.0f));
    s_low = ((f - s * d_high) - s * d_low) / d;
  }
  s2 = (s + s_low) * (s + s_low);
  p = (((0.22222222f * s2 + 0.28571429f) * s2 + 0.4f) * s2 + 0.66666667f) * s2 * (s + s_low); /* 2*atanh(s) - 2s */
  /* 1/ln(2) = 1.442382812 (12 bits) + 3.1222840e-4 */
  h = 2.0f * s * 1.442382812f;
  *high = h;
  *low = 2.0f * s * 3.1222840e-4f + (2.0f * s_low + p) * 1.4426950f;
  return whole;
}

ETCH_INLINE float etch_log2f(float x) {
  float high, low, whole;
  if (x != x || x == INFINITY) return x;
  if (x == 0.0f) return -INFINITY;
  if (x < 0.0f) return NAN;
  whole = etch_log2_parts(x, &high, &low);
  return whole + high + low;
}

/* |x| to the y for finite x > 0 and finite y */
ETCH_INLINE float etch_pow_positive(float x, float y) {
  float high, low, whole, t, t_low, y_high, y_low, a, rounded, rest;
  whole = etch_log2_parts(x, &high, &low);
  /* whole + high + low as two floats, the first with 12 bits, times y in two parts */
  t = etch_f32_of_bits(etch_f32_bits(whole + (high + low)) & 0xfffff000u);
  t_low = ((whole - t) + high) + low;
  y_high = etch_f32_of_bits(etch_f32_bits(y) & 0xfffff000u);
  y_low = y - y_high;
  a = t * y_high; /* exact unless it overflows */
  rest = t * y_low + t_low * y;
  if (a + rest >= 200.0f) return INFINITY;
  if (!(a + rest > -200.0f)) return 0.0f;
  rounded = ETCH_FLOOR_F32(a + rest + 0.5f);
  return etch_exp2_parts(rounded, (a - rounded) + rest);
}

ETCH_INLINE float etch_powf(float x, float y) {
  const float magnitude = x < 0.0f ? -x : x;
  const float y_magnitude = y < 0.0f ? -y : y;
  const int is_whole = y_magnitude >= 8388608.0f || ETCH_FLOOR_F32(y) == y;
  const int is_odd = is_whole && y_magnitude < 16777216.0f && ETCH_FLOOR_F32(y_magnitude * 0.5f) * 2.0f != y_magnitude;
  const int is_negative = etch_f32_bits(x) >> 31 != 0;
  float r;
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  if (y_magnitude == INFINITY) {
    if (magnitude == 1.0f) return 1.0f;
    return (magnitude > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
  }
  if (magnitude == 0.0f || magnitude == INFINITY) {
    r = (magnitude == 0.0f) == (y > 0.0f) ? 0.0f : INFINITY;
  } else {
    if (is_negative && !is_whole) return NAN;
    r = etch_pow_positive(magnitude, y);
  }
  return is_negative && is_odd ? -r : r;
}

/* --- log, log1p and the inverse hyperbolic functions in float ----------------------------------------------------------- */

ETCH_INLINE float etch_logf(float x) {
  float high, low, whole;
  if (x != x || x == INFINITY) return x;
  if (x == 0.0f) return -INFINITY;
  if (x < 0.0f) return NAN;
  whole = etch_log2_parts(x, &high, &low);
  /* ln(2) = 0.693145752 (15 bits: products with whole numbers are exact) + 1.4286068e-6 */
  return whole * 0.693145752f + (whole * 1.4286068e-6f + (high + low) * 0.69314718f);
}

ETCH_INLINE float etch_log1pf(float x) {
  const float u = 1.0f + x;
  const float lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x); /* exact: 1 + x = u + lost */
  if (u == 1.0f || x != x || x == INFINITY) return x;            /* u is 1: x itself, -0.0 too */
  if (u <= 0.0f) return etch_logf(u);
  return etch_logf(u) + lost / u;
}

ETCH_INLINE float etch_asinhf(float x) {
  const float a = etch_f32_of_bits(etch_f32_bits(x) & 0x7fffffffu);
  const float r = a > 4096.0f ? etch_logf(a) + 0.69314718f : etch_log1pf(a + a * a / (1.0f + ETCH_SQRT_F32(a * a + 1.0f)));
  return etch_f32_bits(x) >> 31 != 0 ? -r : r;
}

ETCH_INLINE float etch_acoshf(float x) {
  const float t = x - 1.0f;
  if (x < 1.0f) return NAN;
  return x > 4096.0f ? etch_logf(x) + 0.69314718f : etch_log1pf(t + ETCH_SQRT_F32(2.0f * t + t * t));
}

ETCH_INLINE float etch_atanhf(float x) {
  const float a = etch_f32_of_bits(etch_f32_bits(x) & 0x7fffffffu);
  const float r = a >= 1.0f ? (a == 1.0f ? INFINITY : NAN) : 0.5f * etch_log1pf(2.0f * a / (1.0f - a));
  return etch_f32_bits(x) >> 31 != 0 ? -r : r;
}

#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(ETCH_CUDA)
#pragma GCC diagnostic pop
#endif

#endif
