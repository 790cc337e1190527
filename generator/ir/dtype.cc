#include "ir/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/error.h"

namespace etch {
namespace {

constexpr std::array<DTypeInfo, kDTypeCount> kInfo{{
    {"bool", "bool", 1, DTypeKind::Bool},
    {"int8", "int8_t", 1, DTypeKind::Signed},
    {"uint8", "uint8_t", 1, DTypeKind::Unsigned},
    {"int16", "int16_t", 2, DTypeKind::Signed},
    {"uint16", "uint16_t", 2, DTypeKind::Unsigned},
    {"int32", "int32_t", 4, DTypeKind::Signed},
    {"uint32", "uint32_t", 4, DTypeKind::Unsigned},
    {"int64", "int64_t", 8, DTypeKind::Signed},
    {"uint64", "uint64_t", 8, DTypeKind::Unsigned},
    {"float16", "uint16_t", 2, DTypeKind::Float},
    {"bfloat16", "uint16_t", 2, DTypeKind::Float},
    {"float32", "float", 4, DTypeKind::Float},
    {"float64", "double", 8, DTypeKind::Float},
}};

using enum DType;

// For each type, the types one step up in the lattice.
std::initializer_list<DType> parents(DType dtype) {
  static constexpr std::initializer_list<DType> none{}, b{Int8, UInt8}, i8{Int16}, i16{Int32}, i32{Int64}, i64{Float16, BFloat16},
      u8{Int16, UInt16}, u16{Int32, UInt32}, u32{Int64, UInt64}, u64{Float16, BFloat16}, half{Float32}, f32{Float64};
  switch (dtype) {
    case Bool:
      return b;
    case Int8:
      return i8;
    case UInt8:
      return u8;
    case Int16:
      return i16;
    case UInt16:
      return u16;
    case Int32:
      return i32;
    case UInt32:
      return u32;
    case Int64:
      return i64;
    case UInt64:
      return u64;
    case Float16:
    case BFloat16:
      return half;
    case Float32:
      return f32;
    case Float64:
      return none;
  }
  return none;
}

unsigned reachable(DType dtype) {
  unsigned set = 1u << static_cast<unsigned>(dtype);
  for (DType p : parents(dtype)) set |= reachable(p);
  return set;
}

// Rounds a double to a float format of `mantissa` explicit bits and `exponent` bits; returns its bits in 16.
std::uint16_t round_to_16(double value, int mantissa, int exponent) {
  const std::uint64_t in = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((in >> 63) << 15);
  const int bias = (1 << (exponent - 1)) - 1;
  const auto infinity = static_cast<std::uint16_t>(((1u << exponent) - 1u) << mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1u << (mantissa - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;
  int e = std::ilogb(magnitude);
  if (e < 1 - bias) e = 1 - bias;  // subnormal: the exponent stays at its smallest
  // An integer count of units in the last place; nearbyint rounds to nearest even.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa - e));
  auto count = static_cast<std::uint64_t>(units);
  // `count` includes the hidden bit for normal numbers; a carry runs into the exponent as it should.
  const std::uint64_t bits = (static_cast<std::uint64_t>(e + bias - 1) << mantissa) + count;
  return static_cast<std::uint16_t>(sign | (bits >= infinity ? infinity : bits));
}

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfo[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i < kDTypeCount; i++)
    if (kInfo[static_cast<std::size_t>(i)].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

DType least_upper_dtype(DType a, DType b) {
  const unsigned common = reachable(a) & reachable(b);
  for (int i = 0; i < kDTypeCount; i++) {
    const auto d = static_cast<DType>(i);
    // The least common type is the one from which all other common types can be reached.
    if ((common >> i & 1u) != 0 && (common & ~reachable(d)) == 0) return d;
  }
  fail_check("two types have a least upper type", std::source_location::current());
}

DType least_upper_float(DType dtype) { return is_float(dtype) ? dtype : Float32; }

DType sum_dtype(DType dtype) {
  switch (info(dtype).kind) {
    case DTypeKind::Bool:
      return Int32;
    case DTypeKind::Signed:
      return least_upper_dtype(dtype, Int32);
    case DTypeKind::Unsigned:
      return least_upper_dtype(dtype, UInt32);
    case DTypeKind::Float:
      return least_upper_dtype(dtype, Float32);
  }
  return dtype;
}

std::int64_t int_min(DType dtype) {
  return info(dtype).kind == DTypeKind::Signed ? std::numeric_limits<std::int64_t>::min() >> (64 - 8 * bytes_of(dtype)) : 0;
}

std::int64_t int_max(DType dtype) {
  if (dtype == Bool) return 1;
  const int bits = 8 * bytes_of(dtype);
  if (is_unsigned(dtype)) return bits == 64 ? -1 : (std::int64_t{1} << bits) - 1;
  return std::numeric_limits<std::int64_t>::max() >> (64 - bits);
}

std::uint16_t double_to_half(double value) { return round_to_16(value, 10, 5); }
std::uint16_t double_to_bfloat16(double value) { return round_to_16(value, 7, 8); }
std::uint16_t float_to_half(float value) { return double_to_half(static_cast<double>(value)); }
std::uint16_t float_to_bfloat16(float value) { return double_to_bfloat16(static_cast<double>(value)); }

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace etch
