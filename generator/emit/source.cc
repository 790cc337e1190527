#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/runtime_text.h"
#include "emit/project.h"
#include "emit/sections.h"
#include "emit/signature.h"

namespace etch {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string program_table(const Project& p) {
  const Program& program = *p.program;
  const ArgTable t = arg_table(p);
  const std::size_t io_count = program.inputs.size() + program.outputs.size();
  std::string text = "\n" + banner("program") + "\n#define IO(n) {ETCH_IO, n}\n";
  if (t.arena) text += "#define ARENA(offset) {ETCH_ARENA, offset}\n";
  if (t.constant) text += fmt::format("#define CONSTANT(member) {{ETCH_CONST, (uint32_t)offsetof(struct {}_constants, member)}}\n", p.name);
  if (t.variable) text += "#define VARIABLE(n) {ETCH_VAR, n}\n";
  text += "\n" + t.text + fmt::format("\nstatic const etch_call calls[{}] = {{\n", program.calls.size());
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const ProgramKernel& kernel = program.kernels[at(program.calls[c].kernel)];
    text += fmt::format("  {{{}, {}, {}}},\n", kernel.name, t.first[c], program.calls[c].buffers.size() + kernel.variables.size());
  }
  text += "};\n\n" + range_table(p) + "static const etch_program program = {\n  calls, args, ";
  text += program.variables.empty() ? "NULL" : "ranges";
  text += fmt::format(",\n  {}, /* calls */\n  {}, /* inputs and outputs */\n  {}, /* variables */\n  {}, /* bytes of arena */\n",
                      program.calls.size(), io_count, program.variables.size(), p.plan->arena_bytes);
  text += fmt::format("  {}, /* its alignment */\n  {}, /* alignment of the constants */\n}};\n", p.plan->align,
                      p.has_constants() ? p.constants_align : 0);
  return text;
}

std::string entry(const Project& p, bool profile) {
  const Program& program = *p.program;
  const bool blob = p.weights == WeightsForm::Blob && p.has_constants();
  std::string text = fmt::format("etch_status {}_{}({}) {{\n", p.name, profile ? "profile" : "run", parameters(p, profile));
  text += fmt::format("  void *io[{}];\n  void *arg[{}];\n", std::max<std::size_t>(program.inputs.size() + program.outputs.size(), 1),
                      p.max_args);
  if (!program.variables.empty()) text += fmt::format("  int32_t variables[{}];\n", program.variables.size());
  text += "  etch_frame frame;\n";
  if (blob) text += "  etch_status status;\n";
  text += fill_io(p);
  text += "  frame.arena = arena;\n  frame.arena_bytes = arena_bytes;\n  frame.io = io;\n  frame.arg = arg;\n";
  text += std::string("  frame.variables = ") + (program.variables.empty() ? "NULL" : "variables") + ";\n";
  text += profile ? "  frame.after = after;\n  frame.user = user;\n" : "  frame.after = NULL;\n  frame.user = NULL;\n";
  if (blob) {
    text += "  status = etch_blob_open(&blob, weights, &frame.constants);\n  if (status != ETCH_OK) return status;\n";
  } else if (p.has_constants()) {
    text += fmt::format("  frame.constants = &{}_constants;\n", p.name);
  } else {
    text += "  frame.constants = NULL;\n";
  }
  return text + "  return etch_run(&program, &frame);\n}\n";
}

std::string profile(const Project& p) { return call_infos(p) + "\n" + entry(p, true) + "#endif\n"; }

// `m0 ? in[x1] : 0.0f`
bool has_masked_load(std::string_view kernels) {
  for (std::size_t at = kernels.find(" ? "); at != std::string_view::npos; at = kernels.find(" ? ", at + 1)) {
    std::size_t end = at + 3;
    while (end < kernels.size() && (std::isalnum(static_cast<unsigned char>(kernels[end])) != 0 || kernels[end] == '_')) end++;
    if (end > at + 3 && end < kernels.size() && kernels[end] == '[') return true;
  }
  return false;
}

std::string includes(const Project& p) {
  std::string text = fmt::format("#include \"{}.h\"\n", p.name);
  if (p.has_constants()) text += fmt::format("#include \"{}_weights.h\"\n", p.name);
  std::string all;
  bool helpers = false;
  for (const ProgramKernel& k : p.program->kernels) {
    all += k.source;
    helpers |= !k.helpers.empty();
  }
  helpers |= all.find("etch_") != std::string::npos;
  if (helpers) text += "#include \"etch_math.h\"\n";
  text += "\n#include <math.h>\n#include <stdbool.h>\n";
  return has_masked_load(all) ? std::string(kMaskedLoadPragma) + "\n" + text : text;
}

}  // namespace

std::string model_source(const Project& p) {
  std::string text =
      p.first_line() + " Kernels first, then the program. */\n" + includes(p) + "\n" + arena_table(p) + "\n" + banner("kernels");
  return text + kernel_texts(p) + program_table(p) + "\n" + blob_check(p) + entry(p, false) + profile(p);
}

}  // namespace etch
