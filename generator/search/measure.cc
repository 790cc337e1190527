#include "search/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/tempdir.h"
#include "emit/emit.h"
#include "emit/write.h"
#include "emulator/cross_build.h"
#include "emulator/elf.h"
#include "emulator/emulator.h"
#include "emulator/processor.h"
#include "memory/plan.h"
#include "search/timer.h"

namespace etch {
namespace {

constexpr std::size_t kMostInImage = 24;      // variants
constexpr std::int64_t kMostBytes = 1 << 20;  // of their outputs, and of their constants, where the target does not say less

std::int64_t budget(const Target& target, MemoryKind kind) {
  const std::int64_t bytes = target.bytes(kind);
  return bytes == 0 ? kMostBytes : std::min(kMostBytes, bytes / 2);
}

// An image as files, made before any is built: only building and running go on side by side.
struct Image {
  std::span<const Variant> variants;
  std::vector<std::string> functions;  // of each call, in order
  std::vector<std::string> outputs;    // names of buffers, in order
  std::unique_ptr<TempDir> work;
};

Image image_of(const Task& task, std::span<const Variant> variants, const Target& target, const Language& language) {
  const Program program = program_of(task, variants, language);
  const MemoryPlan plan = plan_memory(program, {.align = target.arena_align});
  EmitOptions emitting;
  emitting.name = "trial";
  emitting.target_name = target.name;
  emitting.build = emit_build(target);
  emitting.selftest.emplace();
  for (const Subject& subject : task.subjects)
    for (std::size_t a = 0; a < subject.arguments.size(); a++)
      if (!subject.arguments[a].is_constant && subject.arguments[a].access == Access::Read)
        emitting.selftest->inputs.push_back(subject.data[a].reshaped({subject.data[a].size()}));
  Image image{variants, {}, {}, std::make_unique<TempDir>("etch-search")};
  for (const ProgramCall& call : program.calls) image.functions.push_back(program.kernels[static_cast<std::size_t>(call.kernel)].name);
  for (int b : program.outputs) image.outputs.push_back(program.buffers[static_cast<std::size_t>(b)].name);
  write_into(image.work->path() / "project", emit(program, plan, emitting));
  return image;
}

// "CHECKSUM NAME HEX" lines.
std::map<std::string, std::uint32_t> checksums_in(const std::string& console) {
  std::map<std::string, std::uint32_t> sums;
  std::istringstream lines(console);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string title, name;
    std::uint32_t sum = 0;
    if (words >> title >> name >> std::hex >> sum && title == "CHECKSUM") sums[name] = sum;
  }
  return sums;
}

Cost cost_of(const FunctionRun& run, const CycleWeights& weights) {
  Cost cost{.instructions = run.instructions, .stack_bytes = run.stack_bytes.value_or(0)};
  if (weights) cost.cycles = weights.estimate(run.instructions, run.loads, run.stores, run.taken_branches);
  return cost;
}

Cost cost_of(double cycles) { return {.cycles = std::max<std::int64_t>(1, std::llrint(cycles))}; }

void add(const Cost& of_call, int calls, Cost& cost) {
  cost.instructions += calls * of_call.instructions;
  cost.cycles += calls * of_call.cycles;
  cost.stack_bytes = std::max(cost.stack_bytes, of_call.stack_bytes);
}

// What a run of a program gave.
struct Ran {
  int exit_code = -1;
  std::string console;
  std::map<std::string, std::vector<Cost>> calls;  // of each function, in order
};

// What is built to be run: to be timed, with another runtime.
CrossBuild build_for(const Target& target, const std::filesystem::path& work) {
  return build_project(work / "project", target, work / "build", target.is_host() ? timed_build(work) : BuildOptions());
}

// `functions`: of the calls of the program, in order.
Ran ran_in_emulator(const Target& target, const CrossBuild& build, const std::filesystem::path& project,
                    const std::vector<std::string>& functions) {
  EmulatorOptions options;
  options.cwd = project;
  options.timeout_s = 300;
  const std::map<std::string, ElfSymbol> symbols = read_elf_symbols(build.elf);
  for (const std::string& f : std::set<std::string>(functions.begin(), functions.end()))
    if (symbols.contains(f) && symbols.at(f).function) options.functions.push_back(f);
  const EmulatorResult run = run_emulated(target, build.elf, options);
  Ran ran{run.timed_out ? -1 : run.exit_code, run.console, {}};
  for (const FunctionRun& f : run.runs) ran.calls[f.function].push_back(cost_of(f, target.cycles));
  return ran;
}

Ran ran_on_host(const CrossBuild& build, const std::filesystem::path& project, const std::vector<std::string>& functions) {
  const Timed timed = run_timed(build, project);
  Ran ran{timed.exit_code, timed.console, {}};
  if (functions.size() == timed.calls.size())
    for (std::size_t i = 0; i < functions.size(); i++) ran.calls[functions[i]].push_back(cost_of(timed.calls[i]));
  return ran;
}

std::vector<Measured> failed(const Image& image, const std::string& why) {
  return std::vector<Measured>(image.variants.size(), Measured{std::nullopt, why, {}});
}

std::vector<Measured> run_image(const Task& task, const Image& image, const CrossBuild& build, const Target& target) {
  const std::filesystem::path project = image.work->path() / "project";
  const Ran run =
      target.is_host() ? ran_on_host(build, project, image.functions) : ran_in_emulator(target, build, project, image.functions);
  if (run.exit_code != 0) return failed(image, "the program that measures it ended with exit status " + std::to_string(run.exit_code));
  const std::map<std::string, ElfSymbol> symbols = read_elf_symbols(build.elf);
  const std::map<std::string, std::uint32_t> sums = checksums_in(run.console);
  std::vector<Measured> result(image.variants.size());
  std::size_t call = 0, output = 0;
  std::map<std::string, std::size_t> done;
  for (std::size_t v = 0; v < result.size(); v++) {
    Cost cost;
    for (std::size_t s = 0; s < task.subjects.size(); s++, call++) {
      const std::string& f = image.functions[call];
      const std::size_t turn = done[f]++;
      const auto calls = run.calls.find(f);
      if (calls == run.calls.end() || turn >= calls->second.size())
        result[v].problem = "the compiler left it no function of its own";
      else
        add(calls->second[turn], task.subjects[s].calls, cost);
      if (turn == 0 && symbols.contains(f)) cost.code_bytes += static_cast<std::int64_t>(symbols.at(f).size);
      for (const KernelArgument& a : task.subjects[s].arguments) {
        if (a.access != Access::Write) continue;
        const auto sum = sums.find(image.outputs[output++]);
        if (sum == sums.end())
          result[v].problem = "the program that measures it printed no result";
        else
          result[v].sums.push_back(sum->second);
      }
    }
    if (result[v].problem.empty()) result[v].cost = cost;
  }
  return result;
}

// The number of variants, from `first` on, whose outputs and constants the memories have room for.
std::size_t fitting(const std::vector<Variant>& variants, std::size_t first, const Target& target) {
  std::int64_t written = 0, constants = 0;
  std::size_t n = 0;
  for (; first + n < variants.size() && n < kMostInImage; n++) {
    for (const ProgramKernel& k : variants[first + n].kernels)
      for (const KernelArgument& a : k.arguments) {
        const std::int64_t bytes = a.elements.max() * bytes_of(a.dtype);
        if (a.access == Access::Write) written += bytes;
        if (a.is_constant) constants += bytes;
      }
    if (n > 0 && (written > budget(target, MemoryKind::Ram) || constants > budget(target, MemoryKind::Flash))) break;
  }
  return n;
}

// The results of `make(0)`, ..., `make(count - 1)`, of which `jobs` run side by side.
template <typename Make>
auto side_by_side(std::size_t count, int jobs, const Make& make) {
  std::vector<std::future<decltype(make(std::size_t{0}))>> waiting;
  for (std::size_t i = 0; i < count; i++) {
    if (i >= static_cast<std::size_t>(jobs)) waiting[i - static_cast<std::size_t>(jobs)].wait();
    waiting.push_back(std::async(std::launch::async, [&make, i] { return make(i); }));
  }
  std::vector<decltype(make(std::size_t{0}))> results;
  for (auto& w : waiting) results.push_back(w.get());
  return results;
}

void require_tools(const Target& target) {
  std::string why;
  if (!can_run_here(target, &why)) throw UserError("target " + target.name, why, help_to_run(target));
  if (!target_compiler(target))
    throw UserError("target " + target.name, "its compiler " + missing_compiler(target) + " is not installed",
                    "install " + target.toolchain.package);
}

// A program, or why it could not be built.
struct Built {
  std::optional<CrossBuild> build;
  std::string problem;
};

Built built(const Target& target, const std::filesystem::path& work) {
  try {
    return {build_for(target, work), ""};
  } catch (const UserError& error) {
    return {std::nullopt, error.problem()};
  }
}

std::vector<Measured> run_or_explain(const Task& task, const Image& image, const Built& program, const Target& target) {
  try {
    return program.build ? run_image(task, image, *program.build, target) : failed(image, program.problem);
  } catch (const UserError& error) {
    return failed(image, error.problem());
  }
}

Measured run_project(const MeasuredProject& project, const Built& program, const std::filesystem::path& work, const Target& target) {
  if (!program.build) return {std::nullopt, program.problem, {}};
  const std::filesystem::path dir = work / "project";
  try {
    std::optional<Cost> cost;
    int exit_code = -1;
    if (target.is_host()) {
      const Timed timed = run_timed(*program.build, dir);
      exit_code = timed.exit_code;
      cost = cost_of(timed.run);
    } else {
      const Ran ran = ran_in_emulator(target, *program.build, dir, {project.entry});
      exit_code = ran.exit_code;
      if (const auto calls = ran.calls.find(project.entry); calls != ran.calls.end()) cost = calls->second[0];
    }
    if (exit_code != 0 || !cost) return {std::nullopt, "the self-test ended with exit status " + std::to_string(exit_code), {}};
    cost->code_bytes = program.build->code_bytes + program.build->weights_bytes;
    return {cost, "", {}};
  } catch (const UserError& error) {
    return {std::nullopt, error.problem(), {}};
  }
}

// What is timed runs alone.
int runs_at_once(const Target& target, int jobs) { return target.is_host() ? 1 : jobs; }

// The less of both, part by part, where two runs gave the same otherwise.
void keep_least(Measured& kept, const Measured& again) {
  if (kept.cost && again.cost) kept.cost->cycles = std::min(kept.cost->cycles, again.cost->cycles);
}

// The results of run(0), ..., run(count - 1). Timed programs run three times, in turns, and the least time counts: what else a machine does
// comes and goes.
template <typename Run, typename KeepLeast>
auto all_runs(const Target& target, std::size_t count, int jobs, const Run& run, const KeepLeast& keep) {
  constexpr int kTurns = 3;
  auto kept = side_by_side(count, runs_at_once(target, jobs), run);
  for (int turn = 1; target.is_host() && turn < kTurns; turn++) {
    const auto again = side_by_side(count, 1, run);
    for (std::size_t i = 0; i < count; i++) keep(kept[i], again[i]);
  }
  return kept;
}

}  // namespace

