#include <fmt/format.h>

#include <algorithm>

#include "base/fnv.h"
#include "base/subscript.h"
#include "emit/literals.h"
#include "emit/project.h"
#include "emit/sections.h"
#include "emit/signature.h"
#include "emit/workers.h"

namespace etch {
namespace {

// C expression for the alignment of an element.
std::string align_text(DType dtype) { return bytes_of(dtype) == 1 ? "1" : fmt::format("ETCH_ALIGN_OF({})", info(dtype).c_type); }

// The alignment of the constants that kernels need: that of an element, also for vector loads, or of the words that they are loaded in.
std::string constants_align(const Project& p) {
  DType widest = DType::Bool;
  for (const ConstantMember& member : p.constants) {
    const ProgramBuffer& buffer = p.program->buffers[at(member.buffer)];
    const DType read = buffer.in_words ? DType::Int32 : buffer.dtype;
    if (bytes_of(read) > bytes_of(widest)) widest = read;
  }
  return p.has_constants() ? align_text(widest) : "0";
}

// The same of inputs and outputs; empty where all are bytes.
std::string io_align_table(const Project& p) {
  std::vector<std::string> aligns;
  bool any = false;
  for (const auto* group : {&p.program->inputs, &p.program->outputs})
    for (int b : *group) {
      aligns.push_back(align_text(p.program->buffers[at(b)].dtype));
      any = any || aligns.back() != "1";
    }
  for (const StateMember& s : p.states) {
    aligns.push_back(align_text(p.program->buffers[at(s.state.buffer)].dtype));
    any = any || aligns.back() != "1";
  }
  return any ? fmt::format("static {} uint8_t io_align[{}] = {{{}}};\n\n", p.constant_word(), aligns.size(), list_text(aligns)) : "";
}

std::string program_table(const Project& p) {
  const Program& program = *p.program;
  const ArgTable t = arg_table(p);
  const std::size_t io_count = program.inputs.size() + program.outputs.size() + program.states.size();
  std::string text = "\n" + banner("program") + "\n#define IO(n) {ETCH_IO, n}\n";
  if (t.arena && !p.has_pools()) text += "#define ARENA(offset) {ETCH_ARENA, offset}\n";
  for (std::size_t n = 0; n < program.pools.size(); n++)
    if (p.plan->arenas[n].bytes > 0) text += fmt::format("#define {}(offset) {{ETCH_POOL + {}, offset}}\n", p.upper(arena_names(p)[n]), n);
  if (t.constant && p.by_offset())
    text += fmt::format("#define CONSTANT(member) {{ETCH_CONST, {}_AT_##member}}\n", p.state_macro());
  else if (t.constant)
    text += fmt::format("#define CONSTANT(member) {{ETCH_CONST, (uint32_t)offsetof(struct {}_constants, member)}}\n", p.state_name());
  text += variable_macros(p, t);
  text += "\n" + t.text + fmt::format("\nstatic {} etch_call calls[{}] = {{\n", p.constant_word(), program.calls.size());
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const ProgramKernel& kernel = program.kernels[at(program.calls[c].kernel)];
    text += fmt::format("  {{{}, {}, {}}},\n", kernel.name, t.first[c], kernel.argument_count());
  }
  const std::string io_align = io_align_table(p);
  text += "};\n\n" + (has_workers(p) ? workers_table(p) : "") + loop_table(p) + range_table(p) + io_align;
  text += fmt::format("static {} etch_program program = {{\n  calls, args, {}, {},\n", p.constant_word(),
                      program.loops.empty() ? "NULL" : "loops", program.variables.empty() ? "NULL" : "ranges");
  text += fmt::format(
      "  {}, /* calls */\n  {}, /* loops */\n  {}, /* inputs and outputs{} */\n  {}, /* variables */\n  {}, /* bytes of arena */\n",
      program.calls.size(), program.loops.size(), io_count, p.has_state() ? ", and states" : "", program.variables.size(),
      p.has_pools() ? 0 : p.plan->arena_bytes);
  text += fmt::format("  {}, /* its alignment */\n  {}, /* alignment of the constants */\n  {}, /* of inputs and outputs */\n}};\n",
                      p.plan->align, constants_align(p), io_align.empty() ? "NULL" : "io_align");
  if (!p.has_pools()) return text;
  std::vector<std::string> sizes;
  for (const ArenaPlan& arena : p.plan->arenas) sizes.push_back(fmt::format("{{{}, {}}}", arena.bytes, p.plan->align));
  return text + fmt::format("\n/* Bytes and alignment of the arenas. */\nstatic {} etch_pool_size pool_sizes[{}] = {{{}}};\n",
                            p.constant_word(), sizes.size(), list_text(sizes));
}

// Statements of the entry: where the arenas are, which are checked if there are several.
std::string fill_arenas(const Project& p) {
  if (!p.has_pools()) return "  frame.arena = arena;\n  frame.arena_bytes = arena_bytes;\n";
  std::string text;
  const std::vector<std::string> names = arena_names(p);
  for (std::size_t n = 0; n < names.size(); n++) text += fmt::format("  pools[{0}] = {1};\n  pool_bytes[{0}] = {1}_bytes;\n", n, names[n]);
  return text + fmt::format(
                    "  status = etch_check_pools(pool_sizes, {}, pools, pool_bytes);\n  if (status != ETCH_OK) return status;\n"
                    "  frame.arena = NULL;\n  frame.arena_bytes = 0;\n  frame.pools = pools;\n",
                    names.size());
}

bool has_labels(const Project& p) {
  return std::ranges::any_of(p.program->inputs, [&](int b) { return p.program->buffers[at(b)].below > 0; });
}

// Refuses numbers of classes that there are not.
std::string check_labels(const Project& p) {
  std::string text;
  for (int b : p.program->inputs) {
    const ProgramBuffer& buffer = p.program->buffers[at(b)];
    if (buffer.below == 0) continue;
    text += fmt::format(
        "  if ({0} == NULL) return ETCH_NULL;\n"
        "  for (i = 0; i < {1}; i++)\n    if ({0}[i] < 0 || {0}[i] >= {2}) return ETCH_RANGE;\n",
        p.buffer_names[at(b)], count_macro(p, b), buffer.below);
  }
  return text;
}

// The functions that run the program: NAME_run, NAME_profile, and NAME_run_worker.
enum class Entry : std::uint8_t { Run, Profile, Worker };

std::string entry_head(const Project& p, Entry kind) {
  if (kind == Entry::Worker)
    return fmt::format("etch_status {}_worker(uint32_t worker, uint32_t workers, etch_barrier barrier, void *user, {}) {{\n", p.entry(),
                       parameters(p, false));
  return fmt::format("etch_status {}({}) {{\n", kind == Entry::Profile ? p.name + "_profile" : p.entry(),
                     parameters(p, kind == Entry::Profile));
}

std::string entry(const Project& p, Entry kind) {
  const Program& program = *p.program;
  const bool blob = p.weights == WeightsForm::Blob && p.has_constants();
  std::string text = entry_head(p, kind);
  text += fmt::format("  void *io[{}];\n  {}arg[{}];\n",
                      std::max<std::size_t>(program.inputs.size() + program.outputs.size() + program.states.size(), 1),
                      p.space() ? "etch_address " : "void *", p.max_args);
  if (variable_room(p) > 0) text += fmt::format("  int32_t variables[{}];\n", variable_room(p));
  text += "  etch_frame frame;\n";
  if (kind == Entry::Worker) text += "  etch_team team;\n";
  if (has_labels(p)) text += "  size_t i;\n";
  if (p.has_pools()) text += fmt::format("  void *pools[{0}];\n  size_t pool_bytes[{0}];\n", program.pools.size());
  if (blob || p.has_pools()) text += "  etch_status status;\n";
  if (p.has_state()) text += "  if (state == NULL) return ETCH_NULL;\n";
  text += check_labels(p) + fill_io(p);
  for (std::size_t k = 0; k < p.states.size(); k++)
    text += fmt::format("  io[{}] = (unsigned char *)state + {}; /* {} */\n", program.inputs.size() + program.outputs.size() + k,
                        p.states[k].offset, in_comment(program.buffers[at(p.states[k].state.buffer)].name));
  text += fill_arenas(p) + "  frame.io = io;\n  frame.arg = arg;\n";
  text += std::string("  frame.variables = ") + (variable_room(p) == 0 ? "NULL" : "variables") + ";\n";
  text += kind == Entry::Profile ? "  frame.after = after;\n  frame.user = user;\n" : "  frame.after = NULL;\n  frame.user = NULL;\n";
  if (blob) {
    text += "  status = etch_blob_open(&blob, weights, &frame.constants);\n  if (status != ETCH_OK) return status;\n";
  } else if (p.has_constants()) {
    text += fmt::format("  frame.constants = {}{}_constants;\n", p.by_offset() ? "" : "&", p.state_name());
  } else {
    text += "  frame.constants = NULL;\n";
  }
  if (kind == Entry::Worker) return text + workers_run(p) + "}\n";
  if (has_workers(p)) text += workers_alone(p);
  return text + "  return etch_run(&program, &frame);\n}\n";
}

// The functions that make bytes of a state, and a state of bytes.
std::string saved_state(const Project& p) {
  if (!p.role().saves_state) return "";
  std::string layout = p.name;
  for (const StateMember& s : p.states) {
    const ProgramBuffer& buffer = p.program->buffers[at(s.state.buffer)];
    layout += fmt::format("\n{} {} {}", buffer.name, type_text(buffer), s.offset);
  }
  return fmt::format(
      "static const uint64_t state_layout = UINT64_C(0x{3:016x});\n\n"
      "etch_status {0}_state_save(const void *state, void *saved, size_t saved_bytes) {{\n"
      "  return etch_state_save(state_layout, state, {2}, saved, saved_bytes);\n}}\n\n"
      "etch_status {0}_state_load(void *state, const void *saved, size_t saved_bytes) {{\n"
      "  return etch_state_load(state_layout, state, {2}, saved, saved_bytes);\n}}\n\n",
      p.name, p.macro, p.macro + "_STATE_BYTES", fnv1a_64(layout));
}

std::string state_init(const Project& p) {
  if (!p.owns_state()) return "";
  std::string text = fmt::format("etch_status {}_state_init({}) {{\n", p.name, state_init_parameters(p));
  const bool blob = p.starts_of_blob();
  const bool copies = std::ranges::any_of(p.states, [](const StateMember& s) { return s.state.first >= 0; });
  text += "  unsigned char *const bytes = (unsigned char *)state;\n";
  if (copies)
    text += fmt::format("  const {}_constants *first{};\n", "struct " + p.name, blob ? "" : fmt::format(" = &{}_constants", p.name));
  if (blob) text += "  const void *constants;\n  etch_status status;\n";
  text += "  if (state == NULL) return ETCH_NULL;\n";
  if (blob)
    text += fmt::format(
        "  status = etch_blob_open(&blob, weights, &constants);\n  if (status != ETCH_OK) return status;\n"
        "  first = (const struct {}_constants *)constants;\n",
        p.name);
  for (const StateMember& s : p.states) {
    const std::string name = in_comment(p.program->buffers[at(s.state.buffer)].name);
    if (s.state.first < 0)
      text += fmt::format("  memset(bytes + {}, 0, {}); /* {} */\n", s.offset, s.bytes, name);
    else
      text += fmt::format("  memcpy(bytes + {}, first->{}, {}); /* {} */\n", s.offset,
                          p.constants[at(p.constant_of[at(s.state.first)])].member, s.bytes, name);
  }
  return text + "  return ETCH_OK;\n}\n\n" + saved_state(p);
}

std::string profile(const Project& p) { return call_infos(p) + "\n" + entry(p, Entry::Profile) + "#endif\n"; }

std::string includes(const Project& p) {
  std::string text = fmt::format("#include \"{}.h\"\n", p.name);
  if (p.has_constants()) text += fmt::format("#include \"{}_weights.h\"\n", p.state_name());
  if (uses_math(p)) text += "#include \"etch_math.h\"\n";
  if (uses_quant(p)) text += "#include \"etch_quant.h\"\n";
  if (p.role().saves_state) text += "#include \"etch_state.h\"\n";
  text += "\n#include <math.h>\n#include <stdbool.h>\n";
  if (p.has_state()) text += "#include <string.h>\n";
  text = pragmas_for(p.program->kernels) + text;
  const std::string more = feature_guard(p) + comparison_pragma(p);
  return more.empty() ? text : text + "\n" + more;
}

}  // namespace

std::string model_source(const Project& p) {
  std::string text =
      p.first_line() + " Kernels first, then the program. */\n" + includes(p) + "\n" + arena_table(p) + "\n" + banner("kernels");
  const std::string definitions = definitions_of(*p.program);
  if (!definitions.empty()) text += definitions + "\n";
  if (const std::string declared = external_section(p); !declared.empty()) text += "\n" + declared;
  text += kernel_texts(p) + program_table(p) + "\n" + blob_check(p) + state_init(p);
  return text + (has_workers(p) ? entry(p, Entry::Worker) + workers_one(p) : entry(p, Entry::Run)) + profile(p);
}

}  // namespace etch
