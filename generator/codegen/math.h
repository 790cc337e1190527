// Functions of float32 that no instruction computes, by operations that one does: a row each. So loops over them become vectors, and every
// language computes the same; a target may leave them to its C library instead (<math library="..."/>).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/options.h"
#include "ir/uop.h"

namespace etch {

class UOpBuilder;

struct MathFunction {
  Op op;
  std::string_view name;     // "exp"
  std::string_view c_name;   // of what a C library has instead: "expf", or has for a part of it
  std::string_view meaning;  // how it is computed, and how far it is from the right result at most
  /// Adds the steps from the operands, numbers or vectors of float32, to the value.
  const UOp* (*value)(UOpBuilder& builder, std::span<const UOp* const> operands);
};

/// The row of `op`; null if there is none.
const MathFunction* math_function(Op op);
/// What a target may leave to its C library: "expf" and so on.
std::vector<std::string> functions_of_library();
/// The row by which a kernel with these options computes `op` of `dtype`; null if it has another way.
const MathFunction* expansion_of(Op op, DType dtype, const CodegenOptions& options);
/// Whether `op` of float32 in all lanes of a vector is one value, not one for each lane.
bool has_vector_form(Op op, const CodegenOptions& options);

/// What the operands of a function are called, in their order.
inline constexpr const char* kMathOperands[] = {"x", "y"};
/// The steps of a function of so many lanes: its operands are the DefineVars among them, the last one is its value.
UOpList math_steps(const MathFunction& function, int lanes);

/// For languages without functions: each of these operations becomes its steps.
///   before:  b = EXP a      after:  t = a * 1.442695 + 12582912; n = t - 12582912; ...
UOpList expand_math(const UOpList& uops, const CodegenOptions& options);

}  // namespace etch
