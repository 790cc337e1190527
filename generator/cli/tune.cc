// etch tune: what the search finds for a model's kernels, kernel by kernel, and the table that compile takes it from.
#include "driver/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"
#include "cli/model_options.h"
#include "driver/confirm.h"
#include "driver/tune_layouts.h"
#include "emit/literals.h"
#include "renderer/language.h"
#include "search/emulated.h"

namespace etch {
namespace {

struct Sum {
  std::int64_t before = 0, after = 0;
  void add(std::int64_t was, std::int64_t is) { before += was, after += is; }
};

std::string change_of(const Sum& sum) {
  const double percent = sum.before == 0 ? 0 : 100.0 * static_cast<double>(sum.after - sum.before) / static_cast<double>(sum.before);
  return fmt::format("{:>11} -> {:>11} {:>+6.1f} %", grouped(sum.before), grouped(sum.after), percent);
}

class Printer {
 public:
  Printer(Progress& progress, bool has_cycles) : progress_(progress), has_cycles_(has_cycles) {}

  void print(const Task& task, const SearchResult& r) {
    progress_.clear();
    Sum instructions, cycles, code;
    instructions.add(r.cost_before.instructions, r.cost.instructions);
    cycles.add(r.cost_before.cycles, r.cost.cycles);
    code.add(r.cost_before.code_bytes, r.cost.code_bytes);
    line(task.name, instructions, cycles, code);
    const std::string measured = r.rounded == 0
                                     ? fmt::format("{} measured", r.measured)
                                     : fmt::format("{} measured, {} that round sums of floats otherwise left out", r.measured, r.rounded);
    if (r.best == r.before)
      fmt::print("    the heuristics' steps stay, {}: {}\n", measured, to_text(r.before));
    else
      fmt::print("    before: {}\n    found:  {}  ({})\n", to_text(r.before), to_text(r.best), measured);
    for (const std::string& problem : r.problems) fmt::print("    left out: {}\n", problem);
    std::fflush(stdout);
    instructions_.add(instructions.before, instructions.after);
    cycles_.add(cycles.before, cycles.after);
    code_.add(code.before, code.after);
  }

  // Choices that have an unusual way, and what all of them together change.
  void print(const LayoutResult& r) {
    progress_.clear();
    Sum instructions, cycles, code;
    instructions.add(r.cost_before.instructions, r.cost.instructions);
    cycles.add(r.cost_before.cycles, r.cost.cycles);
    code.add(r.cost_before.code_bytes, r.cost.code_bytes);
    line("layouts", instructions, cycles, code);
    std::set<std::string> told;
    for (const LayoutChoice& c : r.choices)
      if (c.taken != c.usual && told.insert(c.key).second) fmt::print("    {}: {} instead of {}\n", c.subject, c.taken, c.usual);
    if (told.empty()) fmt::print("    the heuristics' ways stay, {} programs measured\n", r.measured);
    for (const std::string& problem : r.problems) fmt::print("    left out: {}\n", problem);
    std::fflush(stdout);
  }

  // The sum of what the kernels cost, and those whose rows are not taken after all.
  void print(const std::vector<RowsLeftOut>& left_out) {
    progress_.clear();
    print_sum();
    for (const RowsLeftOut& rows : left_out) fmt::print("{}: the heuristics' steps stay, {}\n", rows.name, rows.why);
  }

  void print_sum() const { line("all kernels", instructions_, cycles_, code_); }

 private:
  void line(const std::string& name, const Sum& instructions, const Sum& cycles, const Sum& code) const {
    fmt::print("{}\n    instructions {}\n", name, change_of(instructions));
    if (has_cycles_) fmt::print("    cycles, est. {}\n", change_of(cycles));
    fmt::print("    code, bytes  {}\n", change_of(code));
  }

  Progress& progress_;
  bool has_cycles_;
  Sum instructions_, cycles_, code_;
};

void require_known(const std::vector<std::string>& kernels, const std::vector<Task>& tasks) {
  std::vector<std::string> names;
  for (const Task& t : tasks) names.push_back(t.name);
  for (const std::string& k : kernels)
    if (std::ranges::find(names, k) == names.end())
      throw UserError("--kernel " + k, "is no kernel of this model with these options; its kernels are " + nearest_text(k, names),
                      "etch inspect lists them");
}

std::vector<Task> tasks_found(std::vector<Task> tasks, const std::vector<std::string>& only) {
  if (!only.empty()) std::erase_if(tasks, [&](const Task& t) { return std::ranges::find(only, t.name) == only.end(); });
  return tasks;
}

}  // namespace

int tune_command(const TuneArgs& args) {
  Progress progress(false);
  TuneOptions options;
  options.compile = compile_options(args, progress);
  const Target& target = options.compile.target;
  if (target.is_host())
    throw UserError("target " + target.name, "programs for it run on this machine, where nothing counts instructions",
                    "choose a target with an emulator: etch targets lists them");
  options.jobs = args.jobs > 0 ? args.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.width = args.width;
  options.most_rounds = args.rounds;
  const std::filesystem::path file = args.output.empty() ? target.tuning : args.output;
  if (file.empty())
    throw UserError("target " + target.name, "its description names no table for what is found",
                    "name a file: -o FILE, for compile --tuning FILE");
  OptTable before = std::filesystem::exists(file) ? OptTable::read(file) : OptTable();
  Printer printer(progress, static_cast<bool>(target.cycles));
  read_model(options.compile);  // what can't be read is told before anything is measured
  const MeasureProjects measure = [&](const std::vector<MeasuredProject>& projects) {
    return measure_projects(target, projects, options.jobs);
  };
  if (args.kernels.empty()) {
    write_file(file, before.text());  // as is a folder that can't be written
    const LayoutResult layouts = tune_layouts(options.compile, measure, before, std::min(args.rounds, 3));
    before = with_layouts(std::move(before), layouts);
    printer.print(layouts);
    write_file(file, before.text());
  }
  options.compile.rows = std::make_shared<const OptTable>(before.layouts_alone());
  const Frontend frontend = read_model(options.compile);
  const std::vector<Task> tasks = tasks_of(frontend, options.compile);
  require_known(args.kernels, tasks);
  options.only = args.kernels;
  options.found = [&](const Task& task, const SearchResult& result, const OptTable& table) {
    printer.print(task, result);
    write_file(file, table.text());  // a search that is interrupted keeps what it found
  };
  OptTable found = tune(tasks, options, measure_in_emulator(target, language_of(target), options.jobs), before);
  std::vector<RowsLeftOut> left_out;
  found = confirmed(options.compile, measure, tasks_found(tasks, args.kernels), found, left_out);
  printer.print(left_out);
  write_file(file, found.text());
  fmt::print("{} rows in {}\n", found.size(), file.string());
  return 0;
}

}  // namespace etch
