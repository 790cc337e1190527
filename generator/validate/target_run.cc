#include "validate/target_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

#include "audit/audit.h"
#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "emit/form.h"
#include "emulator/cross_build.h"
#include "emulator/elf.h"
#include "emulator/emulator.h"
#include "emulator/processor.h"
#include "emulator/tools.h"
#include "renderer/language.h"

namespace etch {
namespace {

// The last lines that a program printed.
std::string tail(const std::string& text) { return text.size() <= 400 ? text : "..." + text.substr(text.size() - 400); }

void run_on_host(const CrossBuild& build, const Target& target, const std::filesystem::path& dir, const std::filesystem::path& work,
                 TargetResult& result) {
  ProcessOptions options;
  options.timeout_s = 600;
  options.cwd = dir;  // where a blob of weights is
  options.env = environment_for(language_of(target), work);
  const ProcessResult run = run_process({build.elf.string()}, options);
  const ProjectForm* form = form_of(&language_of(target));
  if (form != nullptr && form->no_device_status != 0 && run.exit_code == form->no_device_status)
    throw UserError("target " + target.name, std::string(form->no_device), std::string(form->device_help));
  if (run.signal == SIGILL)
    throw UserError("target " + target.name, "the self-test came to an instruction that this machine's processor does not have",
                    "run it on a machine that has the target's instructions; etch compile works here, and so does --backends without "
                    "--target");
  result.seconds = run.seconds;
  result.ok = run.ok();
  if (!result.ok) result.problem = fmt::format("self-test: {}: {}", describe(run), tail(run.out + run.err));
}

/// Those of `functions` that have code of their own, with its size.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& functions, const std::filesystem::path& elf) {
  const std::map<std::string, ElfSymbol> symbols = read_elf_symbols(elf);
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& name : functions)
    if (const auto found = symbols.find(name); found != symbols.end() && found->second.function)
      sizes.emplace(name, static_cast<std::int64_t>(found->second.size));
  return sizes;
}

void run_in_emulator(const CrossBuild& build, const Target& target, const std::string& entry, const std::vector<std::string>& kernels,
                     const std::filesystem::path& dir, TargetResult& result) {
  EmulatorOptions options;
  options.cwd = dir;
  options.functions = {entry};
  result.function_bytes = sizes_of(kernels, build.elf);
  for (const auto& [name, bytes] : result.function_bytes)
    if (name != entry) options.functions.push_back(name);
  options.timeout_s = 600;
  const EmulatorResult run = run_emulated(target, build.elf, options);
  result.seconds = run.seconds;
  result.ok = run.ok() && !run.runs.empty();
  if (!run.ok()) {
    const std::string how = !run.started ? "did not start" : run.timed_out ? "timed out" : fmt::format("exit status {}", run.exit_code);
    result.problem = fmt::format("self-test in {}: {}: {}", target.emulator.program, how, tail(run.console));
  }
  for (const FunctionRun& f : run.runs) {
    if (f.function != entry) result.kernel_runs.push_back(f);
    if (f.function != entry || !f.returned) continue;
    result.instructions = f.instructions;
    result.loads = f.loads;
    result.stores = f.stores;
    result.taken_branches = f.taken_branches;
    result.stack_bytes = f.stack_bytes;
    break;  // the first call; the self-test makes one
  }
}

// Symbols of libraries in a program that consists of `sources` (a folder) and a main().
std::set<std::string> library_symbols(const std::filesystem::path& sources, const Target& target, const std::filesystem::path& build_dir,
                                      const BuildOptions& options) {
  const std::vector<std::string> symbols = build_project(sources, target, build_dir, options).map.library_symbols;
  return {symbols.begin(), symbols.end()};
}

