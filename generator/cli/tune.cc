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
#include "base/tempdir.h"
#include "cli/model_options.h"
#include "driver/confirm.h"
#include "driver/tune_layouts.h"
#include "emit/literals.h"
#include "emulator/cross_build.h"
#include "renderer/language.h"
#include "search/launcher.h"
#include "search/measure.h"
#include "search/tools.h"

namespace etch {
namespace {

struct Sum {
  std::int64_t before = 0, after = 0;
};

struct Sums {
  Sum instructions, cycles, code;

  void add(const Cost& before, const Cost& after) {
    const auto add = [](Sum& sum, std::int64_t was, std::int64_t is) { sum.before += was, sum.after += is; };
    add(instructions, before.instructions, after.instructions);
    add(cycles, before.cycles, after.cycles);
    add(code, before.code_bytes, after.code_bytes);
  }
};

std::string change_of(const Sum& sum) {
  const double percent = sum.before == 0 ? 0 : 100.0 * static_cast<double>(sum.after - sum.before) / static_cast<double>(sum.before);
  return fmt::format("{:>11} -> {:>11} {:>+6.1f} %", grouped(sum.before), grouped(sum.after), percent);
}

// How well the model tells what it has not seen.
std::string text_of(const ModelFit& fit, int left_to_model) {
  return fmt::format(
      "model: {} lists left to it; fitted to {}, half of them within {:.1f} %, nine of ten within {:.1f} %, {:.0f} % of pairs in order",
      left_to_model, fit.measured, 100 * fit.median_error, 100 * fit.large_error, 100 * fit.in_order);
}

class Printer {
 public:
  Printer(Progress& progress, const Target& target)
      : progress_(progress), is_timed_(target.is_host()), has_cycles_(is_timed_ || static_cast<bool>(target.cycles)) {}

  void print(const Task& task, const SearchResult& r) {
    progress_.clear();
    line(task.name, r.cost_before, r.cost);
    const std::string measured =
        r.other_floats == 0 ? fmt::format("{} measured", r.measured)
                            : fmt::format("{} measured, {} left out whose floats differ by more than rounding", r.measured, r.other_floats);
    if (r.best == r.before)
      fmt::print("    the heuristics' steps stay, {}: {}\n", measured, to_text(r.before));
    else
      fmt::print("    before: {}\n    found:  {}  ({})\n", to_text(r.before), to_text(r.best), measured);
    if (r.fit) fmt::print("    {}\n", text_of(*r.fit, r.left_to_model));
    for (const std::string& problem : r.problems) fmt::print("    left out: {}\n", problem);
    std::fflush(stdout);
    kernels_.push_back({task.name, r.cost_before, r.cost});
  }

  // Choices that have an unusual way, and what all of them together change.
  void print(const LayoutResult& r) {
    progress_.clear();
    line("layouts", r.cost_before, r.cost);
    std::set<std::string> told;
    for (const LayoutChoice& c : r.choices)
      if (c.taken != c.usual && told.insert(c.key).second) fmt::print("    {}: {} instead of {}\n", c.subject, c.taken, c.usual);
    if (told.empty()) fmt::print("    the heuristics' ways stay, programs measured: {}\n", r.measured);
    for (const std::string& problem : r.problems) fmt::print("    left out: {}\n", problem);
    std::fflush(stdout);
  }

  // The kernels whose rows are not taken after all, and the sum of what the kernels cost without these.
  void print(const std::vector<RowsLeftOut>& left_out) {
    progress_.clear();
    for (const RowsLeftOut& rows : left_out) fmt::print("{}: the heuristics' steps stay, {}\n", rows.name, rows.why);
    Sums sums;
    for (const OfKernel& k : kernels_)
      sums.add(k.before, std::ranges::find(left_out, k.name, &RowsLeftOut::name) == left_out.end() ? k.after : k.before);
    line("all kernels", sums);
  }

 private:
  struct OfKernel {
    std::string name;
    Cost before, after;
  };

  void line(const std::string& name, const Cost& before, const Cost& after) const {
    Sums sums;
    sums.add(before, after);
    line(name, sums);
  }

  void line(const std::string& name, const Sums& sums) const {
    fmt::print("{}\n", name);
    if (!is_timed_) fmt::print("    instructions {}\n", change_of(sums.instructions));
    if (has_cycles_) fmt::print("    {} {}\n", is_timed_ ? "cycles      " : "cycles, est.", change_of(sums.cycles));
    fmt::print("    code, bytes  {}\n", change_of(sums.code));
  }

  Progress& progress_;
  bool is_timed_, has_cycles_;
  std::vector<OfKernel> kernels_;
};

// What etch tune reads and writes. A row of FILE goes before one of other tables.
struct Tables {
  std::filesystem::path file;
  OptTable own, others;  // of FILE, and of the target and --tuning where those are other files
  OptTable all;          // both, with what was found: what has no row here takes what the heuristics say
  OptTable usual;        // what they say, as rows: for what other tables have rows that are worse

  FoundFor here;  // what new rows are for