MeasureVariants measure_variants(const Target& target, const Language& language, int jobs) {
  return [target, &language, jobs](const Task& task, const std::vector<Variant>& variants) {
    require_tools(target);
    std::vector<Measured> result;
    std::vector<Image> images;
    for (std::size_t first = 0; first < variants.size();) {
      const std::size_t n = fitting(variants, first, target);
      images.push_back(image_of(task, std::span(variants).subspan(first, n), target, language));
      first += n;
    }
    const auto programs = side_by_side(images.size(), jobs, [&](std::size_t i) { return built(target, images[i].work->path()); });
    const auto run = [&](std::size_t i) { return run_or_explain(task, images[i], programs[i], target); };
    const auto keep = [](std::vector<Measured>& kept, const std::vector<Measured>& again) {
      for (std::size_t v = 0; v < kept.size(); v++) keep_least(kept[v], again[v]);
    };
    for (const std::vector<Measured>& of_image : all_runs(target, images.size(), jobs, run, keep))
      result.insert(result.end(), of_image.begin(), of_image.end());
    return result;
  };
}

std::vector<Measured> measure_projects(const Target& target, const std::vector<MeasuredProject>& projects, int jobs) {
  require_tools(target);
  std::vector<TempDir> work;
  for (const MeasuredProject& project : projects) write_into(work.emplace_back("etch-search").path() / "project", project.files);
  const auto programs = side_by_side(projects.size(), jobs, [&](std::size_t i) { return built(target, work[i].path()); });
  const auto run = [&](std::size_t i) { return run_project(projects[i], programs[i], work[i].path(), target); };
  return all_runs(target, projects.size(), jobs, run, keep_least);
}

}  // namespace etch
