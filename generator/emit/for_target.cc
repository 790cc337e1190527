// The parts of the files that depend on the target: its flags, and the features that NAME.c requires.
#include <fmt/format.h>

#include <algorithm>

#include "emit/form.h"
#include "ir/lazyop.h"

namespace etch {
namespace {

std::string spaced(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

bool uses_vectors(const Project& p) {
  return std::ranges::any_of(p.program->kernels, [](const ProgramKernel& k) { return k.text.uses_vectors; });
}

// Whether the C text of `op` compares floats for equality. The maximum of two values that may both be NaN does so too.
bool compares_floats(const LazyOp* op) {
  const auto is_const = [](const LazyOp* source) { return source->op == Op::Const; };
  if (op->src.empty() || !is_float(op->src[0]->dtype)) return false;
  if (op->op == Op::CmpEq || op->op == Op::CmpNe || op->op == Op::ReduceMax || op->op == Op::ReduceMin) return true;
  if (op->op == Op::Cast) return op->dtype == DType::Bool;
  return (op->op == Op::Max || op->op == Op::Min) && std::ranges::none_of(op->src, is_const);
}

// The flags on which the feature macros of the compiler depend: Code and Abi flags (-mfloat-abi also defines __ARM_FP).
std::vector<std::string> feature_flags(const EmitOptions& options) {
  std::vector<std::string> words = options.build.code;
  words.insert(words.end(), options.build.abi.begin(), options.build.abi.end());
  return words;
}

}  // namespace

std::string flags_text(const EmitOptions& options) {
  std::vector<std::string> words = feature_flags(options);
  words.insert(words.begin(), options.build.optimize);
  return spaced(words);
}

std::string build_command(const Project& p) {
  const EmitOptions& options = *p.options;
  const std::string sources = std::string(p.form->sources) + (p.weights == WeightsForm::Incbin && p.has_constants() ? " *.S" : "");
  if (options.build.compiler != "cc")
    return fmt::format("{} -std={} {} -c {}", options.build.compiler, p.space() ? "gnu99" : "c99", flags_text(options), sources);
  return fmt::format("{} {} {} {}-lm", p.form->compile, flags_text(options), sources, p.form->link_flags);
}

std::string feature_guard(const Project& p) {
  std::string text;
  if (uses_vectors(p))
    text += fmt::format(
        "#if !defined(__GNUC__)\n"
        "#error \"{0}.c uses vector extensions of GCC and clang: for another compiler generate it with --target c99\"\n"
        "#endif\n",
        p.name);
  const EmitOptions& options = *p.options;
  if (options.build.features.empty()) return text;
  std::vector<std::string> defined;
  for (const std::string& f : options.build.features) defined.push_back("defined(" + f + ")");
  return text + fmt::format(
                    "#if !ETCH_ANY_CPU && !({})\n"
                    "#error \"{}.c is for target {} ({}): compile it with {}, or with -DETCH_ANY_CPU=1 if it may be slower\"\n"
                    "#endif\n",
                    fmt::join(defined, " && "), p.name, options.target_name, fmt::join(options.build.features, ", "),
                    spaced(feature_flags(options)));
}

std::string comparison_pragma(const Project& p) {
  for (const ProgramKernel& k : p.program->kernels)
    if (k.ast != nullptr && std::ranges::any_of(toposort(k.ast), compares_floats))
      return "#if defined(__GNUC__)\n"
             "#pragma GCC diagnostic ignored \"-Wfloat-equal\" /* the model compares exactly, and a NaN differs from itself */\n"
             "#endif\n";
  return "";
}

}  // namespace etch
