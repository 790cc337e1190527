#include "codegen/value_range.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "base/toposort.h"

namespace etch {
namespace {

IntRange range_of(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  const int bits = 8 * bytes_of(dtype);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (is_unsigned(dtype)) return {0, bits == 64 ? kMax : (std::int64_t{1} << bits) - 1};
  const std::int64_t max = kMax >> (64 - bits);
  return {-max - 1, max};
}

bool contains(IntRange outer, IntRange inner) { return outer.min <= inner.min && inner.max <= outer.max; }

/// The range of a sum, if it can't wrap around in `dtype`; else all of it.
IntRange sum(IntRange a, IntRange b, DType dtype) {
  IntRange s;
  const bool wraps = __builtin_add_overflow(a.min, b.min, &s.min) || __builtin_add_overflow(a.max, b.max, &s.max);
  return wraps || !contains(range_of(dtype), s) ? range_of(dtype) : s;
}

IntRange join(IntRange a, IntRange b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

// of(s) gives the range of operand s.
template <class Of>
IntRange from_operands(const LazyOp* op, Of of) {
  const IntRange whole = range_of(op->dtype);
  const auto operand = [&](std::size_t s) { return of(op->src[s]); };
  switch (op->op) {
    case Op::Const: {
      const std::int64_t value = op->constant().value.as_int();
      if (op->dtype == DType::UInt64 && value < 0) return whole;
      const bool is_masked = std::ranges::any_of(op->st().views(), [](const View& v) { return v.mask.has_value(); });
      return is_masked ? join({0, 0}, {value, value}) : IntRange{value, value};
    }
    case Op::Cast: {
      if (is_float(op->src[0]->dtype)) return whole;
      const IntRange from = operand(0);
      const bool may_wrap = op->src[0]->dtype == DType::UInt64 && from.max == range_of(DType::UInt64).max;
      return !may_wrap && contains(whole, from) ? from : whole;
    }
    case Op::Add:
      return sum(operand(0), operand(1), op->dtype);
    case Op::Max:
      return {std::max(operand(0).min, operand(1).min), std::max(operand(0).max, operand(1).max)};
    case Op::Min:
      return {std::min(operand(0).min, operand(1).min), std::min(operand(0).max, operand(1).max)};
    case Op::Where:
      return join(operand(1), operand(2));
    case Op::Mod:
      if (operand(0).min < 0 || operand(1).min < 0) return whole;
      return {0, std::max<std::int64_t>(operand(1).max - 1, 0)};
    case Op::And:
      if (operand(0).min >= 0) return {0, operand(0).max};
      return operand(1).min >= 0 ? IntRange{0, operand(1).max} : whole;
    case Op::Load:
      return op->dtype == DType::Bool ? range_of(DType::UInt8) : whole;  // a caller's byte may be any
                                                                         // clang-format off
    case Op::Neg: case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Expm1: case Op::Log: case Op::Log2: case Op::Log1p: case Op::Sin: case Op::Cos:
    case Op::Tan: case Op::Asin: case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh:
    case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Bitcast:
    case Op::Sub: case Op::Mul: case Op::Div: case Op::Pow: case Op::CmpLt: case Op::CmpEq: case Op::CmpNe: case Op::Or: case Op::Xor:
    case Op::Shl: case Op::Shr: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceProd: case Op::ReduceMax: case Op::ReduceMin: case Op::Index: case Op::Expand: case Op::Store:
      return whole;
                                                                         // clang-format on
  }
  return whole;
}

}  // namespace

IntRange value_range(const LazyOp* op) {
  // Floats have no range here; they are reached only through comparisons and conversions, which don't ask for it.
  std::unordered_map<const LazyOp*, IntRange> known;  // look-up only
  const auto below = [](const LazyOp* o) -> std::span<const LazyOp* const> {
    return is_elementwise(o->op) ? std::span<const LazyOp* const>(o->src) : std::span<const LazyOp* const>();
  };
  for (const LazyOp* o : toposort<LazyOp>({op}, below)) {
    if (is_float(o->dtype)) {
      known[o] = {};
      continue;
    }
    known[o] = from_operands(o, [&](const LazyOp* s) { return known.at(s); });
  }
  return known.at(op);
}

}  // namespace etch
