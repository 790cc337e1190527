#include "emit/project.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/naming.h"
#include "base/runtime_text.h"
#include "emit/form.h"
#include "emit/literals.h"
#include "program/lower.h"

namespace etch {
namespace {

constexpr std::int64_t kIncbinFrom = 1 << 20;  // bytes of constants; above it C text takes long to compile

// C99 distinguishes identifiers by their first 63 characters; names of weights from converters can be much longer.
constexpr std::size_t kLongestName = 48;

// A name that is too long is replaced by the kernel's main node and the kernel's name of the constant: "conv1_w".
std::string member_name(const Project& project, const ProgramCall& call, std::size_t argument) {
  const ProgramKernel& kernel = project.program->kernels[static_cast<std::size_t>(call.kernel)];
  const std::string name = c_identifier(project.program->buffers[static_cast<std::size_t>(call.arguments[argument].buffer)].name);
  return name.size() <= kLongestName ? name : call.short_name + "_" + kernel.arguments[argument].name;
}

void place_constant(Project& project, int b, const std::string& name) {
  const ProgramBuffer& buffer = project.program->buffers[static_cast<std::size_t>(b)];
  const std::int64_t align = project.form->on_device ? 1 : project.plan->align;  // each is copied to a buffer of its own
  ConstantMember member;
  member.buffer = b;
  member.member = name;
  const std::int64_t read = bytes_of(buffer.in_words ? DType::Int32 : buffer.dtype);
  member.align = std::max<std::int64_t>(alignment_for(buffer.max_bytes(), align), read);
  member.offset = align_up(project.constants_bytes, member.align);
  project.constants_bytes = member.offset + buffer.max_bytes();
  project.constants_align = std::max(project.constants_align, member.align);
  project.constant_of[static_cast<std::size_t>(b)] = static_cast<int>(project.constants.size());
  project.constants.push_back(member);
}

// Places each constant that is read, once, in reading order, so that constants that are read together are adjacent; behind them those
// that states start with, and those that programs beside this one read.
void place_own_constants(Project& project) {
  const Program& program = *project.program;
  project.constant_of.assign(program.buffers.size(), -1);
  CNames members(project.name);
  const auto is_new = [&](int b) {
    return program.buffers[static_cast<std::size_t>(b)].kind == BufferKind::Constant &&
           project.constant_of[static_cast<std::size_t>(b)] < 0;
  };
  for (const ProgramCall& call : program.calls)
    for (std::size_t i = 0; i < call.arguments.size(); i++)
      if (const int b = call.arguments[i].buffer; is_new(b)) place_constant(project, b, members.add(member_name(project, call, i)));
  for (const ProgramState& state : program.states)
    if (state.first >= 0 && is_new(state.first)) {
      const std::string name = c_identifier(program.buffers[static_cast<std::size_t>(state.first)].name);
      place_constant(project, state.first, members.add(name.substr(0, kLongestName)));
    }
  for (std::size_t b = 0; b < program.buffers.size(); b++)
    if (program.buffers[b].of_companion && is_new(static_cast<int>(b)))
      place_constant(project, static_cast<int>(b), members.add(c_identifier(program.buffers[b].name).substr(0, kLongestName)));
  project.constants_bytes = align_up(project.constants_bytes, project.constants_align);  // as the compiler does
}

// The constants are members of another project's struct.
void place_constants_of(Project& project, const Project& owner) {
  project.constant_of.assign(project.program->buffers.size(), -1);
  project.constants_align = owner.constants_align;
  for (const ProgramCall& call : project.program->calls)
    for (const CallArgument& argument : call.arguments) {
      const ProgramBuffer& buffer = project.program->buffers[static_cast<std::size_t>(argument.buffer)];
      int& place = project.constant_of[static_cast<std::size_t>(argument.buffer)];
      if (buffer.kind != BufferKind::Constant || place >= 0) continue;
      const auto same = std::ranges::find_if(owner.constants, [&](const ConstantMember& m) {
        return is_same_constant(owner.program->buffers[static_cast<std::size_t>(m.buffer)], buffer);
      });
      check(same != owner.constants.end(), "a program beside another finds its constants there");
      place = static_cast<int>(project.constants.size());
      project.constants.push_back(*same);
      project.constants.back().buffer = argument.buffer;
    }
  if (project.has_constants()) project.constants_bytes = owner.constants_bytes;
}

void place_states(Project& project) {
  for (const ProgramState& state : project.program->states) {
    const ProgramBuffer& buffer = project.program->buffers[static_cast<std::size_t>(state.buffer)];
    const std::int64_t align = std::max<std::int64_t>(alignment_for(buffer.max_bytes(), project.plan->align), bytes_of(buffer.dtype));
    project.states.push_back({state, align_up(project.state_bytes, align), buffer.max_bytes()});
    project.state_bytes = project.states.back().offset + buffer.max_bytes();
    project.state_align = std::max(project.state_align, align);
  }
}

void name_buffers(Project& project) {
  const Program& program = *project.program;
  CNames names(project.name);
  for (std::string_view word : project.form->reserved_names) names.add(std::string(word));
  if (!program.states.empty()) names.add("state");                                                               // a parameter
  if (std::ranges::any_of(program.buffers, [](const ProgramBuffer& b) { return b.below > 0; })) names.add("i");  // a local
  if (program.workers.are_several())
    for (const char* word : {"worker", "workers", "barrier", "team", "work"}) names.add(word);
  if (project.has_pools()) {
    for (const char* word : {"pools", "pool_bytes", "pool_sizes"}) names.add(word);
    for (const std::string& arena : arena_names(project)) {
      names.add(arena);
      names.add(arena + "_bytes");
    }
  }
  project.buffer_names.resize(program.buffers.size());
  for (const auto* group : {&program.inputs, &program.outputs})
    for (int b : *group) {
      std::string& name = project.buffer_names[static_cast<std::size_t>(b)];
      if (name.empty()) name = names.add(c_identifier(program.buffers[static_cast<std::size_t>(b)].name).substr(0, kLongestName));
    }
  for (const ProgramVariable& v : program.variables) project.variable_names.push_back(names.add(v.name));
  for (std::size_t b = 0; b < program.buffers.size(); b++)
    if (project.buffer_names[b].empty()) project.buffer_names[b] = names.add(c_identifier(program.buffers[b].name).substr(0, kLongestName));
}

}  // namespace

bool Project::has_place_in_arena(int buffer) const {
  const BufferKind kind = program->buffers[static_cast<std::size_t>(buffer)].kind;
  return (kind == BufferKind::Input || kind == BufferKind::Output) && plan->placements[static_cast<std::size_t>(buffer)].offset >= 0;
}

Project owner_of_constants(const Project& project) {
  Project owner;
  owner.form = project.form;
  owner.program = project.role().constants_of;
  owner.plan = project.plan;  // of both the alignment is the target's
  owner.options = project.options;
  owner.name = project.state_name();
  owner.macro = project.state_macro();
  owner.weights = project.weights;
  place_own_constants(owner);
  return owner;
}

std::string Project::upper(const std::string& text) const {
  std::string result = text;
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

std::string Project::first_line() const { return fmt::format("/* {}, generated by etch {}; do not edit.", name, options->tool_version); }

Project make_project(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  Project project;
  project.form = form_of(program.language);
  check(project.form != nullptr, "the program's language can be emitted");
  project.program = &program;
  project.plan = &plan;
  project.options = &options;
  project.name = options.name;
  project.macro = project.upper(options.name);
  if (options.role.state_of.empty())
    place_own_constants(project);
  else
    place_constants_of(project, owner_of_constants(project));
  place_states(project);
  name_buffers(project);
  project.weights = options.weights;
  const bool in_c = project.constants_bytes < kIncbinFrom && !project.by_offset();
  if (project.weights == WeightsForm::Auto) project.weights = in_c ? WeightsForm::C : WeightsForm::Incbin;
  for (const ProgramKernel& kernel : program.kernels) project.max_args = std::max(project.max_args, kernel.argument_count());
  return project;
}

bool uses_quant(const Project& p) { return (!p.form->on_device || p.form->math_file) && etch::uses_quant(helpers_of(*p.program)); }

bool uses_math(const Project& p) { return !p.form->on_device && !helpers_of(*p.program).empty(); }

std::string banner(const std::string& title) {
  std::string line = "/* --- " + title + " ";
  line.resize(std::max<std::size_t>(line.size() + 3, 117), '-');
  return line + " */\n";
}

int runtime_abi() {
  constexpr std::string_view kDefine = "#define ETCH_RUNTIME_ABI ";
  const std::string_view text = runtime_text("etch_runtime.h");
  const std::size_t at = text.find(kDefine);
  check(at != std::string_view::npos, "the runtime says its ABI");
  return std::stoi(std::string(text.substr(at + kDefine.size(), 10)));
}

namespace {
constexpr std::int64_t kWidest = 16;  // alignment of etch_widest where there are 64 bits; elsewhere kernels ask for less
}

std::string static_memory(const std::string& name, const std::string& bytes, const std::string& align, std::int64_t align_bytes) {
  return fmt::format(
      "static union {{\n  etch_widest widest; /* aligns where ETCH_ALIGNED does nothing */\n"
      "  ETCH_ALIGNED({0}) unsigned char bytes[{1}{2}];\n}} {3};\n",
      align, bytes, align_bytes > kWidest ? " + " + align : "", name);
}

std::string static_memory_address(const std::string& name, const std::string& align, std::int64_t align_bytes) {
  if (align_bytes <= kWidest) return name + ".bytes";
  return fmt::format("{0}.bytes + (0u - (uintptr_t){0}.bytes) % {1}", name, align);
}

std::vector<std::string> arena_names(const Project& project) {
  if (!project.has_pools()) return {"arena"};
  std::vector<std::string> names;
  for (const Pool& pool : project.program->pools) names.push_back("arena_" + pool.name);
  return names;
}

std::string pool_macro(const Project& project, std::size_t arena) {
  return project.macro + "_" + project.upper(arena_names(project)[arena]);
}

std::string arena_address(const Project& project, std::size_t arena) {
  if (project.has_pools() && project.program->pools[arena].address >= 0)
    return fmt::format("(void *)(uintptr_t){}_ADDRESS", pool_macro(project, arena));
  return static_memory_address(arena_names(project)[arena], pool_macro(project, arena) + "_ALIGN", project.plan->align);
}

std::string type_text(const ProgramBuffer& buffer) { return std::string(name_of(buffer.dtype)) + " " + shape_text(buffer.shape); }

std::string c_type(const ProgramBuffer& buffer) { return std::string(info(buffer.dtype).c_type); }

std::string list_text(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace etch
