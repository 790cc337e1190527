// Integer arithmetic that never overflows silently: checked where a value must be exact, saturating where it is a
// bound. A saturated bound means "nothing is known", which is always sound.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace etch {

inline constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

/// IndexOverflow unless `holds`.
inline void check_fits(bool holds, const std::source_location& at = std::source_location::current()) {
  if (!holds) throw IndexOverflow("an index fits into 64 bits", at);
}

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  check_fits(!__builtin_add_overflow(a, b, &r));
  return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  check_fits(!__builtin_mul_overflow(a, b, &r));
  return r;
}

inline bool is_saturated(int64_t bound) { return bound == kInt64Min || bound == kInt64Max; }

inline int64_t saturating_add(int64_t a, int64_t b) {
  if (is_saturated(a)) return a;
  if (is_saturated(b)) return b;
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a < 0 ? kInt64Min : kInt64Max;
}
inline int64_t saturating_mul(int64_t a, int64_t b) {
  int64_t r;
  if (a == 0 || b == 0) return 0;
  if (!is_saturated(a) && !is_saturated(b) && !__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? kInt64Max : kInt64Min;
}
inline int64_t saturating_neg(int64_t a) {
  if (a == kInt64Min) return kInt64Max;
  return a == kInt64Max ? kInt64Min : -a;
}

/// Floor division and its remainder for every sign; b is not 0. The remainder has the sign of b.
inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return a == kInt64Min ? kInt64Max : -a;
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}
inline int64_t ceil_div(int64_t a, int64_t b) {
  if (b == -1) return floor_div(a, b);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// Greatest common divisor, of absolute values; gcd(0, x) = |x|.
inline int64_t gcd64(int64_t a, int64_t b) { return std::gcd(a, b); }

}  // namespace etch