// The library symbols that the model needs: those in a program that calls it, without those in a program with an empty main().
std::vector<std::string> symbols_of_model(const std::filesystem::path& dir, const Target& target, const std::string& entry,
                                          const std::filesystem::path& work) {
  const std::filesystem::path empty = work / "empty", caller = work / "caller.c";
  std::filesystem::create_directories(empty);
  std::ofstream(empty / "main.c") << "int main(void) { return 0; }\n";
  std::ofstream(caller) << "void " << entry << "(void);\nvoid (*volatile etch_keeps)(void) = " << entry
                        << ";\nint main(void) { return etch_keeps == 0; }\n";
  BuildOptions options;
  options.leave_out = {std::string(kSelfTestFile)};
  options.extra_sources = {caller};
  const auto with = library_symbols(dir, target, work / "with", options), without = library_symbols(empty, target, work / "without", {});
  std::vector<std::string> more;
  std::ranges::set_difference(with, without, std::back_inserter(more));
  return more;
}

std::string stack_problem(const StackBound& bound) {
  if (bound.bytes) return "";
  if (!bound.known_bytes) return fmt::format("no bound of the stack: {}", fmt::join(bound.unresolved, ", "));
  return fmt::format("stack: {} bytes, and what the C library's {} take{}", *bound.known_bytes, fmt::join(bound.without_figure, ", "),
                     bound.without_figure.size() == 1 ? "s" : "");
}

}  // namespace

TargetResult run_on_target(const std::filesystem::path& dir, const Target& target, const std::string& entry, const Step& step) {
  TargetResult result;
  result.name = target.name;
  std::string why;
  if (!can_run_here(target, &why)) throw UserError("target " + target.name, why, help_to_run(target));
  const TempDir work("etch-target");
  if (step) step("building for " + target.name, 0, 0);
  const CrossBuild build = build_project(dir, target, work.path());
  result.compiler = build.compiler;
  result.code_bytes = build.code_bytes;
  result.weights_bytes = build.weights_bytes;
  std::vector<std::string> symbols = build.map.library_symbols;
  if (!heap_symbols(symbols).empty() || !soft_double_symbols(symbols).empty()) symbols = symbols_of_model(dir, target, entry, work.path());
  result.heap_symbols = heap_symbols(symbols);
  result.soft_double_symbols = soft_double_symbols(symbols);
  const AuditReport audit = audit_directory(dir, audit_options(target));
  const StackBound bound = stack_bound(build.stack, entry, audit.table_functions);
  result.stack_bound_bytes = bound.bytes;
  if (!build.stack.empty()) result.stack_bound_problem = stack_problem(bound);
  if (step) step("running on " + target.name, 0, 0);
  if (target.is_host())
    run_on_host(build, target, dir, work.path(), result);
  else
    run_in_emulator(build, target, entry, audit.table_functions, dir, result);
  return result;
}

void add_costs(Report& report, const TargetResult& result, const CycleWeights& weights) {
  report.code_bytes = result.code_bytes;
  report.stack_bytes = result.stack_bytes;
  report.stack_bound_bytes = result.stack_bound_bytes;
  report.instructions = result.instructions;
  report.loads = result.loads;
  report.stores = result.stores;
  report.taken_branches = result.taken_branches;
  if (weights && result.instructions) {
    report.cycles_estimated = weights.estimate(*result.instructions, *result.loads, *result.stores, *result.taken_branches);
    report.cycles_rule = text(weights);
  }
  for (const auto& [name, bytes] : result.function_bytes) {
    std::vector<ReportKernel*> calls;
    std::vector<const FunctionRun*> runs;
    for (ReportKernel& k : report.kernels)
      if (k.name == name) calls.push_back(&k);
    for (const FunctionRun& f : result.kernel_runs)
      if (f.function == name) runs.push_back(&f);
    for (std::size_t i = 0; i < runs.size() && !calls.empty(); i++) {
      const FunctionRun& run = *runs[i];
      std::optional<ReportCost>& cost = calls[runs.size() == calls.size() ? i : 0]->cost;
      if (!cost) cost.emplace();
      cost->instructions += run.instructions;
      cost->loads += run.loads;
      cost->stores += run.stores;
      cost->taken_branches += run.taken_branches;
      cost->stack_bytes = std::max(cost->stack_bytes, run.stack_bytes);
      cost->code_bytes = bytes;
      if (weights) cost->cycles_estimated = weights.estimate(cost->instructions, cost->loads, cost->stores, cost->taken_branches);
    }
  }
}

}  // namespace etch
