// Internal to the renderer: single values in LLVM IR. float16 and bfloat16 values are floats that have been rounded, bool is i1; in
// memory they are i16, i16 and i8.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <set>
#include <span>
#include <string>

#include "codegen/options.h"
#include "ir/uop.h"

namespace etch {

struct LlvmOp;

class LlvmValues {
 public:
  using Operands = std::span<llvm::Value* const>;

  LlvmValues(llvm::Module& module, llvm::IRBuilder<>& builder, const CodegenOptions& options)
      : module_(module), builder_(builder), options_(options) {}

  llvm::Type* value_type(DType dtype, int lanes = 1);
  llvm::Type* memory_type(DType dtype);
  llvm::Value* constant(Scalar value, int lanes = 1);
  /// `value` in all lanes, if it is one number.
  llvm::Value* widen(llvm::Value* value, int lanes);
  /// An element as it lies in a buffer, as a value; and the other way.
  llvm::Value* from_memory(DType dtype, llvm::Value* stored);
  llvm::Value* to_memory(DType dtype, llvm::Value* value);

  llvm::Value* alu(const UOp& u, Operands operands);
  llvm::Value* cast(DType from, DType to, llvm::Value* value);
  llvm::Value* cast_lanes(DType from, DType to, llvm::Value* value, llvm::Type* type);
  llvm::Value* bitcast(DType from, DType to, llvm::Value* value);

  /// A Dot: a call of a function of the module, which says how it is computed on any processor, and by which intrinsic function on one
  /// that has a feature (attributes etch-intrinsic and etch-feature).
  llvm::Value* dot(const UOp& u, llvm::Value* sum, llvm::Value* a, llvm::Value* b);

  /// Functions of etch_math.h that were called.
  const std::set<std::string>& helpers() const { return helpers_; }

  // What the rows of the table of operations do.
  llvm::Value* negative(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* arithmetic(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* guarded(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* multiply_add(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* choice(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* comparison(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* where(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* intrinsic(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* library(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* sigmoid(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* gelu(const LlvmOp& row, const UOp& u, Operands a);
  llvm::Value* native_library(const LlvmOp& row, const UOp& u, Operands a);

 private:
  llvm::CallInst* call(const std::string& function, llvm::Type* result, Operands arguments);
  /// A call of etch_math.h.
  llvm::Value* helper(const std::string& name, llvm::Type* result, Operands arguments);
  llvm::Value* helper(const std::string& name, llvm::Type* result, llvm::Value* argument);
  llvm::Function* dot_function(const UOp& u, const TargetInstruction& row, llvm::Type* sum, llvm::Type* a, llvm::Type* b);
  llvm::Value* rounded(DType dtype, llvm::Value* value);
  llvm::Value* binary(unsigned instruction, const UOp& u, llvm::Value* a, llvm::Value* b);

  llvm::Module& module_;
  llvm::IRBuilder<>& builder_;
  const CodegenOptions& options_;
  std::set<std::string> helpers_;
};

}  // namespace etch
