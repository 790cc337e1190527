// The thirteen element types, their properties, and tinygrad's promotion lattice (JAX's, without weak types).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace etch {

enum class DType : std::uint8_t {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
inline constexpr int kDTypeCount = 13;

enum class DTypeKind : std::uint8_t { Bool, Signed, Unsigned, Float };

struct DTypeInfo {
  std::string_view name;    // "float32"
  std::string_view c_type;  // the type of an element in memory, in C: float16 and bfloat16 are stored as uint16_t
  int bytes;
  DTypeKind kind;
};

const DTypeInfo& info(DType dtype);
inline std::string_view name_of(DType dtype) { return info(dtype).name; }
inline int bytes_of(DType dtype) { return info(dtype).bytes; }
inline bool is_float(DType dtype) { return info(dtype).kind == DTypeKind::Float; }
/// Signed or unsigned integer; bool is not one.
inline bool is_int(DType dtype) { return info(dtype).kind == DTypeKind::Signed || info(dtype).kind == DTypeKind::Unsigned; }
inline bool is_unsigned(DType dtype) { return info(dtype).kind == DTypeKind::Unsigned; }
/// The type with that name ("float32"), or nullopt.
std::optional<DType> dtype_named(std::string_view name);

/// The smallest type that both convert to (tinygrad's least_upper_dtype): int8 and uint8 give int16, int64 and float16 give float16.
DType least_upper_dtype(DType a, DType b);
/// `dtype` if it is a float, else float32.
DType least_upper_float(DType dtype);
/// The type in which a sum accumulates: at least int32, uint32 or float32.
DType sum_dtype(DType dtype);
/// Smallest and largest value of an integer type, as the bits of an int64 (uint64's maximum reads as -1).
std::int64_t int_min(DType dtype);
std::int64_t int_max(DType dtype);
/// An int8 and the uint8 that has the same bits but the first are this far from each other.
inline constexpr std::int64_t kSignOffset = 128;

// IEEE binary16 and bfloat16 as bits; rounding is to nearest even, NaN stays NaN.
std::uint16_t float_to_half(float value);
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);
float bfloat16_to_float(std::uint16_t bits);
/// Directly from double, rounded once.
std::uint16_t double_to_half(double value);
std::uint16_t double_to_bfloat16(double value);

}  // namespace etch
