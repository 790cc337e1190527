// Internal to interp/: one operation on a block of elements. Floats are double; integers and bools are int64, always
// wrapped to their type (uint64 by its bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"

namespace etch::interp {

/// A block of values: `f` where the type is a float, else `i`. Only one of the two has memory.
struct Block {
  std::vector<double> f;
  std::vector<std::int64_t> i;
};

/// `value` modulo 2^bits, as the int64 that stands for it in `dtype`; bool: != 0.
inline std::int64_t wrapped(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return value != 0;
    case DType::Int8:
      return static_cast<std::int8_t>(value);
    case DType::UInt8:
      return static_cast<std::uint8_t>(value);
    case DType::Int16:
      return static_cast<std::int16_t>(value);
    case DType::UInt16:
      return static_cast<std::uint16_t>(value);
    case DType::Int32:
      return static_cast<std::int32_t>(value);
    case DType::UInt32:
      return static_cast<std::uint32_t>(value);
    case DType::Int64:
    case DType::UInt64:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      return value;
  }
  return value;
}

/// `value` rounded to a float type.
double rounded(DType dtype, double value);

/// out[0..n) = op(src...)[0..n). `dtype` is the result's type, `src_dtype` that of the operands (for Where, of the values).
/// Floats are computed in double and not rounded to `dtype`; round_block does that.
void apply(Op op, DType dtype, DType src_dtype, const std::vector<const Block*>& src, std::size_t n, Block& out);

/// Rounds block[0..n) to `dtype` if it is a float type.
void round_block(DType dtype, std::size_t n, Block& block);

/// Reductions: acc[k] = op(acc[k], values[k]).
void accumulate(Op reduce, DType dtype, const Block& values, std::size_t n, Block& acc);
/// op over values[from, from + n), starting from element `at` of acc.
void accumulate_run(Op reduce, DType dtype, const Block& values, std::size_t from, std::size_t n, Block& acc, std::size_t at);
/// Fills acc[0..n) with the reduction's start value.
void start(Op reduce, DType dtype, std::size_t n, Block& acc);

}  // namespace etch::interp
