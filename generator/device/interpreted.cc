// Interpreted: each operation as a function of whole arrays, evaluated as the reference evaluates an AST of that one operation.
#include <array>

#include "device/compiled.h"
#include "program/generate.h"

namespace etch {
namespace {

/// An AST of one operation, as it is put together.
struct OneOp {
  explicit OneOp(const Interpreted::OpArguments& arguments) {
    for (std::size_t i = 0; i < arguments.operands.size(); i++) {
      const Array& a = arguments.operands[i];
      inputs.push_back(&a);
      loads.push_back(ops.load(static_cast<int>(i) + 1, a.dtype(), ShapeTracker::from_shape(sizes(a.shape()))));
    }
  }
  static std::vector<Sint> sizes(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }
  const LazyOp* operand(Op op) const {
    check(static_cast<int>(loads.size()) == info(op).arity, "an operation gets as many operands as its row says");
    return loads[0];
  }
  Array value(const LazyOp* op) { return interp_evaluate(ops.store(0, op, ShapeTracker::from_shape(op->shape)), inputs); }

  LazyOps ops;
  std::vector<const Array*> inputs;
  std::vector<const LazyOp*> loads;
};

template <Op kOp>
Array evaluate_op(const Interpreted::OpArguments& arguments) {
  OneOp one(arguments);
  const LazyOp* a = one.operand(kOp);
  if constexpr (kOp == Op::Cast)
    return one.value(one.ops.cast(a, arguments.dtype));
  else if constexpr (kOp == Op::Bitcast)
    return one.value(one.ops.bitcast(a, arguments.dtype));
  else if constexpr (kOp == Op::Expand)
    return one.value(one.ops.expand(a, OneOp::sizes(arguments.shape)));
  else if constexpr (info(kOp).group == OpGroup::Reduce)
    return one.value(one.ops.reduce(kOp, a, arguments.axes));
  else
    return one.value(one.ops.elementwise(kOp, one.loads));
}

template <Op kOp>
constexpr Interpreted::OpFunction function_of() {
  if constexpr (info(kOp).group == OpGroup::Buffer || kOp == Op::MulAcc)
    return nullptr;
  else
    return evaluate_op<kOp>;
}

constexpr Interpreted::OpFunction kFunctions[] = {
#define OP(name, group, arity, types, traits, cost, word, backward, meaning) function_of<Op::name>(),
#include "ir/ops.def"
};

}  // namespace

Interpreted::OpFunction Interpreted::fxn_for_op(Op op) { return kFunctions[static_cast<std::size_t>(op)]; }

std::shared_ptr<JITRunner> Interpreted::make_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const {
  ASTSignature signature = signature_of(ast, name());
  const Estimate estimate = estimate_of(ast, signature.arguments);
  const CodegenOptions plain;
  ProgramKernel kernel =
      kernel_of_ast(ast, {.function = Kernel(ast, plain).shape_name(), .arguments = signature.arguments, .variables = {}});
  tell(kernel);
  return std::make_shared<InterpretedASTRunner>(ast, std::move(signature), estimate, stats(), std::move(owner), std::move(kernel.name));
}

}  // namespace etch
