// Functions of codegen/math.h in languages that have functions: one for numbers, one for vectors of each size.
#include "base/toposort.h"
#include "codegen/builder.h"
#include "renderer/render.h"

namespace etch {

std::string Renderer::math_name(const MathFunction& function, int lanes) const {
  return "etch_" + std::string(function.name) + "_f32" + (lanes == 1 ? "" : "x" + std::to_string(lanes));
}

// Its types and functions of etch_math.h are noted for the kernel that calls it.
std::string Renderer::math_definition(const MathFunction& function, int lanes) {
  UOpBuilder builder;
  const UOp* x = builder.add(UOp{.uop = UOpKind::DefineVar, .dtype = DType::Float32, .lanes = lanes, .name = "x"});
  const UOp* value = function.value(builder, x);
  UOpList steps = builder.finish();
  steps.order = toposort<UOp>({value}, [](const UOp* u) { return u->src; });
  KernelSignature signature;
  signature.function = math_name(function, lanes);
  Renderer body(steps, language_, signature, options_);
  std::string text = body.run_function(x, value, std::string(function.meaning));
  helpers_.insert(body.helpers_.begin(), body.helpers_.end());
  definitions_.insert(body.definitions_.begin(), body.definitions_.end());
  facts_.uses_vectors = facts_.uses_vectors || body.facts_.uses_vectors;
  return text;
}

std::string Renderer::run_function(const UOp* x, const UOp* value, const std::string& comment) {
  result_ = value;
  count_uses();
  names_.add(x->name);
  line("/* " + comment + " */");
  const std::string type = type_of(value);
  open(std::string(style_.function_prefix) + type + " " + signature_.function + "(" + type_of(x) + " " + x->name + ") {");
  for (const UOp* u : uops_.order) step(u);
  line("return " + expr(value).text + ";");
  return text_ + "}\n";
}

}  // namespace etch
