#include "program/interpret.h"

#include "base/error.h"

namespace etch {

Interpreter::Interpreter(const Program& program, VarValues vars) : program_(&program), vars_(std::move(vars)) {
  for (const ProgramBuffer& buffer : program.buffers) values_.push_back(buffer.data);
}

Array Interpreter::evaluate(int call) const {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  check(kernel.ast != nullptr, "a kernel has an AST");
  std::vector<const Array*> inputs;
  for (int b : c.reads()) inputs.push_back(&get(b));
  return interp_evaluate(kernel.ast, inputs, vars_);
}

}  // namespace etch
