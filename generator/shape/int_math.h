// Integer arithmetic that never overflows silently: checked where a value must be exact, saturating where it is a
// bound. A saturated bound means "nothing is known", which is always sound.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace etch {

inline constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

/// IndexOverflow unless `holds`.
inline void check_fits(bool holds, const std::source_location& at = std::source_location::current()) {
  if (!holds) throw IndexOverflow("an index fits into 64 bits", at);
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  check_fits(!__builtin_add_overflow(a, b, &r));
  return r;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  check_fits(!__builtin_mul_overflow(a, b, &r));
  return r;
}

inline bool is_saturated(std::int64_t bound) { return bound == kInt64Min || bound == kInt64Max; }

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  if (is_saturated(a)) return a;
  if (is_saturated(b)) return b;
  std::int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a < 0 ? kInt64Min : kInt64Max;
}
inline std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (a == 0 || b == 0) return 0;
  if (!is_saturated(a) && !is_saturated(b) && !__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? kInt64Max : kInt64Min;
}
inline std::int64_t saturating_neg(std::int64_t a) {
  if (a == kInt64Min) return kInt64Max;
  return a == kInt64Max ? kInt64Min : -a;
}

/// Floor division and its remainder for every sign; b is not 0. The remainder has the sign of b.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return a == kInt64Min ? kInt64Max : -a;
  std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  std::int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return floor_div(a, b);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// Greatest common divisor, of absolute values; gcd(0, x) = |x|.
inline std::int64_t gcd64(std::int64_t a, std::int64_t b) { return std::gcd(a, b); }

/// Whether few of `size` elements are in two of the tiles of an axis, of which the last begins earlier: a new layout may then have them
/// twice.
inline bool repeats_few(std::int64_t size, std::int64_t tile) {
  constexpr std::int64_t kLeast = 8;  // elements for each that is there twice
  const std::int64_t twice = ceil_div(size, tile) * tile - size;
  return twice * kLeast <= size;
}

}  // namespace etch
