#include "emit/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/naming.h"
#include "base/runtime_text.h"
#include "emit/literals.h"
#include "program/lower.h"

namespace etch {
namespace {

constexpr std::int64_t kIncbinFrom = 1 << 20;  // bytes of constants; text of more takes compilers long

std::int64_t align_up(std::int64_t offset, std::int64_t align) { return (offset + align - 1) / align * align; }

// C99 tells identifiers apart by their first 63 characters; a converter's names of weights can be much longer.
constexpr std::size_t kLongestName = 48;

// A long name gives way to one made of the kernel's main node and what the kernel calls the constant: "conv1_w".
std::string member_name(const Project& project, const ProgramCall& call, std::size_t argument) {
  const ProgramKernel& kernel = project.program->kernels[static_cast<std::size_t>(call.kernel)];
  const std::string name = c_identifier(project.program->buffers[static_cast<std::size_t>(call.buffers[argument])].name);
  if (name.size() <= kLongestName || argument >= kernel.arg_names.size()) return name.substr(0, kLongestName);
  return call.short_name + "_" + kernel.arg_names[argument];
}

// Each constant that is read, once, in reading order: what is read together lies together.
void place_constants(Project& project) {
  const Program& program = *project.program;
  const std::int64_t align = project.is_opencl() ? 1 : project.plan->align;  // each is copied to a buffer of its own
  project.constant_of.assign(program.buffers.size(), -1);
  CNames members;
  for (const ProgramCall& call : program.calls) {
    for (std::size_t i = 0; i < call.buffers.size(); i++) {
      const int b = call.buffers[i];
      const ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(b)];
      if (buffer.kind != BufferKind::Constant || project.constant_of[static_cast<std::size_t>(b)] >= 0) continue;
      ConstantMember member;
      member.buffer = b;
      member.member = members.add(member_name(project, call, i));
      member.align = std::max<std::int64_t>(alignment_for(buffer.max_bytes(), align), bytes_of(buffer.dtype));
      member.offset = align_up(project.constants_bytes, member.align);
      project.constants_bytes = member.offset + buffer.max_bytes();
      project.constants_align = std::max(project.constants_align, member.align);
      project.constant_of[static_cast<std::size_t>(b)] = static_cast<int>(project.constants.size());
      project.constants.push_back(member);
    }
  }
  project.constants_bytes = align_up(project.constants_bytes, project.constants_align);  // as the compiler does
}

// Buffers of equal place and size are one region, in the order of their offsets. Those that replace each other in place are
// of equal size, so no kernel ever sees two regions that overlap.
void find_regions(Project& project) {
  const Program& program = *project.program;
  project.region_of.assign(program.buffers.size(), -1);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<int>> found;
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    const std::int64_t offset = project.plan->placements[b].offset;
    if (offset < 0) continue;
    check(offset % project.plan->align == 0, "every buffer of an OpenCL program is aligned");
    found[{offset, program.buffers[b].max_bytes()}].push_back(static_cast<int>(b));
  }
  for (auto& [place, buffers] : found) {
    for (int b : buffers) project.region_of[static_cast<std::size_t>(b)] = static_cast<int>(project.regions.size());
    project.regions.push_back({place.first, place.second, std::move(buffers)});
  }
}

void name_buffers(Project& project) {
  const Program& program = *project.program;
  CNames names;
  for (const char* parameter :
       {"arena", "arena_bytes", "weights", "after", "user", "io", "arg", "status", "variables", "frame", "program", "blob"})
    names.add(parameter);
  if (project.is_opencl())
    for (const char* word : {"session", "context", "device", "queue", "error", "closed", "number"}) names.add(word);
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

std::string Project::upper(const std::string& text) const {
  std::string result = text;
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

std::string Project::first_line() const { return fmt::format("/* {}, generated by etch {}; do not edit.", name, options->tool_version); }

Project make_project(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  Project project;
  project.program = &program;
  project.plan = &plan;
  project.options = &options;
  project.name = options.name;
  project.macro = project.upper(options.name);
  place_constants(project);
  if (project.is_opencl()) find_regions(project);
  name_buffers(project);
  project.weights = options.weights;
  if (project.weights == WeightsForm::Auto) project.weights = project.constants_bytes < kIncbinFrom ? WeightsForm::C : WeightsForm::Incbin;
  for (const ProgramCall& call : program.calls) {
    const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(call.kernel)];
    project.max_args = std::max(project.max_args, call.buffers.size() + kernel.variables.size());
  }
  return project;
}

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
      "ETCH_ALIGNED({0}) static union {{\n  etch_widest widest; /* aligns where ETCH_ALIGNED does nothing */\n"
      "  unsigned char bytes[{1}{2}];\n}} {3};\n",
      align, bytes, align_bytes > kWidest ? " + " + align : "", name);
}

std::string static_memory_address(const std::string& name, const std::string& align, std::int64_t align_bytes) {
  if (align_bytes <= kWidest) return name + ".bytes";
  return fmt::format("{0}.bytes + (0u - (uintptr_t){0}.bytes) % {1}", name, align);
}

std::string type_text(const ProgramBuffer& buffer) { return std::string(name_of(buffer.dtype)) + " " + shape_text(buffer.shape); }

std::string c_type(const ProgramBuffer& buffer) { return std::string(info(buffer.dtype).c_type); }

std::string list_text(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace etch
