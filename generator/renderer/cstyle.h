// The texts of languages with C syntax, as values: a new language is a new CStyle, not a new branch in the code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/scalar.h"
#include "renderer/language.h"

namespace etch {

/// Classes of types that share texts, one bit each. Exact: integers whose arithmetic is proved not to wrap around. Vec: vectors of
/// floats. VecInt: vectors of int32, whose text is that of unsigned numbers, which wrap around; VecU32: vectors of uint32.
enum TypeClass : unsigned {
  kBool = 1,
  kI8 = 2,
  kU8 = 4,
  kI16 = 8,
  kU16 = 16,
  kI32 = 32,
  kU32 = 64,
  kI64 = 128,
  kU64 = 256,
  kF16 = 512,
  kBF16 = 1024,
  kF32 = 2048,
  kF64 = 4096,
  kVec = 8192,
  kExact = 16384,
  kVecInt = 32768,
  kVecU32 = 65536,
};

/// When a row applies. Any: to all operands. ConstRight, ConstLeft: if that operand is a constant (for Div, Mod, Shl, Shr one that
/// needs no special case; for Max, Min not NaN). ZeroRight: if the right operand is 0. NativeMath: if the C library's function
/// computes in float. WideInt: if C's int has more than 16 bits. NoRint: if the C library has no
/// rintf. HidesEqual: if the compiler must not see that all lanes are equal. HidesZero: the
/// same, and the right operand is 0.
enum class When : std::uint8_t { Any, ConstRight, ConstLeft, ZeroRight, NativeMath, WideInt, NoRint, HidesEqual, HidesZero };

/// Text of an operation: #name is `name` of runtime_c/etch_math.h (etch_name in the text), $0 $1 $2 operands, $T its type, $U the unsigned
/// type of that size, $V that of the first operand, $W the unsigned 32-bit type, $F suffix of math functions, $S short name of the type
/// (i32), $L lanes.
struct OpText {
  Op op;
  unsigned classes;  // of the first operand (Where: of the second)
  std::string_view text;
  int precedence;                 // of the result
  std::array<int, 3> operands{};  // least precedence of each operand without parentheses
  When when = When::Any;
};

/// Text of a conversion from one class to another.
struct CastText {
  unsigned from, to;
  std::string_view text;
  int precedence;
  int operand;
};

/// Precedence of C's operators.
enum Precedence : int {
  kAnything = 0,
  kConditional = 20,
  kOr = 28,
  kAnd = 30,
  kBits = 40,
  kCompare = 50,
  kShift = 60,
  kSum = 70,
  kProduct = 80,
  kUnary = 90,
  kAtom = 100
};

extern const std::span<const OpText> kOpTexts;
extern const std::span<const CastText> kCastTexts;
extern const std::span<const CastText> kBitcastTexts;

struct CStyle {
  std::string_view kernel_prefix;                         // before the function's name
  std::string_view function_prefix{};                     // of functions that kernels call
  bool arguments_in_table = false;                        // f(void *const *arg) instead of one parameter each
  std::string_view global_prefix{}, local_prefix{};       // address spaces
  std::array<std::string_view, kDTypeCount> value_type;   // of a value
  std::array<std::string_view, kDTypeCount> store_type;   // of an element in memory
  std::array<std::string_view, kDTypeCount> load, store;  // as OpText; $b buffer, $i index, $v value; empty: $b[$i]
  std::string_view math_suffix;                           // of functions of float: sqrtf
  std::string_view i64_literal, u64_literal;              // $0 digits
  std::string_view i32_min, i64_min, infinity, nan, infinity64, nan64;
  std::string_view group_id{}, local_id{}, item_id{}, barrier{};  // $0 dimension, $D its letter: x, y, z
  std::string_view stores_apart{};                                // in front of a loop whose stores are far from each other
  std::string_view group_bound{};                                 // before the function's name; $0 number of work-items in a group
};

/// The function that a Dot calls, and its definition: void NAME(sum *, const a *, const b *) adds to each lane of the sum. `a_is_one`: a is
/// the same for all lanes and is given once; b_is_one the same.
struct DotFunction {
  std::string name, definition;
};
DotFunction dot_function(const CStyle& style, const TargetInstruction& row, bool a_is_one, bool b_is_one);
/// The same for a row of one lane: sum NAME(sum, const a *, const b *) returns the new sum.
DotFunction scalar_dot_function(const CStyle& style, const TargetInstruction& row, std::optional<std::int64_t> step);
/// The definition of the function that a Wmma calls: void etch_NAME(float (&d)[sums], bits of a ..., bits of b ...).
std::string matrix_function(const CStyle& style, const TargetInstruction& row);

/// Language::render of all languages with C syntax.
Rendered render_c(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options);

/// The same for vectors: "u32x4".
std::string short_name(DType dtype, std::int64_t lanes);
/// The type in the names of etch_math.h: "i32" of etch_div_i32.
std::string_view short_name(DType dtype);
/// The text of a constant: the shortest digits that read back exactly.
std::string literal(const CStyle& style, Scalar value);
/// Replaces $0, $1, ... in a template. Each #name becomes etch_name, which is also added to `helpers`; `helpers` may be null if the
/// template has no #name.
std::string substitute(std::string_view text, std::span<const std::pair<char, std::string>> values,
                       std::set<std::string>* helpers = nullptr);

}  // namespace etch
