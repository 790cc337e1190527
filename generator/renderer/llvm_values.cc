#include "renderer/llvm_values.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>
#include <numbers>

#include "base/error.h"
#include "renderer/cstyle.h"

namespace etch {

/// How an operation is written. The three numbers are instructions, predicates of a comparison or an intrinsic function.
struct LlvmOp {
  Op op;
  llvm::Value* (LlvmValues::*emit)(const LlvmOp& row, const UOp& u, LlvmValues::Operands operands);
  unsigned of_float = 0, of_signed = 0, of_unsigned = 0;
  const char* name = "";  // of the function; in the C library that of float ends in f
};

namespace {

using llvm::CmpInst;
using llvm::Instruction;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// The C library's functions that are one instruction on some processors are intrinsic functions, which become calls elsewhere.
constexpr LlvmOp kRows[] = {
    {Op::Neg, &LlvmValues::negative},
    {Op::Add, &LlvmValues::arithmetic, Instruction::FAdd, Instruction::Add, Instruction::Add},
    {Op::Sub, &LlvmValues::arithmetic, Instruction::FSub, Instruction::Sub, Instruction::Sub},
    {Op::Mul, &LlvmValues::arithmetic, Instruction::FMul, Instruction::Mul, Instruction::Mul},
    {Op::And, &LlvmValues::arithmetic, 0, Instruction::And, Instruction::And},
    {Op::Or, &LlvmValues::arithmetic, 0, Instruction::Or, Instruction::Or},
    {Op::Xor, &LlvmValues::arithmetic, 0, Instruction::Xor, Instruction::Xor},
    {Op::Div, &LlvmValues::guarded, Instruction::FDiv, Instruction::SDiv, Instruction::UDiv, "div"},
    {Op::Mod, &LlvmValues::guarded, Instruction::FRem, Instruction::SRem, Instruction::URem, "mod"},
    {Op::Shl, &LlvmValues::guarded, 0, Instruction::Shl, Instruction::Shl, "shl"},
    {Op::Shr, &LlvmValues::guarded, 0, Instruction::AShr, Instruction::LShr, "shr"},
    {Op::MulAcc, &LlvmValues::multiply_add},
    {Op::Max, &LlvmValues::choice, CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
    {Op::Min, &LlvmValues::choice, CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
    {Op::CmpLt, &LlvmValues::comparison, CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
    {Op::CmpEq, &LlvmValues::comparison, CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
    {Op::CmpNe, &LlvmValues::comparison, CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
    {Op::Where, &LlvmValues::where},
    {Op::Sqrt, &LlvmValues::intrinsic, Intrinsic::sqrt},
    {Op::Floor, &LlvmValues::intrinsic, Intrinsic::floor},
    {Op::Ceil, &LlvmValues::intrinsic, Intrinsic::ceil},
    {Op::Trunc, &LlvmValues::intrinsic, Intrinsic::trunc},
    {Op::Rint, &LlvmValues::intrinsic, Intrinsic::rint},
    {Op::RintSmall, &LlvmValues::intrinsic, Intrinsic::rint},
    {Op::Exp, &LlvmValues::library, 0, 0, 0, "exp"},
    {Op::ExpNonPos, &LlvmValues::library, 0, 0, 0, "exp"},
    {Op::Expm1, &LlvmValues::library, 0, 0, 0, "expm1"},
    {Op::Sin, &LlvmValues::library, 0, 0, 0, "sin"},
    {Op::Cos, &LlvmValues::library, 0, 0, 0, "cos"},
    {Op::Tan, &LlvmValues::library, 0, 0, 0, "tan"},
    {Op::Asin, &LlvmValues::library, 0, 0, 0, "asin"},
    {Op::Acos, &LlvmValues::library, 0, 0, 0, "acos"},
    {Op::Atan, &LlvmValues::library, 0, 0, 0, "atan"},
    {Op::Sinh, &LlvmValues::library, 0, 0, 0, "sinh"},
    {Op::Cosh, &LlvmValues::library, 0, 0, 0, "cosh"},
    {Op::Tanh, &LlvmValues::library, 0, 0, 0, "tanh"},
    {Op::Erf, &LlvmValues::library, 0, 0, 0, "erf"},
    {Op::Sigmoid, &LlvmValues::sigmoid},
    {Op::Gelu, &LlvmValues::gelu},
    {Op::Exp2, &LlvmValues::native_library, 0, 0, 0, "exp2"},
    {Op::Log2, &LlvmValues::native_library, 0, 0, 0, "log2"},
    {Op::Pow, &LlvmValues::native_library, 0, 0, 0, "pow"},
    {Op::Log, &LlvmValues::native_library, 0, 0, 0, "log"},
    {Op::Log1p, &LlvmValues::native_library, 0, 0, 0, "log1p"},
    {Op::Asinh, &LlvmValues::native_library, 0, 0, 0, "asinh"},
    {Op::Acosh, &LlvmValues::native_library, 0, 0, 0, "acosh"},
    {Op::Atanh, &LlvmValues::native_library, 0, 0, 0, "atanh"},
};

bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// The type of the operands, which is not that of the result of a comparison.
DType operand_type(const UOp& u) { return u.src[u.op == Op::Where ? 1 : 0]->dtype; }

unsigned column(const LlvmOp& row, DType dtype) {
  return is_float(dtype) ? row.of_float : is_unsigned(dtype) || dtype == DType::Bool ? row.of_unsigned : row.of_signed;
}

}  // namespace

llvm::Type* LlvmValues::value_type(DType dtype, int lanes) {
  llvm::Type* type = nullptr;
  switch (dtype) {
    case DType::Bool:
      type = builder_.getInt1Ty();
      break;
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Int64:
    case DType::UInt64:
      type = builder_.getIntNTy(static_cast<unsigned>(8 * bytes_of(dtype)));
      break;
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      type = builder_.getFloatTy();
      break;
    case DType::Float64:
      type = builder_.getDoubleTy();
      break;
  }
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

llvm::Type* LlvmValues::memory_type(DType dtype) {
  if (dtype == DType::Bool) return builder_.getInt8Ty();
  return is_half(dtype) ? builder_.getInt16Ty() : value_type(dtype);
}

Value* LlvmValues::constant(Scalar value, int lanes) {
  llvm::Type* type = value_type(value.dtype(), lanes);
  if (is_float(value.dtype())) return llvm::ConstantFP::get(type, value.as_double());
  return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(value.as_int()), is_int(value.dtype()) && !is_unsigned(value.dtype()));
}

Value* LlvmValues::widen(Value* value, int lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

llvm::CallInst* LlvmValues::call(const std::string& function, llvm::Type* result, Operands arguments) {
  std::vector<llvm::Type*> types;
  for (const Value* a : arguments) types.push_back(a->getType());
  llvm::FunctionCallee callee = module_.getOrInsertFunction(function, llvm::FunctionType::get(result, types, false));
  llvm::CallInst* made = builder_.CreateCall(callee, llvm::ArrayRef(arguments.data(), arguments.size()));
  made->getCalledFunction()->setDoesNotThrow();
  made->getCalledFunction()->setWillReturn();
  return made;
}

Value* LlvmValues::helper(const std::string& name, llvm::Type* result, Operands arguments) {
  const std::string function = "etch_" + name;
  helpers_.insert(function);
  return call(function, result, arguments);
}

Value* LlvmValues::helper(const std::string& name, llvm::Type* result, Value* argument) {
  return helper(name, result, Operands(&argument, 1));
}

Value* LlvmValues::rounded(DType dtype, Value* value) {
  return helper(dtype == DType::Float16 ? "round_half" : "round_bfloat16", builder_.getFloatTy(), value);
}

Value* LlvmValues::from_memory(DType dtype, Value* stored) {
  if (dtype == DType::Bool) return builder_.CreateIsNotNull(stored);
  if (dtype == DType::Float16) return helper("half_to_float", builder_.getFloatTy(), stored);
  return dtype == DType::BFloat16 ? helper("bfloat16_to_float", builder_.getFloatTy(), stored) : stored;
}

Value* LlvmValues::to_memory(DType dtype, Value* value) {
  if (dtype == DType::Bool) return builder_.CreateZExt(value, builder_.getInt8Ty());
  if (dtype == DType::Float16) return helper("float_to_half", builder_.getInt16Ty(), value);
  return dtype == DType::BFloat16 ? helper("float_to_bfloat16", builder_.getInt16Ty(), value) : value;
}

// Sums and products of floats may be fused to one operation that rounds once, as C compilers do it.
Value* LlvmValues::binary(unsigned instruction, const UOp& u, Value* a, Value* b) {
  Value* value = builder_.CreateBinOp(static_cast<Instruction::BinaryOps>(instruction), a, b);
  auto* made = llvm::dyn_cast<Instruction>(value);  // null: a constant
  if (made == nullptr) return value;
  const bool fuses = instruction == Instruction::FAdd || instruction == Instruction::FSub || instruction == Instruction::FMul;
  if (fuses) made->setHasAllowContract(true);
  if (!u.exact || !llvm::isa<llvm::OverflowingBinaryOperator>(made)) return value;
  if (is_unsigned(u.dtype))
    made->setHasNoUnsignedWrap();
  else
    made->setHasNoSignedWrap();
  return value;
}

Value* LlvmValues::negative(const LlvmOp&, const UOp& u, Operands a) {
  return is_float(u.dtype) ? builder_.CreateFNeg(a[0]) : builder_.CreateNeg(a[0], "", u.exact && !is_unsigned(u.dtype));
}

Value* LlvmValues::arithmetic(const LlvmOp& row, const UOp& u, Operands a) { return binary(column(row, u.dtype), u, a[0], a[1]); }

// Of integers: where the instruction is undefined for some operands, and nobody has proved that they do not come up, a function.
Value* LlvmValues::guarded(const LlvmOp& row, const UOp& u, Operands a) {
  if (is_float(u.dtype) || u.exact || u.lanes > 1) return arithmetic(row, u, a);  // vectors are shifted by constants alone
  return helper(std::string(row.name) + "_" + std::string(short_name(u.dtype)), value_type(u.dtype), a);
}

Value* LlvmValues::multiply_add(const LlvmOp&, const UOp& u, Operands a) {
  const bool is_real = is_float(u.dtype);
  return binary(is_real ? Instruction::FAdd : Instruction::Add, u, a[2],
                binary(is_real ? Instruction::FMul : Instruction::Mul, u, a[0], a[1]));
}

// Max: a < b ? b : a. If either operand is NaN the result is NaN: every comparison with NaN is false.
Value* LlvmValues::choice(const LlvmOp& row, const UOp& u, Operands a) {
  Value* takes_second = comparison(row, u, a);
  if (is_float(u.dtype) && !llvm::isa<llvm::Constant>(a[1]))
    takes_second = builder_.CreateOr(takes_second, builder_.CreateFCmpUNO(a[1], a[1]));
  return builder_.CreateSelect(takes_second, a[1], a[0]);
}

Value* LlvmValues::comparison(const LlvmOp& row, const UOp& u, Operands a) {
  return builder_.CreateCmp(static_cast<CmpInst::Predicate>(column(row, operand_type(u))), a[0], a[1]);
}

Value* LlvmValues::where(const LlvmOp&, const UOp&, Operands a) { return builder_.CreateSelect(a[0], a[1], a[2]); }

Value* LlvmValues::intrinsic(const LlvmOp& row, const UOp&, Operands a) {
  return builder_.CreateUnaryIntrinsic(static_cast<Intrinsic::ID>(row.of_float), a[0]);
}

Value* LlvmValues::library(const LlvmOp& row, const UOp& u, Operands a) {
  llvm::CallInst* made = call(row.name + std::string(u.dtype == DType::Float64 ? "" : "f"), value_type(u.dtype), a);
  // It writes errno, which nobody reads. Without that it would be called in a loop over vectors, for one lane after the other: slower.
  made->getCalledFunction()->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Mod));
  return made;
}

Value* LlvmValues::sigmoid(const LlvmOp&, const UOp& u, Operands a) {
  Value* one = llvm::ConstantFP::get(value_type(u.dtype), 1);
  Value* negative = builder_.CreateFNeg(a[0]);
  const LlvmOp exp{Op::Exp, &LlvmValues::library, 0, 0, 0, "exp"};
  return builder_.CreateFDiv(one, builder_.CreateFAdd(one, library(exp, u, Operands(&negative, 1))));
}

// Of float64 by erfc, which keeps its digits where 1 + erf has lost them; of float32 only where the C library has the better erf.
Value* LlvmValues::gelu(const LlvmOp&, const UOp& u, Operands a) {
  llvm::Type* type = value_type(u.dtype);
  const bool is_wide = u.dtype == DType::Float64;
  const LlvmOp function{u.op, &LlvmValues::library, 0, 0, 0, is_wide ? "erfc" : "erf"};
  Value* scaled = is_wide ? builder_.CreateFDiv(a[0], llvm::ConstantFP::get(type, -std::numbers::sqrt2))
                          : builder_.CreateFMul(llvm::ConstantFP::get(type, 1 / std::numbers::sqrt2), a[0]);
  Value* part = library(function, u, Operands(&scaled, 1));
  if (!is_wide) part = builder_.CreateFAdd(llvm::ConstantFP::get(type, 1), part);
  return builder_.CreateFMul(builder_.CreateFMul(llvm::ConstantFP::get(type, 0.5), a[0]), part);
}

// Some C libraries compute these float functions in double.
Value* LlvmValues::native_library(const LlvmOp& row, const UOp& u, Operands a) {
  if (u.dtype == DType::Float64 || options_.native_math) return library(row, u, a);
  return helper(std::string(row.name) + "f", builder_.getFloatTy(), a);
}

Value* LlvmValues::alu(const UOp& u, Operands operands) {
  const LlvmOp* row = std::ranges::find(kRows, u.op, &LlvmOp::op);
  check(row != std::end(kRows), "every operation has a row: " + std::string(name_of(u.op)));
  std::vector<Value*> wide;
  for (Value* v : operands) wide.push_back(widen(v, u.lanes));
  Value* value = (this->*row->emit)(*row, u, wide);
  return is_half(u.dtype) && !is_exact(u.op) ? rounded(u.dtype, value) : value;
}

// Lane l is the sum of elements l * macs + 0, 1, ... of the products.
llvm::Function* LlvmValues::dot_function(const UOp& u, const TargetInstruction& row, llvm::Type* sum, llvm::Type* a, llvm::Type* b) {
  const std::string name = "etch_" + row.name;
  if (llvm::Function* known = module_.getFunction(name)) return known;
  auto* made = llvm::Function::Create(llvm::FunctionType::get(sum, {sum, a, b}, false), llvm::Function::InternalLinkage, name, module_);
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  if (!row.intrinsic.empty()) {
    made->addFnAttr("etch-intrinsic", row.intrinsic);
    made->addFnAttr("etch-feature", row.feature);
  }
  llvm::IRBuilder<> body(llvm::BasicBlock::Create(module_.getContext(), "entry", made));
  Value* total = made->getArg(0);
  for (int mac = 0; mac < row.macs; mac++) {
    std::vector<int> elements;
    for (int lane = 0; lane < u.lanes; lane++) elements.push_back(lane * static_cast<int>(row.macs) + mac);
    const auto wide = [&](unsigned operand) {
      Value* all = made->getArg(operand);
      Value* some =
          u.lanes == 1 ? body.CreateExtractElement(all, static_cast<std::uint64_t>(mac)) : body.CreateShuffleVector(all, elements);
      return is_unsigned(u.src[operand]->dtype) ? body.CreateZExt(some, sum) : body.CreateSExt(some, sum);
    };
    Value* a_wide = wide(1);  // one after the other: the order of arguments is the compiler's
    Value* b_wide = wide(2);
    total = body.CreateAdd(total, body.CreateMul(a_wide, b_wide));
  }
  body.CreateRet(total);
  return made;
}

Value* LlvmValues::dot(const UOp& u, Value* sum, Value* a, Value* b) {
  const TargetInstruction& row = options_.instructions[static_cast<std::size_t>(u.number)];
  const int count = u.lanes * static_cast<int>(u.size);
  const auto whole = [&](const UOp* s, Value* v) -> Value* {
    if (s->lanes == count) return v;
    std::vector<int> elements;
    for (int i = 0; i < count; i++) elements.push_back(i % static_cast<int>(u.size));
    return builder_.CreateShuffleVector(v, elements);
  };
  if (u.value || row.is_whole_pair()) {  // the elements of the step, or of one step after the other
    std::vector<int> elements;
    for (int i = 0; i < count; i++)
      elements.push_back(u.value ? 2 * i + static_cast<int>(u.value->as_int()) : i % (count / 2) * 2 + i / (count / 2));
    a = builder_.CreateShuffleVector(a, elements);
  } else {
    a = whole(u.src[1], a);
  }
  b = whole(u.src[2], b);
  return builder_.CreateCall(dot_function(u, row, sum->getType(), a->getType(), b->getType()), {sum, a, b});
}

// By the function of numbers, lane by lane.
Value* LlvmValues::cast_lanes(DType from, DType to, Value* value, llvm::Type* type) {
  Value* made = llvm::PoisonValue::get(type);
  for (std::uint64_t lane = 0; lane < llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); lane++)
    made = builder_.CreateInsertElement(made, cast(from, to, builder_.CreateExtractElement(value, lane)), lane);
  return made;
}

Value* LlvmValues::cast(DType from, DType to, Value* value) {
  if (to == DType::Bool)
    return is_float(from) ? builder_.CreateFCmpUNE(value, llvm::ConstantFP::getZero(value->getType())) : builder_.CreateIsNotNull(value);
  const bool is_signed = is_int(from) && !is_unsigned(from);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  llvm::Type* type = value_type(to, vector == nullptr ? 1 : static_cast<int>(vector->getNumElements()));
  if (vector != nullptr && is_float(from) && !is_float(to)) return cast_lanes(from, to, value, type);
  if (!is_float(to)) {
    if (!is_float(from)) return builder_.CreateIntCast(value, type, is_signed);
    return helper((from == DType::Float64 ? "f64_to_" : "f32_to_") + std::string(short_name(to)), value_type(to), value);
  }
  if (from == DType::Float64 && is_half(to))  // rounded once
    return from_memory(to, helper(to == DType::Float16 ? "double_to_half" : "double_to_bfloat16", builder_.getInt16Ty(), value));
  if (is_float(from))
    value = builder_.CreateFPCast(value, type);
  else
    value = is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
  return is_half(to) && from != to ? rounded(to, value) : value;
}

Value* LlvmValues::bitcast(DType from, DType to, Value* value) {
  if (from == DType::Bool || is_half(from)) value = to_memory(from, value);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (vector != nullptr) return builder_.CreateBitCast(value, value_type(to, static_cast<int>(vector->getNumElements())));
  value = builder_.CreateBitCast(value, memory_type(to));
  return to == DType::Bool || is_half(to) ? from_memory(to, value) : value;
}

}  // namespace etch
