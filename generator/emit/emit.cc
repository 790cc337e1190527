#include "emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/naming.h"
#include "base/runtime_text.h"
#include "emit/form.h"
#include "emit/workers.h"
#include "memory/pool_texts.h"
#include "program/external.h"
#include "program/loops.h"

namespace etch {
namespace {

std::string_view form_text(const Project& p) {
  if (!p.has_constants()) return "none";
  switch (p.weights) {
    case WeightsForm::Auto:
    case WeightsForm::C:
      return "c";
    case WeightsForm::Incbin:
      return "incbin";
    case WeightsForm::Blob:
      return "blob";
  }
  return "";
}

void check_acceptable(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  if (form_of(program.language) == nullptr) {
    throw UserError(options.name,
                    fmt::format("a program in {} can't be emitted", program.language == nullptr ? "no language" : program.language->name),
                    "choose a target (etch targets lists them)");
  }
  if (project_identifier(options.name) != options.name) {
    throw UserError("name '" + options.name + "'", "the prefix of all symbols and files has to be an identifier of C that nothing else has",
                    "give another with --name, for instance --name " + project_identifier(options.name));
  }
  if (program.calls.empty())
    throw UserError(options.name, "there is nothing to compute: every output is empty", "give sizes that are not 0 (--dim)");
  check(plan.placements.size() == program.buffers.size(), "the plan is of this program");
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (plan.arena_bytes > kMost)
    throw UserError(options.name, fmt::format("the arena has {} bytes, at most {} can be emitted", plan.arena_bytes, kMost));
  for (const ProgramVariable& v : program.variables)
    if (v.max > std::numeric_limits<std::int32_t>::max())
      throw UserError(options.name, fmt::format("size '{}' goes up to {}, at most {} can be emitted", v.name, v.max,
                                                std::numeric_limits<std::int32_t>::max()));
}

// Each input, output, state and constant has a buffer of its own there.
std::int64_t bytes_on_device(const Project& p) {
  const auto rounded = [&](int buffer) {
    return align_up(p.program->buffers[static_cast<std::size_t>(buffer)].max_bytes(), p.plan->align);
  };
  std::int64_t bytes = align_up(p.plan->arena_bytes, p.plan->align);
  for (const auto* group : {&p.program->inputs, &p.program->outputs})
    for (int b : *group) bytes += rounded(b);
  for (const StateMember& s : p.states) bytes += rounded(s.state.buffer);
  for (const ConstantMember& c : p.constants) bytes += rounded(c.buffer);
  return bytes;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// What a linker sees of the files, which may be more than the functions that nodes are bound to.
void require_own_symbols(const Program& program, const std::string& name) {
  const std::vector<std::string> symbols = project_symbols(name);
  for (const ExternalFile& file : external_files(program.kernels))  // those of runtime_c list none
    for (const ExternalSymbol& defined : file.defines)
      if (defined.name.starts_with("etch_") || std::ranges::find(symbols, defined.name) != symbols.end())
        throw UserError(fmt::format("--custom-file {}, line {}", file.name, defined.line),
                        fmt::format("it defines {}, a name that the files of the project have for themselves", defined.name),
                        "make it static, or rename it");
}

}  // namespace

void require_own_names(const Program& program, const std::string& name) {
  CNames names(name);
  if (const ProjectForm* form = form_of(program.language))
    for (std::string_view word : form->reserved_names) names.add(word);
  for (const ProgramKernel& kernel : program.kernels) names.add(kernel.name);
  std::vector<std::string> functions;
  for (const ProgramKernel& kernel : program.kernels) {
    if (kernel.external == nullptr || !kernel.external->is_custom() ||
        std::ranges::find(functions, kernel.external->function) != functions.end())
      continue;
    functions.push_back(kernel.external->function);
    if (names.add(kernel.external->function) != kernel.external->function)
      throw UserError("custom function " + kernel.external->place(), "the files of the project have something of this name",
                      "rename the function, or the project by --name");
  }
  require_own_symbols(program, name);
}

namespace {

// Files of runtime_c are there as they are. The user's files keep their names, which some file systems do not tell apart by case.
void add_external_files(const Program& program, const std::string& name, std::vector<EmittedFile>& files) {
  std::vector<std::string> taken{"report.txt", "report.json", "fit.json", name + "_weights.c", name + "_weights.s"};
  for (const EmittedFile& file : files) taken.push_back(lower_case(file.name));
  for (const RuntimeFile& file : runtime_files()) taken.push_back(lower_case(std::string(file.name)));
  for (const ExternalFile& file : external_files(program.kernels)) {
    if (!file.of_runtime && std::ranges::find(taken, lower_case(file.name)) != taken.end())
      throw UserError("--custom-file " + file.name, "the project has a file of this name already", "rename it, or the project by --name");
    files.push_back({file.name, file.text});
  }
}

}  // namespace

WeightsForm weights_form(const std::string& text) {
  if (text == "auto") return WeightsForm::Auto;
  if (text == "c") return WeightsForm::C;
  if (text == "incbin") return WeightsForm::Incbin;
  if (text == "blob") return WeightsForm::Blob;
  throw UserError("--weights " + text, "unknown form of weights", "choose one of auto, c, incbin, blob");
}

namespace {

void add_companions(Report& r, const ProjectRole& role) {
  for (const ProjectRole::Companion& c : role.companions) {
    r.step_arena_bytes = std::max(r.step_arena_bytes, c.arena_bytes);
    r.step_arena_lower_bound_bytes = std::max(r.step_arena_lower_bound_bytes, c.arena_lower_bound_bytes);
    r.trained.insert(r.trained.end(), c.trained.begin(), c.trained.end());
  }
}

void add_pools(Report& r, const Program& program, const MemoryPlan& plan) {
  for (std::size_t n = 0; n < program.pools.size(); n++) {
    const Pool& pool = program.pools[n];
    const ArenaPlan& arena = plan.arenas[n];
    ReportPool row{pool.name, pool.memory, arena.bytes, pool.size, arena.lower_bound_bytes};
    row.unused = why_unused(plan, program, static_cast<int>(n));
    for (const ReportBuffer& b : r.buffers) {
      if (b.pool != pool.name) continue;
      row.tensors++;
      row.accessed_bytes += b.accessed_bytes;
    }
    r.pools.push_back(row);
  }
  r.pools_are_best = plan.is_best;
}

}  // namespace

EmitBuild emit_build(const Target& target) {
  EmitBuild build;
  if (!target.is_host()) build.compiler = target.toolchain.compilers.front();
  for (const std::string& flag : target.toolchain.flags_of(FlagKind::Build))
    if (flag.starts_with("-O")) build.optimize = flag;
  build.code = target.toolchain.flags_of(FlagKind::Code);
  build.abi = target.toolchain.flags_of(FlagKind::Abi);
  build.features = target.features;
  build.constants = target.constants;
  return build;
}

Report make_report(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  const Project p = make_project(program, plan, options);
  Report r;
  r.name = options.name;
  r.tool_version = options.tool_version;
  r.model_file = options.model_file;
  r.model_sha256 = options.model_sha256;
  r.target = options.target_name;
  r.options = options.options_text;
  r.build_command = build_command(p);
  r.language = program.language->name;
  r.on_device = p.form->on_device;
  if (p.form->kernel_files_note != nullptr) r.files_note = p.form->kernel_files_note(p);
  r.arena_bytes = plan.arena_bytes;
  r.arena_lower_bound_bytes = plan.lower_bound_bytes;
  r.arena_is_smallest = plan.is_smallest;
  r.arena_align = plan.align;
  add_companions(r, options.role);
  for (int b : program.inputs) r.inputs.push_back(program.buffers[static_cast<std::size_t>(b)].max_bytes());
  for (int b : program.outputs) r.outputs.push_back(program.buffers[static_cast<std::size_t>(b)].max_bytes());
  for (std::int64_t bytes : r.inputs) r.input_bytes += bytes;
  for (std::int64_t bytes : r.outputs) r.output_bytes += bytes;
  r.state_bytes = p.state_bytes;
  r.weights_bytes = p.constants_bytes;
  r.widened_bytes = options.widened_bytes;
  r.weights_form = form_text(p);
  if (r.on_device) r.device_bytes = bytes_on_device(p);
  r.functions = static_cast<int>(program.kernels.size());
  for (const ProgramKernel& k : program.kernels) {
    r.indices_proved += k.indices_proved;
    if (!k.note.empty()) r.tuning_notes.push_back(k.name + ": " + k.note);
    if (k.external == nullptr || !k.external->is_custom()) continue;
    if (std::ranges::find(r.custom_functions, k.external->function) == r.custom_functions.end())
      r.custom_functions.push_back(k.external->function);
  }
  const std::vector<Sint> turns = turns_of_calls(program);
  for (std::size_t c = 0; c < turns.size(); c++) {  // of all turns of the loops around
    const ProgramCall& call = program.calls[c];
    const ProgramKernel& k = program.kernels[static_cast<std::size_t>(call.kernel)];
    const std::int64_t macs = (call.macs * turns[c]).max();
    r.kernels.push_back({k.name, call.nodes, k.shape_name, macs, (call.bytes * turns[c]).max(), std::nullopt, k.shared});
    r.macs += macs;
  }
  r.folded = program.folded;
  for (std::size_t b = 0; b < plan.placements.size(); b++) {
    const Placement& place = plan.placements[b];
    if (place.offset < 0) continue;
    r.buffers.push_back({program.buffers[b].name, place.offset, program.buffers[b].max_bytes(), place.first, place.last,
                         program.buffers[b].inner_axis, program.buffers[b].block});
    if (program.pools.empty()) continue;
    r.buffers.back().pool = program.pools[static_cast<std::size_t>(place.pool)].name;
    r.buffers.back().accessed_bytes = plan.traffic[b];
    r.buffers.back().why = why_there(plan, program, static_cast<int>(b));
  }
  r.workers = workers_report(p);
  add_pools(r, program, plan);
  std::stable_sort(r.buffers.begin(), r.buffers.end(), [](const ReportBuffer& a, const ReportBuffer& b) { return a.first < b.first; });
  return r;
}

ProbeSources probe_sources(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  const Project p = make_project(program, plan, options);
  return {probe_entries(p), weights_stub_source(p), std::string(p.form->unmeasured)};
}

namespace {

// What can't be written where constants are in an address space of their own.
void check_constant_space(const Project& p) {
  const ConstantSpace& space = p.space();
  if (!space) return;
  const std::string target = "target " + p.options->target_name + ": ";
  if (p.by_offset() && p.weights == WeightsForm::C)
    throw UserError(
        "--weights c",
        fmt::format("{}the constants have {} bytes, its compiler accepts objects of at most {}", target, p.constants_bytes, space.largest),
        "leave it out, or choose --weights incbin");
  if (p.is_blob())
    throw UserError("--weights blob", target + "constants are in the address space " + space.name + ", a blob would be in RAM",
                    "leave it out, or choose one of c, incbin");
  for (const StateMember& s : p.states)
    if (s.state.first >= 0)
      throw UnsupportedError("state " + p.program->buffers[static_cast<std::size_t>(s.state.buffer)].name,
                             fmt::format("{}it starts with values in the address space {}, only 0 is supported there", target, space.name),
                             "give it its first values by an input", "states with first values in " + space.name);
  for (const ProgramKernel& kernel : p.program->kernels)
    for (const KernelArgument& argument : kernel.arguments)
      if (kernel.external != nullptr && argument.is_constant)
        throw UnsupportedError("function " + kernel.external->place(),
                               fmt::format("{}it takes a constant, which is in the address space {}", target, space.name),
                               "make it an input of the model", "functions in C that read " + space.name);
}

// The runtime as it is, but for the address space of constants that the target has.
std::string runtime_file_text(const Project& p, const RuntimeFile& file) {
  std::string text(file.text);
  const std::string mark = "/* ETCH_CONST_SPACE */\n";
  const std::size_t at = text.find(mark);
  if (!p.space() || at == std::string::npos) return text;
  return text.replace(at, mark.size(),
                      fmt::format("#define ETCH_CONST_SPACE {}\n#define ETCH_CONST_INTEGER {}\n", p.space().name, p.space().integer));
}

EmittedFile selftest_file(const Project& p) {
  return {.name = std::string(kSelfTestFile), .text = selftest_source(p, *p.options->selftest), .is_selftest = true};
}

Project prepared_project(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  Project p = make_project(program, plan, options);
  if (p.form->check != nullptr) p.form->check(program, options);
  check_constant_space(p);
  if (p.form->prepare != nullptr) p.form->prepare(p);
  return p;
}

}  // namespace

std::vector<EmittedFile> emit(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  check_acceptable(program, plan, options);
  require_own_names(program, options.name);
  const Project p = prepared_project(program, plan, options);
  std::vector<EmittedFile> files;
  files.push_back({p.name + ".h", model_header(p)});
  files.push_back({p.name + ".c", p.form->source(p)});
  files.insert(files.end(), p.kernel_files.begin(), p.kernel_files.end());
  if (p.owns_constants()) {
    files.push_back({p.name + "_weights.h", weights_header(p)});
    if (p.weights == WeightsForm::C) files.push_back({p.name + "_weights.c", weights_source(p), true});
    if (p.weights == WeightsForm::Incbin) files.push_back({p.name + "_weights.S", weights_assembler(p), true});
    if (p.weights != WeightsForm::C) files.push_back({p.name + "_weights.bin", weights_binary(p), true});
  }
  for (const RuntimeFile& file : runtime_files())
    if (file.name == "etch_quant.h"             ? uses_quant(p)
        : file.name == "etch_state.h"           ? p.role().saves_state
        : file.name.starts_with("etch_workers") ? has_workers(p)
        : file.name == "etch_math.h"            ? uses_math(p) || p.form->math_file
                                                : file.name.starts_with("etch_runtime") || file.name.starts_with(p.form->runtime))
      files.push_back({std::string(file.name), runtime_file_text(p, file)});
  if (options.selftest) files.push_back(selftest_file(p));
  files.push_back({"CMakeLists.txt", build_file(p)});
  add_external_files(program, options.name, files);
  const Report report = make_report(program, plan, options);
  files.push_back({"report.txt", to_text(report)});
  files.push_back({"report.json", to_json(report)});
  return files;
}

EmittedFile emit_selftest(const Program& program, const MemoryPlan& plan, const EmitOptions& options) {
  return selftest_file(prepared_project(program, plan, options));
}

}  // namespace etch
