// Functions of codegen/math.h in languages that have functions: one for numbers, one for vectors of each size.
#include <algorithm>

#include "renderer/render.h"

namespace etch {

std::string Renderer::math_name(const MathFunction& function, int lanes) const {
  return "etch_" + std::string(function.name) + "_f32" + (lanes == 1 ? "" : "x" + std::to_string(lanes));
}

// Its types and functions of etch_math.h are noted for the kernel that calls it.
std::string Renderer::math_definition(const MathFunction& function, int lanes) {
  const UOpList steps = math_steps(function, lanes);
  KernelSignature signature;
  signature.function = math_name(function, lanes);
  Renderer body(steps, language_, signature, options_);
  std::string text = body.run_function(std::string(function.meaning));
  helpers_.insert(body.helpers_.begin(), body.helpers_.end());
  definitions_.insert(body.definitions_.begin(), body.definitions_.end());
  facts_.uses_vectors = facts_.uses_vectors || body.facts_.uses_vectors;
  return text;
}

std::string Renderer::run_function(const std::string& comment) {
  result_ = uops_.order.back();
  count_uses();
  std::string operands;
  for (const char* name : kMathOperands)
    for (const UOp* u : uops_.order) {
      if (u->uop != UOpKind::DefineVar || u->name != name) continue;
      names_.add(name);
      operands += (operands.empty() ? "" : ", ") + type_of(u) + " " + name;
    }
  line("/* " + comment + " */");
  const std::string type = type_of(result_);
  open(std::string(style_.function_prefix) + type + " " + signature_.function + "(" + operands + ") {");
  for (const UOp* u : uops_.order) step(u);
  line("return " + expr(result_).text + ";");
  return text_ + "}\n";
}

}  // namespace etch