  std::string text() const {
    OptTable result = all.above(others, usual, own);
    if (result.text() != own.text() && !here.compiler.empty()) result.add_found_for(here);
    return result.text();
  }
};

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code bad;
  return a == b || std::filesystem::equivalent(a, b, bad);
}

// Takes the tables out of the options, so that what is measured and what is searched has the rows that it is given alone.
Tables take_tables(CompileOptions& options, const std::filesystem::path& output) {
  Tables tables;
  tables.file = output.empty() ? options.target.tuning : output;
  if (tables.file.empty())
    throw UserError("target " + options.target.name, "its description names no table for what is found",
                    "name a file: -o FILE, for compile --tuning FILE");
  if (std::filesystem::exists(tables.file)) tables.own = OptTable::read(tables.file);
  for (std::filesystem::path* other : {&options.target.tuning, &options.tuning})
    if (is_same_file(*other, tables.file)) other->clear();
  read_tables(options);
  if (options.rows != nullptr) tables.others = *options.rows;
  tables.all = tables.others;
  tables.all.add(tables.own);
  return tables;
}

// The model where its values lie as the table says; kernels take the heuristics' steps.
Frontend frontend_of(CompileOptions& options, const OptTable& table) {
  options.rows = std::make_shared<const OptTable>(table.layouts_alone());
  return read_model(options);
}

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

// How programs are measured: here or by a launcher, with a cache or without.
class Measuring {
 public:
  /// Tells what is wrong with folders before anything is measured. Puts a step of its own into `options`, which must outlive this.
  Measuring(const TuneArgs& args, TuneOptions& options, Progress& progress) : progress_(progress) {
    const Target& target = options.compile.target;
    const std::filesystem::path cache = cache_folder(args.cache);
    if (args.launcher.empty()) {
      run_ = run_here(target, options.jobs, args.time_limit);
    } else {
      const std::filesystem::path usual = cache.empty() ? system_temp() : cache / "units";
      const std::filesystem::path shared = std::filesystem::absolute(args.shared.empty() ? usual : args.shared);
      run_ = run_by_launcher(target, {args.launcher, shared, std::filesystem::canonical("/proc/self/exe"), double(args.time_limit)});
    }
    if (!target.is_host()) options_.least_units = options.jobs;
    options_.run = [this](const std::vector<Unit>& units, const UnitDone& done) { run(units, done); };
    if (!cache.empty())
      options_.cache = std::make_shared<MeasureCache>(cache / "measured", tools_text(target), [this](const std::string& line) {
        progress_.clear();
        fmt::print(stderr, "etch: {}\n", line);
      });
    options.compile.step = [this, step = options.compile.step](std::string_view what, std::int64_t done, std::int64_t total) {
      doing_ = total > 0 ? fmt::format("{} ({} of {})", what, done + 1, total) : what;
      if (step) step(what, done, total);
    };
  }

  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;

  const MeasureOptions& options() const { return options_; }

  void print() const {
    if (options_.cache != nullptr) fmt::print("{} measured, {} known from before\n", options_.cache->kept(), options_.cache->found());
  }

 private:
  void run(const std::vector<Unit>& units, const UnitDone& done) {
    long count = 0;
    run_(units, [&](std::size_t unit, const UnitRun& result) {
      progress_.step(doing_ + ", programs", ++count, static_cast<long>(units.size()));
      done(unit, result);
    });
  }

  Progress& progress_;
  RunUnits run_;
  MeasureOptions options_;
  std::string doing_ = "measuring";
};

}  // namespace

int tune_command(const TuneArgs& args) {
  if (!args.optimize)
    throw CommandLineError("--no-optimize", "leaves no steps to search for, kernels are then as the AST says", "leave it out");
  Progress progress(false);
  TuneOptions options;
  options.compile = options_naming_tables(args, progress);
  const Target& target = options.compile.target;
  options.jobs = args.jobs > 0 ? args.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.width = args.width;
  options.most_rounds = args.rounds;
  options.by_model = args.cost == "model";
  options.only = args.kernels;
  Tables tables = take_tables(options.compile, args.output);
  Printer printer(progress, target);
  // What can't be read, tuned or written is told before anything is measured.
  Frontend frontend = frontend_of(options.compile, tables.all);
  require_tunable(frontend, options.compile);
  std::vector<Task> tasks;
  if (!args.kernels.empty()) require_known(args.kernels, tasks = tasks_of(frontend, options.compile));
  require_replaceable(tables.file, tables.text());
  if (const auto compiler = target_compiler(target)) tables.here = {target.name, std::filesystem::path(*compiler).filename().string()};
  Measuring measuring(args, options, progress);
  const MeasureProjects measure = [&](const std::vector<MeasuredProject>& projects) {
    return measure_projects(projects, measuring.options());
  };
  if (args.kernels.empty()) {
    const LayoutResult layouts = tune_layouts(options.compile, measure, tables.all, std::min(args.rounds, kLayoutRounds));
    tables.all = with_layouts(std::move(tables.all), layouts);
    tables.usual = usual_ways(layouts);
    printer.print(layouts);
    replace_file(tables.file, tables.text());
    frontend = frontend_of(options.compile, tables.all);
    tasks = tasks_of(frontend, options.compile);
  }
  options.found = [&](const Task& task, const SearchResult& result, const OptTable& table) {
    printer.print(task, result);
    tables.all = table;
    tables.usual.add(rows_of(task, result.before));
    replace_file(tables.file, tables.text());  // a search that is interrupted keeps what it found
  };
  const OptTable found = tune(tasks, options, measure_variants(target, language_of(target), measuring.options()), tables.all);
  std::vector<RowsLeftOut> left_out;
  tables.all = confirmed(options.compile, measure, tasks_found(tasks, args.kernels), found, left_out);
  printer.print(left_out);
  replace_file(tables.file, tables.text());
  fmt::print("{} rows in {}\n", tables.all.above(tables.others, tables.usual, tables.own).size(), tables.file.string());
  measuring.print();
  return 0;
}

int measure_command(const std::filesystem::path& unit) {
  measure_unit(unit);
  return 0;
}

}  // namespace etch
