// One value of one type. Two scalars are equal if their bits are: 0.0 is not -0.0, and NaN equals NaN.
#pragma once

#include <cstdint>
#include <string>

#include "ir/dtype.h"

namespace etch {

class Scalar {
 public:
  /// `value` converted to `dtype` as C converts it (rounded to the float type; truncated, then wrapped, to an integer;
  /// != 0 for bool). Infinity and NaN to an integer give 0.
  static Scalar of_double(DType dtype, double value);
  /// `value` wrapped to an integer `dtype`, or rounded to a float one. A uint64 is passed by its bits; to make a float
  /// of a uint64, use of_double.
  static Scalar of_int(DType dtype, std::int64_t value);

  DType dtype() const { return dtype_; }
  /// The value as double; exact for all but large 64-bit integers.
  double as_double() const;
  /// The value as int64 (uint64 by its bits; floats truncated).
  std::int64_t as_int() const;
  Scalar cast(DType dtype) const;
  bool is_nan() const;
  /// float64 bits of a float, the two's complement of an integer.
  std::uint64_t bits() const { return bits_; }
  bool operator==(const Scalar&) const = default;
  /// Shortest text that reads back exactly: "0.1", "-3", "true", "nan", "inf", "-0.0".
  std::string to_text() const;

 private:
  DType dtype_ = DType::Float32;
  std::uint64_t bits_ = 0;
};

}  // namespace etch
