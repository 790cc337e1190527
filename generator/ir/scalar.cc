#include "ir/scalar.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace etch {
namespace {

// Truncates toward zero and wraps modulo 2^64; NaN and infinity give 0.
std::uint64_t to_integer(double value) {
  if (!std::isfinite(value)) return 0;
  const double whole = std::trunc(value);
  const double wrapped = std::fmod(whole, 18446744073709551616.0);
  if (wrapped < 0) return ~static_cast<std::uint64_t>(-wrapped) + 1;
  return static_cast<std::uint64_t>(wrapped);
}

std::uint64_t wrap(DType dtype, std::uint64_t value) {
  const int bits = 8 * bytes_of(dtype);
  if (bits == 64) return value;
  value &= (std::uint64_t{1} << bits) - 1;
  if (!is_unsigned(dtype) && (value >> (bits - 1) & 1) != 0) value |= ~std::uint64_t{0} << bits;
  return value;
}

double round_to(DType dtype, double value) {
  if (dtype == DType::Float16) return static_cast<double>(half_to_float(double_to_half(value)));
  if (dtype == DType::BFloat16) return static_cast<double>(bfloat16_to_float(double_to_bfloat16(value)));
  if (dtype == DType::Float32) return static_cast<double>(static_cast<float>(value));
  return value;
}

// An integer as a float of `dtype` or wider. To 16-bit types it goes through float32, as C converts it; to float32 it goes directly, as
// double would round twice.
template <class T>
double rounded_once(DType dtype, T value) {
  return dtype == DType::Float64 ? static_cast<double>(value) : static_cast<double>(static_cast<float>(value));
}

}  // namespace

Scalar Scalar::of_double(DType dtype, double value) {
  Scalar s;
  s.dtype_ = dtype;
  if (is_float(dtype)) {
    s.bits_ = std::isnan(value) ? std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())
                                : std::bit_cast<std::uint64_t>(round_to(dtype, value));
  } else if (dtype == DType::Bool) {
    s.bits_ = value != 0 ? 1 : 0;
  } else {
    s.bits_ = wrap(dtype, to_integer(value));
  }
  return s;
}

Scalar Scalar::of_int(DType dtype, std::int64_t value) {
  if (is_float(dtype)) return of_double(dtype, rounded_once(dtype, value));
  Scalar s;
  s.dtype_ = dtype;
  s.bits_ = dtype == DType::Bool ? (value != 0 ? 1 : 0) : wrap(dtype, static_cast<std::uint64_t>(value));
  return s;
}

double Scalar::as_double() const {
  if (is_float(dtype_)) return std::bit_cast<double>(bits_);
  if (dtype_ == DType::UInt64) return static_cast<double>(bits_);
  return static_cast<double>(static_cast<std::int64_t>(bits_));
}

std::int64_t Scalar::as_int() const {
  return is_float(dtype_) ? static_cast<std::int64_t>(to_integer(std::bit_cast<double>(bits_))) : static_cast<std::int64_t>(bits_);
}

Scalar Scalar::cast(DType dtype) const {
  if (is_float(dtype_)) return of_double(dtype, as_double());
  if (is_float(dtype) && dtype_ == DType::UInt64) return of_double(dtype, rounded_once(dtype, bits_));
  return of_int(dtype, as_int());
}

bool Scalar::is_nan() const { return is_float(dtype_) && std::isnan(as_double()); }

std::string Scalar::to_text() const {
  if (dtype_ == DType::Bool) return bits_ != 0 ? "true" : "false";
  char text[40];
  if (!is_float(dtype_)) {
    const auto end = dtype_ == DType::UInt64 ? std::to_chars(text, text + sizeof text, bits_).ptr
                                             : std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(bits_)).ptr;
    return {text, end};
  }
  const double value = as_double();
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // The shortest digits that read back to the same value of the type; float16 and bfloat16 are floats.
  const auto end = dtype_ == DType::Float64 ? std::to_chars(text, text + sizeof text, value).ptr
                                            : std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr;
  std::string result(text, end);
  if (result.find_first_of(".en") == std::string::npos) result += ".0";
  return result;
}

}  // namespace etch
