#include "search/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <mutex>
#include <set>

#include "base/error.h"
#include "emit/write.h"
#include "emulator/elf.h"
#include "emulator/emulator.h"
#include "emulator/processor.h"
#include "search/timer.h"

namespace etch {
namespace {

Cost cost_of(const FunctionRun& run, const CycleWeights& weights) {
  Cost cost{.instructions = run.instructions, .stack_bytes = run.stack_bytes.value_or(0)};
  if (weights) cost.cycles = weights.estimate(run.instructions, run.loads, run.stores, run.taken_branches);
  return cost;
}

Cost cost_of(double cycles) { return {.cycles = std::max<std::int64_t>(1, std::llrint(cycles))}; }

// What a run of a program gave.
struct Ran {
  int exit_code = -1;
  bool timed_out = false;
  std::string console;
  std::map<std::string, std::vector<Cost>> calls;
};

Ran ran_in_emulator(const Target& target, const CrossBuild& build, const std::filesystem::path& project, const Unit& unit, double limit_s) {
  EmulatorOptions options;
  options.cwd = project;
  options.timeout_s = limit_s;
  const std::map<std::string, ElfSymbol> symbols = read_elf_symbols(build.elf);
  for (const std::string& f : std::set<std::string>(unit.functions.begin(), unit.functions.end()))
    if (symbols.contains(f) && symbols.at(f).function) options.functions.push_back(f);
  const EmulatorResult run = run_emulated(target, build.elf, options);
  Ran ran{run.timed_out ? -1 : run.exit_code, run.timed_out, run.console, {}};
  for (const FunctionRun& f : run.runs) ran.calls[f.function].push_back(cost_of(f, target.cycles));
  return ran;
}

Ran ran_on_host(const CrossBuild& build, const std::filesystem::path& project, const Unit& unit, double limit_s,
                std::span<const double> elsewhere) {
  const Timed timed = run_timed(build, project, limit_s, elsewhere);
  Ran ran{timed.exit_code, timed.timed_out, timed.console, {}};
  if (unit.functions.size() == timed.cycles.size())
    for (std::size_t i = 0; i < unit.functions.size(); i++) ran.calls[unit.functions[i]].push_back(cost_of(timed.cycles[i]));
  return ran;
}

std::string problem_of(const Ran& ran, const Unit& unit, double limit_s) {
  const std::string program = unit.is_whole ? "the self-test" : "the program that measures it";
  if (ran.timed_out) return fmt::format("{} was stopped after {:g} s", program, limit_s);
  const auto first = ran.calls.find(unit.functions.empty() ? "" : unit.functions[0]);
  const bool is_incomplete = unit.is_whole && (first == ran.calls.end() || first->second.empty());
  if (ran.exit_code != 0 || is_incomplete) return fmt::format("{} ended with exit status {}", program, ran.exit_code);
  return "";
}

// The less of both, part by part, where two runs gave the same otherwise.
void keep_least(UnitRun& kept, const UnitRun& again) {
  for (auto& [function, calls] : kept.calls) {
    const auto other = again.calls.find(function);
    if (other == again.calls.end() || other->second.size() != calls.size()) continue;
    for (std::size_t i = 0; i < calls.size(); i++) calls[i].cycles = std::min(calls[i].cycles, other->second[i].cycles);
  }
}

// Calls work(0), ..., work(count - 1), `jobs` at a time. What one throws is thrown again when all that had begun have ended.
void side_by_side(std::size_t count, int jobs, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> workers;
  for (std::size_t j = 0; j < std::min(count, static_cast<std::size_t>(std::max(1, jobs))); j++)
    workers.push_back(std::async(std::launch::async, take));
  for (auto& w : workers) w.wait();
  for (auto& w : workers) w.get();
}

// The least that each thing took in any of the units, which are ways to compute the same things; 0 if that is not known. Nothing for whole
// programs: half a percent counts there, so that each is timed in each turn.
std::vector<double> least_of(const std::vector<Unit>& units, const std::vector<UnitRun>& runs) {
  if (units.empty() || units[0].is_whole) return {};
  std::vector<double> least(units[0].things);
  for (std::size_t i = 0; i < units.size(); i++) {
    check(units[i].things == least.size(), "units are ways to compute the same");
    std::map<std::string, std::size_t> turn;  // of functions that compute several things
    for (std::size_t f = 0; f < units[i].functions.size(); f++) {
      const std::string& name = units[i].functions[f];
      const auto calls = runs[i].calls.find(name);
      const std::size_t call = turn[name]++;
      if (calls == runs[i].calls.end() || call >= calls->second.size()) continue;
      const auto cycles = static_cast<double>(calls->second[call].cycles);
      double& of_thing = least[f % least.size()];
      of_thing = of_thing == 0 ? cycles : std::min(of_thing, cycles);
    }
  }
  return least;
}

// Other things that a machine does come and go, so the runs of one unit are apart. In the last turn each result is handed over at once, for
// a search that is interrupted.
void run_timed_units(const Target& target, const std::vector<Unit>& units, int jobs, double limit_s, const UnitDone& done) {
  constexpr int kTurns = 3;
  std::vector<BuiltUnit> built(units.size());
  side_by_side(units.size(), jobs, [&](std::size_t i) { built[i] = build_unit(target, units[i], limit_s); });
  std::vector<UnitRun> kept;
  for (std::size_t i = 0; i < units.size(); i++) {
    kept.push_back(run_unit(target, units[i], built[i], limit_s));
    if (!kept[i].problem.empty()) done(i, kept[i]);
  }
  for (int turn = 1; turn < kTurns; turn++) {
    const std::vector<double> least = least_of(units, kept);
    for (std::size_t i = 0; i < units.size(); i++) {
      if (!kept[i].problem.empty()) continue;
      const UnitRun run = run_unit(target, units[i], built[i], limit_s, least);
      if (run.problem.empty()) keep_least(kept[i], run);
      if (turn + 1 == kTurns) done(i, kept[i]);
    }
  }
}

}  // namespace

BuiltUnit build_unit(const Target& target, const Unit& unit, double limit_s) {
  BuiltUnit built;
  built.work = std::make_unique<TempDir>("etch-search");
  const std::filesystem::path& work = built.work->path();
  write_into(work / "project", {unit.files.begin(), unit.files.end()});
  BuildOptions options = target.is_host() ? timed_build(work, unit.is_whole ? 0 : unit.things, unit.other_bytes) : BuildOptions();
  options.timeout_s = limit_s;
  try {
    built.build = build_project(work / "project", target, work / "build", options);
  } catch (const ToolStopped& error) {
    built.problem = error.problem(), built.was_stopped = true;
  } catch (const UserError& error) {
    built.problem = error.problem();
  }
  return built;
}

UnitRun run_unit(const Target& target, const Unit& unit, const BuiltUnit& built, double limit_s, std::span<const double> elsewhere) {
  if (!built.build) return {.problem = built.problem, .was_stopped = built.was_stopped};
  const std::filesystem::path project = built.work->path() / "project";
  try {
    const Ran ran = target.is_host() ? ran_on_host(*built.build, project, unit, limit_s, elsewhere)
                                     : ran_in_emulator(target, *built.build, project, unit, limit_s);
    if (std::string problem = problem_of(ran, unit, limit_s); !problem.empty())
      return {.problem = std::move(problem), .was_stopped = ran.timed_out || ran.exit_code < 0};
    UnitRun run{.calls = ran.calls, .outputs = printed_in(ran.console)};
    const std::map<std::string, ElfSymbol> symbols = read_elf_symbols(built.build->elf);
    for (const std::string& f : unit.functions)
      if (const auto symbol = symbols.find(f); symbol != symbols.end()) run.code_bytes[f] = static_cast<std::int64_t>(symbol->second.size);
    run.program_bytes = built.build->code_bytes + built.build->weights_bytes;
    return run;
  } catch (const UserError& error) {
    return {.problem = error.problem(), .was_stopped = true};
  }
}

RunUnits run_here(const Target& target, int jobs, double limit_s) {
  return [target, jobs, limit_s](const std::vector<Unit>& units, const UnitDone& done) {
    require_tools(target);
    if (target.is_host()) return run_timed_units(target, units, jobs, limit_s, done);
    std::mutex one_at_a_time;
    side_by_side(units.size(), jobs, [&](std::size_t i) {
      const UnitRun run = run_unit(target, units[i], build_unit(target, units[i], limit_s), limit_s);
      const std::lock_guard guard(one_at_a_time);
      done(i, run);
    });
  };
}

void require_tools(const Target& target) {
  std::string why;
  if (!can_run_here(target, &why)) throw UserError("target " + target.name, why, help_to_run(target));
  if (!target_compiler(target))
    throw UserError("target " + target.name, "its compiler " + missing_compiler(target) + " is not installed",
                    "install " + target.toolchain.package);
}

}  // namespace etch
