// The text of every operation and conversion, one row each; the first row that fits is taken.
#include "renderer/cstyle.h"

namespace etch {
namespace {

constexpr unsigned k8 = kI8 | kU8, k16 = kI16 | kU16, kSmall = k8 | k16;
constexpr unsigned kWideSigned = kI32 | kI64, kWideUnsigned = kU32 | kU64;
constexpr unsigned kInts = kSmall | kWideSigned | kWideUnsigned;
constexpr unsigned kHalf = kF16 | kBF16, kFloats = kHalf | kF32 | kF64, kSingle = kHalf | kF32;
constexpr unsigned kPlain = kFloats | kVec | kExact | kWideUnsigned;  // C's operator is the operation
constexpr unsigned kAll = kFloats | kInts | kExact;

// Signed arithmetic goes through the unsigned type: it wraps around there. What is narrower than int is cast back.
constexpr OpText kOpRows[] = {
    {Op::Neg, kFloats | kVec, "-$0", kUnary, {kUnary + 1}},
    {Op::Neg, kExact, "-$0", kUnary, {kUnary + 1}},
    {Op::Neg, k8, "($T)-$0", kUnary, {kUnary + 1}},
    {Op::Neg, k16 | kWideSigned, "($T)(0u - ($U)$0)", kUnary, {kUnary}},
    {Op::Neg, kWideUnsigned, "0u - $0", kSum, {kSum + 1}},
    {Op::Add, kPlain, "$0 + $1", kSum, {kSum, kSum + 1}},
    {Op::Add, k8, "($T)($0 + $1)", kUnary, {kSum, kSum + 1}},
    {Op::Add, k16, "($T)(($W)$0 + ($W)$1)", kUnary, {kUnary, kUnary}},
    {Op::Add, kWideSigned, "($T)(($U)$0 + ($U)$1)", kUnary, {kUnary, kUnary}},
    {Op::Sub, kPlain, "$0 - $1", kSum, {kSum, kSum + 1}},
    {Op::Sub, k8, "($T)($0 - $1)", kUnary, {kSum, kSum + 1}},
    {Op::Sub, k16, "($T)(($W)$0 - ($W)$1)", kUnary, {kUnary, kUnary}},
    {Op::Sub, kWideSigned, "($T)(($U)$0 - ($U)$1)", kUnary, {kUnary, kUnary}},
    {Op::Mul, kPlain, "$0 * $1", kProduct, {kProduct, kProduct + 1}},
    {Op::Mul, k8, "($T)($0 * $1)", kUnary, {kProduct, kProduct + 1}},
    {Op::Mul, k16, "($T)(($W)$0 * ($W)$1)", kUnary, {kUnary, kUnary}},
    {Op::Mul, kWideSigned, "($T)(($U)$0 * ($U)$1)", kUnary, {kUnary, kUnary}},
    {Op::MulAcc, kPlain, "$2 + $0 * $1", kSum, {kProduct, kProduct + 1, kSum}},
    {Op::MulAcc, k8, "($T)($2 + $0 * $1)", kUnary, {kProduct, kProduct + 1, kSum}},
    {Op::MulAcc, k16, "($T)(($W)$2 + ($W)$0 * ($W)$1)", kUnary, {kUnary, kUnary, kUnary}},
    {Op::MulAcc, kWideSigned, "($T)(($U)$2 + ($U)$0 * ($U)$1)", kUnary, {kUnary, kUnary, kUnary}},
    {Op::Div, kFloats | kVec | kExact, "$0 / $1", kProduct, {kProduct, kProduct + 1}},
    {Op::Div, kSmall, "($T)($0 / $1)", kUnary, {kProduct, kProduct + 1}, When::ConstRight},
    {Op::Div, kInts, "$0 / $1", kProduct, {kProduct, kProduct + 1}, When::ConstRight},
    {Op::Div, kInts, "etch_div_$S($0, $1)", kAtom},
    {Op::Mod, kExact, "$0 % $1", kProduct, {kProduct, kProduct + 1}},
    {Op::Mod, kFloats, "fmod$F($0, $1)", kAtom},
    {Op::Mod, kSmall, "($T)($0 % $1)", kUnary, {kProduct, kProduct + 1}, When::ConstRight},
    {Op::Mod, kInts, "$0 % $1", kProduct, {kProduct, kProduct + 1}, When::ConstRight},
    {Op::Mod, kInts, "etch_mod_$S($0, $1)", kAtom},
    // A NaN on either side is the result: every comparison with it is false.
    {Op::Max, kVec, "(etch_f32x$L)((etch_i32x$L)$0 & ~($0 < $1))", kUnary, {kAtom, kAtom}, When::ZeroRight},
    {Op::Max,
     kVec,
     "(etch_f32x$L)(((etch_i32x$L)$1 & (($0 < $1) | ($1 != $1))) | ((etch_i32x$L)$0 & ~(($0 < $1) | ($1 != $1))))",
     kUnary,
     {kAtom, kAtom}},
    {Op::Min,
     kVec,
     "(etch_f32x$L)(((etch_i32x$L)$1 & (($1 < $0) | ($1 != $1))) | ((etch_i32x$L)$0 & ~(($1 < $0) | ($1 != $1))))",
     kUnary,
     {kAtom, kAtom}},
    {Op::Max, kFloats, "$0 < $1 ? $1 : $0", kConditional, {kAtom, kShift}, When::ConstRight},
    {Op::Max, kFloats, "$0 >= $1 ? $0 : $1", kConditional, {kShift, kAtom}, When::ConstLeft},
    {Op::Max, kFloats, "$0 < $1 || $1 != $1 ? $1 : $0", kConditional, {kAtom, kAtom}},
    {Op::Min, kFloats, "$1 < $0 ? $1 : $0", kConditional, {kAtom, kShift}, When::ConstRight},
    {Op::Min, kFloats, "$0 <= $1 ? $0 : $1", kConditional, {kShift, kAtom}, When::ConstLeft},
    {Op::Min, kFloats, "$1 < $0 || $1 != $1 ? $1 : $0", kConditional, {kAtom, kAtom}},
    {Op::Max, kSmall, "($T)($0 < $1 ? $1 : $0)", kUnary, {kAtom, kAtom}},
    {Op::Max, kInts | kExact, "$0 < $1 ? $1 : $0", kConditional, {kAtom, kAtom}},
    {Op::Min, kSmall, "($T)($1 < $0 ? $1 : $0)", kUnary, {kAtom, kAtom}},
    {Op::Min, kInts | kExact, "$1 < $0 ? $1 : $0", kConditional, {kAtom, kAtom}},
    {Op::Max, kBool, "$0 || $1", kOr, {kCompare, kCompare}},
    {Op::Min, kBool, "$0 && $1", kAnd, {kCompare, kCompare}},
    {Op::CmpLt, kAll, "$0 < $1", kCompare, {kShift, kShift}},
    {Op::CmpLt, kBool, "!$0 && $1", kAnd, {kUnary, kCompare}},
    {Op::CmpEq, kAll | kBool, "$0 == $1", kCompare, {kShift, kShift}},
    {Op::CmpNe, kAll | kBool, "$0 != $1", kCompare, {kShift, kShift}},
    {Op::And, kBool, "$0 && $1", kAnd, {kAnd, kCompare}},
    {Op::Or, kBool, "$0 || $1", kOr, {kCompare, kCompare}},
    {Op::Xor, kBool, "$0 != $1", kCompare, {kShift, kShift}},
    {Op::And, kSmall, "($T)($0 & $1)", kUnary, {kUnary, kUnary}},
    {Op::And, kInts, "$0 & $1", kBits, {kUnary, kUnary}},
    {Op::Or, kSmall, "($T)($0 | $1)", kUnary, {kUnary, kUnary}},
    {Op::Or, kInts, "$0 | $1", kBits, {kUnary, kUnary}},
    {Op::Xor, kSmall, "($T)($0 ^ $1)", kUnary, {kUnary, kUnary}},
    {Op::Xor, kInts, "$0 ^ $1", kBits, {kUnary, kUnary}},
    {Op::Shl, kSmall, "($T)(($W)$0 << $1)", kUnary, {kUnary, kUnary}, When::ConstRight},
    {Op::Shl, kWideSigned, "($T)(($U)$0 << $1)", kUnary, {kUnary, kUnary}, When::ConstRight},
    {Op::Shl, kWideUnsigned, "$0 << $1", kShift, {kUnary, kUnary}, When::ConstRight},
    {Op::Shl, kInts, "etch_shl_$S($0, $1)", kAtom},
    {Op::Shr, kSmall, "($T)($0 >> $1)", kUnary, {kUnary, kUnary}, When::ConstRight},
    {Op::Shr, kInts, "$0 >> $1", kShift, {kUnary, kUnary}, When::ConstRight},
    {Op::Shr, kInts, "etch_shr_$S($0, $1)", kAtom},
    {Op::Where, kSmall, "($T)($0 ? $1 : $2)", kUnary, {kCompare, kOr, kOr}},
    {Op::Where, kAll | kBool, "$0 ? $1 : $2", kConditional, {kCompare, kOr, kOr}},
    // exp2, log2 and pow of some C libraries compute in double.
    {Op::Exp2, kSingle, "exp2$F($0)", kAtom, {}, When::NativeMath},
    {Op::Exp2, kSingle, "etch_exp2f($0)", kAtom},
    {Op::Exp2, kF64, "exp2($0)", kAtom},
    {Op::Log2, kSingle, "log2$F($0)", kAtom, {}, When::NativeMath},
    {Op::Log2, kSingle, "etch_log2f($0)", kAtom},
    {Op::Log2, kF64, "log2($0)", kAtom},
    {Op::Pow, kSingle, "pow$F($0, $1)", kAtom, {}, When::NativeMath},
    {Op::Pow, kSingle, "etch_powf($0, $1)", kAtom},
    {Op::Pow, kF64, "pow($0, $1)", kAtom},
    {Op::Exp, kFloats, "exp$F($0)", kAtom},
    {Op::Log, kFloats, "log$F($0)", kAtom},
    {Op::Sin, kFloats, "sin$F($0)", kAtom},
    {Op::Cos, kFloats, "cos$F($0)", kAtom},
    {Op::Tan, kFloats, "tan$F($0)", kAtom},
    {Op::Asin, kFloats, "asin$F($0)", kAtom},
    {Op::Acos, kFloats, "acos$F($0)", kAtom},
    {Op::Atan, kFloats, "atan$F($0)", kAtom},
    {Op::Sinh, kFloats, "sinh$F($0)", kAtom},
    {Op::Cosh, kFloats, "cosh$F($0)", kAtom},
    {Op::Tanh, kFloats, "tanh$F($0)", kAtom},
    {Op::Asinh, kFloats, "asinh$F($0)", kAtom},
    {Op::Acosh, kFloats, "acosh$F($0)", kAtom},
    {Op::Atanh, kFloats, "atanh$F($0)", kAtom},
    {Op::Erf, kFloats, "erf$F($0)", kAtom},
    {Op::Sqrt, kFloats, "sqrt$F($0)", kAtom},
    {Op::Floor, kFloats, "floor$F($0)", kAtom},
    {Op::Ceil, kFloats, "ceil$F($0)", kAtom},
    {Op::Trunc, kFloats, "trunc$F($0)", kAtom},
    {Op::Rint, kFloats, "rint$F($0)", kAtom},
};

// float16 and bfloat16 values are floats that have been rounded.
constexpr CastText kCastRows[] = {
    {kF32 | kHalf, kBool, "$0 != 0.0f", kCompare, kShift},
    {kF64, kBool, "$0 != 0.0", kCompare, kShift},
    {kInts, kBool, "$0 != 0", kCompare, kShift},
    {kInts | kBool, kInts, "($T)$0", kUnary, kUnary},
    {kF32 | kHalf, kInts, "etch_f32_to_$S($0)", kAtom, kAnything},
    {kF64, kInts, "etch_f64_to_$S($0)", kAtom, kAnything},
    {kF16, kF32, "$0", kAnything, kAnything},
    {kBF16, kF32, "$0", kAnything, kAnything},
    {kInts | kBool | kF64, kF32, "($T)$0", kUnary, kUnary},
    {kInts | kBool | kF32 | kHalf, kF64, "($T)$0", kUnary, kUnary},
    {kF64, kF16, "etch_half_to_float(etch_double_to_half($0))", kAtom, kAnything},
    {kF64, kBF16, "etch_bfloat16_to_float(etch_double_to_bfloat16($0))", kAtom, kAnything},
    {kF32 | kBF16, kF16, "etch_round_half($0)", kAtom, kAnything},
    {kF32 | kF16, kBF16, "etch_round_bfloat16($0)", kAtom, kAnything},
    {kInts | kBool, kF16, "etch_round_half(($T)$0)", kAtom, kUnary},
    {kInts | kBool, kBF16, "etch_round_bfloat16(($T)$0)", kAtom, kUnary},
};

constexpr CastText kBitcastRows[] = {
    {kF32, kI32 | kU32, "($T)etch_f32_bits($0)", kUnary, kAnything},
    {kI32 | kU32, kF32, "etch_f32_of_bits(($W)$0)", kAtom, kUnary},
    {kF64, kI64 | kU64, "($T)etch_f64_bits($0)", kUnary, kAnything},
    {kI64, kF64, "etch_f64_of_bits(($U)$0)", kAtom, kUnary},
    {kU64, kF64, "etch_f64_of_bits($0)", kAtom, kUnary},
    {kF16, kI16 | kU16, "($T)etch_float_to_half($0)", kUnary, kAnything},
    {kBF16, kI16 | kU16, "($T)etch_float_to_bfloat16($0)", kUnary, kAnything},
    {kI16, kF16, "etch_half_to_float(($U)$0)", kAtom, kUnary},
    {kU16, kF16, "etch_half_to_float($0)", kAtom, kAnything},
    {kI16, kBF16, "etch_bfloat16_to_float(($U)$0)", kAtom, kUnary},
    {kU16, kBF16, "etch_bfloat16_to_float($0)", kAtom, kAnything},
    {kF16, kBF16, "etch_bfloat16_to_float(etch_float_to_half($0))", kAtom, kAnything},
    {kBF16, kF16, "etch_half_to_float(etch_float_to_bfloat16($0))", kAtom, kAnything},
    {k8, kBool, "$0 != 0", kCompare, kShift},
    {kInts | kBool, kInts, "($T)$0", kUnary, kUnary},
};

}  // namespace

const std::span<const OpText> kOpTexts = kOpRows;
const std::span<const CastText> kCastTexts = kCastRows;
const std::span<const CastText> kBitcastTexts = kBitcastRows;

}  // namespace etch
