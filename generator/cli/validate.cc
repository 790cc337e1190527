// etch validate: backends against the reference or expected outputs, the emitted project on its target, suites of models.
#include "validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/tempdir.h"
#include "cli/debug.h"
#include "cli/model_options.h"
#include "driver/train.h"
#include "emit/write.h"
#include "emulator/processor.h"
#include "validate/measure.h"
#include "validate/suite.h"
#include "validate/target_run.h"

namespace etch {
namespace {

struct Outcome {
  std::vector<BackendResult> backends;
  std::optional<TargetResult> target;
  std::optional<Report> report;
  std::optional<Fit> fit;
  std::string measured;       // name of the data set for which the target's figures were measured
  bool has_expected = false;  // some data set has expected outputs
  bool ok() const { return std::ranges::all_of(backends, &BackendResult::ok) && (!target || target->ok); }
};

// Names of a model and paths need not be UTF-8.
std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// JSON has no infinity: a difference that is not finite is null.
nlohmann::ordered_json finite(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void print_json(const Outcome& outcome) {
  nlohmann::ordered_json json{{"ok", outcome.ok()}, {"backends", nlohmann::ordered_json::array()}};
  for (const BackendResult& b : outcome.backends) {
    nlohmann::ordered_json row{{"name", b.name},
                               {"ok", b.ok},
                               {"max_abs", finite(b.comparison.max_abs)},
                               {"max_rel", finite(b.comparison.max_rel)},
                               {"seconds", b.seconds}};
    if (!b.ok) row["problem"] = b.problem;
    if (b.culprit) row["culprit"] = {{"call", b.culprit->call}, {"kernel", b.culprit->kernel}, {"nodes", b.culprit->nodes}};
    json["backends"].push_back(std::move(row));
  }
  if (outcome.target) {
    const TargetResult& t = *outcome.target;
    json["target"] = {{"name", t.name},
                      {"ok", t.ok},
                      {"data", outcome.measured},
                      {"instructions", or_null(t.instructions)},
                      {"loads", or_null(t.loads)},
                      {"stores", or_null(t.stores)},
                      {"taken_branches", or_null(t.taken_branches)},
                      {"cycles_estimated", or_null(outcome.report->cycles_estimated)},
                      {"arena_bytes", outcome.report->arena_bytes},
                      {"stack_bytes", or_null(t.stack_bytes)},
                      {"stack_bound_bytes", or_null(t.stack_bound_bytes)},
                      {"code_bytes", t.code_bytes},
                      {"weights_bytes", t.weights_bytes},
                      {"heap_symbols", t.heap_symbols},
                      {"soft_double_symbols", t.soft_double_symbols}};
    json["target"]["kernels"] = nlohmann::ordered_json::parse(to_json(*outcome.report))["kernels"];
    if (!t.ok) json["target"]["problem"] = t.problem;
  }
  if (outcome.fit) json["fit"] = nlohmann::ordered_json::parse(to_json(*outcome.fit));
  fmt::print("{}\n", json_text(json));
}

std::string count_text(const std::optional<std::int64_t>& value) { return value ? fmt::format("{}", *value) : "-"; }

// Why an output differs although no kernel is wrong by itself.
std::string explanation(const BackendResult& b, bool has_expected) {
  if (!b.comparison.beyond_rounding) return "every kernel agrees with its AST on its own inputs: the difference is accumulated rounding";
  if (has_expected)
    return "every kernel agrees with its AST on its own inputs, so every backend computes this, and the difference is too large for\n"
           "  rounding: the expected output is of another model or version, or an operator's import is wrong";
  return "every kernel agrees with its AST on its own inputs, and the difference is large: the model amplifies rounding";
}

void print_table(const Outcome& outcome) {
  fmt::print("{:<10} {:<6} {:>10} {:>10} {:>9} {:>9}\n", "backend", "", "max abs", "max rel", "max ulp", "seconds");
  for (const BackendResult& b : outcome.backends) {
    fmt::print("{:<10} {:<6} {:>10.3g} {:>10.3g} {:>9.3g} {:>9.3f}\n", b.name, b.ok ? "ok" : "WRONG", b.comparison.max_abs,
               b.comparison.max_rel, b.comparison.max_ulp, b.seconds);
    if (!b.ok) fmt::print("  {}\n", b.problem);
    if (b.culprit)
      fmt::print("  first wrong: {}\n", to_text(*b.culprit));
    else if (b.differs)
      fmt::print("  {}\n", explanation(b, outcome.has_expected));
  }
  if (outcome.fit && !outcome.target) fmt::print("{}", to_text(*outcome.fit));
  if (!outcome.target) return;
  const TargetResult& t = *outcome.target;
  fmt::print("\n{:<10} {:<6} by {}\n", t.name, t.ok ? "ok" : "WRONG", t.compiler);
  if (!t.ok) fmt::print("  {}\n", t.problem);
  fmt::print("  instructions {}, loads {}, stores {}  ({})\n", count_text(t.instructions), count_text(t.loads), count_text(t.stores),
             outcome.measured);
  if (outcome.report->cycles_estimated)
    fmt::print("  cycles, estimated: {}, {}\n", *outcome.report->cycles_estimated, outcome.report->cycles_rule);
  fmt::print("  arena {} bytes, stack {} (bound {}), code {}, weights {}\n", outcome.report->arena_bytes, count_text(t.stack_bytes),
             count_text(t.stack_bound_bytes), t.code_bytes, t.weights_bytes);
  if (!t.stack_bound_problem.empty()) fmt::print("  {}\n", t.stack_bound_problem);
  fmt::print("  heap in the link map: {}; double arithmetic: {}\n",
             t.heap_symbols.empty() ? "none" : fmt::format("{}", fmt::join(t.heap_symbols, ", ")),
             t.soft_double_symbols.empty() ? "none" : fmt::format("{}", fmt::join(t.soft_double_symbols, ", ")));
  fmt::print("{}", costs_text(outcome.report->kernels));
  if (outcome.fit) fmt::print("{}", to_text(*outcome.fit));
}

SelfTest selftest_of(const Program& program, const DataSet& set, const std::vector<Array>& outputs, const Tolerance& tolerance) {
  SelfTest test;
  test.inputs = set.inputs;
  test.expected = set.expected.empty() ? outputs : set.expected;
  test.runs = runs_on(program, set);
  test.variables = set.vars;
  test.relative = tolerance.relative;
  test.absolute = tolerance.absolute;
  return test;
}

// Without an emulator what is missing can be installed, which run_on_target tells; a processor stays as it is.
bool runs_on_target(const ValidateArgs& args, const Target& target, Progress& progress) {
  std::string why;
  if (!args.target_given || !target.is_host() || can_run_here(target, &why)) return args.target_given;
  progress.clear();
  fmt::print(stderr, "target {}: its program is not run: {}\n", target.name, why);
  return false;
}

// Emits the project with each set as its self-test and runs it on the target; the figures are those of the first set. Without
// a target only the first set's project is emitted, and kept.
void validate_target(const ValidateArgs& args, const Frontend& frontend, const Program& reference, const CompileOptions& options,
                     const std::vector<DataSet>& sets, const std::vector<std::vector<Array>>& outputs, Progress& progress,
                     Outcome& outcome) {
  const TempDir work("etch-validate");
  const std::filesystem::path dir = args.output.empty() ? work.path() / "project" : args.output;
  const bool runs = runs_on_target(args, options.target, progress);
  const std::size_t count = runs ? sets.size() : 1;
  for (std::size_t s = count; s-- > 0;) {  // backwards: the folder that is kept holds the first set
    progress.step((runs ? "compiling and running on " : "compiling for ") + options.target.name, static_cast<std::int64_t>(count - s),
                  static_cast<std::int64_t>(count));
    CompileOptions of_set = options;
    if (s > 0) of_set.measure = {};
    const CompiledProject project =
        compile_project(frontend, of_set, selftest_of(reference, sets[s], outputs[s], {args.relative, args.absolute}));
    WrittenProject written = write_audited(dir, project, of_set);
    outcome.report = std::move(written.report);
    outcome.fit = std::move(written.fit);
    if (!runs) break;
    TargetResult result = run_on_target(dir, options.target, frontend.model.name + "_" + frontend.role.function, options.step);
    if (!result.ok) result.problem = sets[s].name + ": " + result.problem;
    if (!outcome.target || outcome.target->ok || !result.ok) {
      const bool failed_before = outcome.target && !outcome.target->ok;
      if (!failed_before || !result.ok) {
        outcome.target = std::move(result);
        outcome.measured = sets[s].name;
      }
    }
  }
  if (outcome.target && outcome.target->ok) {
    Report& report = *outcome.report;
    add_costs(report, *outcome.target, options.target.cycles);
    write_into(dir, {{"report.json", to_json(report)}, {"report.txt", to_text(report)}});
  }
}

std::vector<DataSet> data_sets_of(const ValidateArgs& args, const ImportedModel& model) {
  if (!args.data.empty()) return read_data_sets(args.data, model);
  if (!args.inputs.empty()) return {data_set_of_files(model, args.inputs, {}, args.seed)};
  return random_data_sets(model, args.seed);
}

// With guards, so that a kernel that writes outside of its output is found too.
DeviceOptions guarded_options(const ValidateArgs& args, const Target& target, Progress& progress) {
  DeviceOptions options = device_options(args, target);
  options.debug = debug_options(args.debug, progress);
  options.guards = true;
  return options;
}

int validate_model(const ValidateArgs& args) {
  Progress progress(args.json);
  CompileOptions options = compile_options(args, progress);
  if (args.measure) options.measure = measure_with_compiler(options.target);
  const DeviceOptions on_host = guarded_options(args, options.target, progress);
  const auto devices = devices_named(args.backends, on_host);
  if (!args.data.empty()) options.import.examples = shapes_in_data_sets(args.data);
  const Frontend frontend = args.train.empty() ? read_model(options) : read_step(options, train_options(args.train, args.train_last));
  const std::vector<DataSet> sets = data_sets_of(args, frontend.model);
  // Stages are printed once, of the program that compile would emit.
  CompileOptions quiet = options;
  quiet.dump = {};
  if (!args.dump.empty()) {
    CompileOptions dumped = options;
    dumped.selftest = false;
    dumped.measure = {};
    compile_project(frontend, dumped);
  }
  const auto interp = make_reference_device(on_host);
  const Program reference = lower_model(frontend, nullptr, quiet);
  const bool expected = std::ranges::all_of(sets, [](const DataSet& s) { return !s.expected.empty(); });
  std::vector<std::vector<Array>> outputs(sets.size());
  progress.step("running the reference", 0, 0);
  if (!expected) outputs = reference_outputs(reference, *interp, sets);
  Outcome outcome;
  outcome.has_expected = expected;
  for (const auto& device : devices) {
    progress.step("validating on " + device->name(), 0, 0);
    const Program program = device->language() == nullptr ? reference : lower_model(frontend, device->language(), quiet);
    outcome.backends.push_back(validate_backend(program, reference, *device, sets, outputs, {args.relative, args.absolute}));
  }
  if (args.target_given || !args.output.empty()) validate_target(args, frontend, reference, quiet, sets, outputs, progress, outcome);
  progress.clear();
  if (args.json)
    print_json(outcome);
  else
    print_table(outcome);
  return outcome.ok() ? 0 : 1;
}

void print_json(const SuiteResult& result) {
  nlohmann::ordered_json json{{"ok", result.failed == 0},
                              {"passed", result.passed},
                              {"failed", result.failed},
                              {"skipped", result.skipped},
                              {"cases", nlohmann::ordered_json::array()}};
  for (const SuiteCase& c : result.cases) {
    const bool passed = c.verdict == SuiteCase::Verdict::Passed, failed = c.verdict == SuiteCase::Verdict::Failed;
    nlohmann::ordered_json row{{"name", c.name}, {"verdict", passed ? "passed" : failed ? "failed" : "skipped"}};
    if (!passed) row["text"] = c.text;
    if (!c.error.empty()) row["error"] = c.error;
    json["cases"].push_back(std::move(row));
  }
  fmt::print("{}\n", json_text(json));
}

int validate_suite(const ValidateArgs& args) {
  Progress progress(args.json);
  CompileOptions options = compile_options(args, progress);
  const auto devices = devices_named(args.backends, guarded_options(args, options.target, progress));
  const SuiteResult result = run_suite(args.suite, devices, options, {args.relative, args.absolute});
  progress.clear();
  if (args.json) {
    print_json(result);
    return result.failed == 0 ? 0 : 1;
  }
  fmt::print("{}", to_text(result));
  fmt::print("{} passed, {} failed, {} skipped\n", result.passed, result.failed, result.skipped);
  return result.failed == 0 ? 0 : 1;
}

}  // namespace

// With --json an error is printed as JSON too.
int validate_command(const ValidateArgs& args) {
  try {
    return args.suite.empty() ? validate_model(args) : validate_suite(args);
  } catch (const std::exception& error) {
    if (args.json) fmt::print("{}\n", json_text({{"ok", false}, {"error", error.what()}}));
    throw;
  }
}

}  // namespace etch
