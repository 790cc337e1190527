// For tests: C++'s own types for the thirteen element types, and values of each that are difficult for it. Eigen's half and bfloat16 stand
// for the two that C++20 lacks, so that no conversion of etch's has a part in an expected value.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ir/array.h"

namespace etch::test {

/// f(T()) for the C++ type T of `dtype`.
template <class F>
auto with_native(DType dtype, F f) {
  switch (dtype) {
    case DType::Bool:
      return f(bool());
    case DType::Int8:
      return f(std::int8_t());
    case DType::UInt8:
      return f(std::uint8_t());
    case DType::Int16:
      return f(std::int16_t());
    case DType::UInt16:
      return f(std::uint16_t());
    case DType::Int32:
      return f(std::int32_t());
    case DType::UInt32:
      return f(std::uint32_t());
    case DType::Int64:
      return f(std::int64_t());
    case DType::UInt64:
      return f(std::uint64_t());
    case DType::Float16:
      return f(Eigen::half());
    case DType::BFloat16:
      return f(Eigen::bfloat16());
    case DType::Float32:
      return f(float());
    case DType::Float64:
      return f(double());
  }
  throw std::runtime_error("a dtype without a C++ type");
}

/// An array of `count` elements; element k is made(k), a value of the C++ type.
template <class Made>
Array native_array(DType dtype, std::vector<std::int64_t> shape, Made made) {
  std::int64_t count = 1;
  for (const std::int64_t d : shape) count *= d;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * bytes_of(dtype)));
  for (std::int64_t k = 0; k < count; k++) {
    const auto value = made(k);
    if (sizeof value != static_cast<std::size_t>(bytes_of(dtype))) throw std::runtime_error("a value of another type");
    std::memcpy(bytes.data() + k * bytes_of(dtype), &value, sizeof value);
  }
  return {dtype, std::move(shape), std::move(bytes)};
}

inline constexpr std::int64_t kDifficult = 12;

/// Zeros, limits, the smallest subnormal, infinities, NaN: kDifficult of them.
template <class T>
std::vector<T> difficult_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true, true, false, true, false, false, true, true, true, false, true};
  } else if constexpr (Limits::is_integer) {
    constexpr T lo = Limits::min(), hi = Limits::max();
    return {T(0), T(1), T(2), T(3), lo, hi, T(lo + 1), T(hi - 1), T(7), T(100), T(hi / 2 + 1), T(-1)};
  } else {
    const T one(1.0F);
    return {T(0.0F),
            T(-0.0F),
            -one,
            one,
            Limits::denorm_min(),
            Limits::max(),
            Limits::lowest(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            T(0.5F),
            T(3.0F)};
  }
}

inline Array difficult_array(DType dtype, std::vector<std::int64_t> shape = {kDifficult}) {
  return with_native(dtype, [&]<class T>(T) {
    const std::vector<T> values = difficult_values<T>();
    return native_array(dtype, shape, [&](std::int64_t k) { return T(values[static_cast<std::size_t>(k % kDifficult)]); });
  });
}

/// Element `from(k)` of `a` as element k; 0 where that is negative.
template <class From>
Array picked(const Array& a, std::vector<std::int64_t> shape, From from) {
  return with_native(a.dtype(), [&]<class T>(T) {
    return native_array(a.dtype(), shape, [&](std::int64_t k) {
      T value(0);
      if (const std::int64_t at = from(k); at >= 0) std::memcpy(&value, a.bytes().data() + at * bytes_of(a.dtype()), sizeof value);
      return value;
    });
  });
}

/// The first element whose bits differ, in words; empty if there is none. One NaN is as good as another.
inline std::string first_other(const Array& got, const Array& wanted) {
  if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape()) return "another type or shape";
  for (std::int64_t k = 0; k < got.size(); k++)
    if (!(got.at(k) == wanted.at(k)) && !(got.at(k).is_nan() && wanted.at(k).is_nan()))
      return std::string(name_of(got.dtype())) + " element " + std::to_string(k) + " is " + got.at(k).to_text() + ", not " +
             wanted.at(k).to_text();
  return "";
}

}  // namespace etch::test
