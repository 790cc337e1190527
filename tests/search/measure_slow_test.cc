// The search by what kernels cost in an emulator, or on this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/tempdir.h"
#include "driver/selftest.h"
#include "emit/emit.h"
#include "emit/write.h"
#include "memory/plan.h"
#include "quant/convs.h"
#include "search/beam.h"
#include "search/judge.h"
#include "search/measure.h"
#include "search/timer.h"
#include "support/boards.h"
#include "support/instructions.h"
#include "support/searched.h"
#include "validate/target_run.h"

namespace etch {
namespace {

using test::task_of;
using test::convs::Ints;

CodegenOptions m4() { return codegen_options(test::target_named("cortex-m4f"), kC); }

TEST(MeasuredSearch, in_the_emulator_it_finds_no_less_than_the_heuristics_have_and_the_same_each_time) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  const Task task = task_of(ops, {.in = 8, .out = 2, .height = 2, .width = 3, .kernel = 1}, m4());
  const MeasureVariants measure = measure_variants(target, kC, {run_here(target, 2, 300)});
  const SearchOptions options{.language = &kC, .width = 1, .most_rounds = 1};
  const SearchResult result = search_opts(task, measure, options), again = search_opts(task, measure, options);
  EXPECT_TRUE(result.problems.empty()) << result.problems[0];
  EXPECT_GT(result.measured, 10);
  EXPECT_GT(result.cost_before.instructions, 0);
  EXPECT_LE(result.cost.instructions, result.cost_before.instructions);
  EXPECT_LE(result.cost.cycles, result.cost_before.cycles);
  EXPECT_EQ(again.best, result.best);
  EXPECT_EQ(again.cost, result.cost);
}

// Kernels for two convolutions, by two lists of steps.
struct TwoVariants {
  TwoVariants(LazyOps& ops, CodegenOptions options, std::initializer_list<const char*> lists)
      : task(task_of(ops, {.in = 8, .out = 4, .height = 2, .width = 3, .kernel = 1}, options)) {
    task.subjects.push_back(task_of(ops, {.in = 8, .out = 8, .height = 4, .width = 3, .kernel = 1}, options).subjects[0]);
    for (const char* steps : lists) {
      Variant v{*opts_of(steps), {}};
      for (const Subject& s : task.subjects) {
        CodegenOptions with = s.options;
        with.opts = v.opts;
        const std::string name = "t" + std::to_string(variants.size()) + "_" + std::to_string(v.kernels.size());
        v.kernels.push_back(generate_kernel(s.ast, {name, s.arguments, {}}, kC, with));
      }
      variants.push_back(std::move(v));
    }
  }

  void expect_right(const Measured& m) const {
    ASSERT_EQ(m.outputs.size(), 2u) << m.problem;
    for (std::size_t s = 0; s < 2; s++) EXPECT_EQ(m.outputs[s], printed_of(task.subjects[s].data[0]));
  }

  Task task;
  std::vector<Variant> variants;
};

// A depthwise convolution of floats with what it computes in double.
Task float_task(LazyOps& ops, const CodegenOptions& options) {
  const test::Conv conv{.groups = 4, .height = 6, .width = 8, .kernel = 5, .pad = 2};
  const LazyOp* store = test::conv_store(ops, conv, DType::Float32, DType::Float32);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<double> x(192), w(100);
  for (double& v : x) v = any(random);
  for (double& v : w) v = any(random);
  const std::vector<double> y = test::conv_loops(conv, x, w);
  Subject subject{store, test::signature_of("k", store, {192, 192, 100}, {false, false, true}).arguments, {}, options};
  for (const std::vector<double>& values : {y, x, w})
    subject.data.push_back(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(values.size())}, values));
  return {"conv", {subject}, false, {}};
}

// The checksums that the program prints are those of plain loops, also of kernels that are one function.
TEST(MeasuredSearch, the_emulated_program_computes_what_plain_loops_compute) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  CodegenOptions options = m4();
  options.small_code = true;
  TwoVariants two(ops, options, {"TC 0 0", "TC 0 0, UPCAST 0 2"});
  two.task.share = true;
  EXPECT_EQ(program_of(two.task, two.variants, kC).kernels.size(), 2u);
  for (const Measured& m : measure_variants(target, kC, {run_here(target, 2, 300)})(two.task, two.variants)) {
    EXPECT_TRUE(m.cost && m.cost->instructions > 0 && m.cost->code_bytes > 0) << m.problem;
    two.expect_right(m);
  }
}

/// What runs on this machine has a time instead of instructions. The build needs the compiler, so it is there.
class TimedHere : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(test::missing_compiler_line(target), ""); }
  const Target target = test::target_named("host");
};

TEST_F(TimedHere, each_kernel_is_timed) {
  LazyOps ops;
  const TwoVariants two(ops, codegen_options(target, kC), {"", "UPCAST 0 2"});
  const std::vector<Measured> measured = measure_variants(target, kC, {run_here(target, 2, 300)})(two.task, two.variants);
  ASSERT_EQ(measured.size(), 2u);
  for (const Measured& m : measured) {
    EXPECT_TRUE(m.cost && m.cost->cycles > 0 && is_timed(*m.cost) && m.cost->code_bytes > 0) << m.problem;
    two.expect_right(m);
  }
}

void begin_with(std::string& text, const std::string& statements) { text.insert(text.find("{\n") + 2, statements); }

constexpr const char* kStoresNowhere = "  int *volatile nowhere = 0;\n  *nowhere = 1;\n";
constexpr const char* kNeverEnds = "  for (volatile int wait = 1; wait;) {\n  }\n";

// What is in one program with a kernel that does so is measured without it.
void expect_others_measured(const Target& target, const char* does, const std::string& problem, double limit_s) {
  LazyOps ops;
  TwoVariants three(ops, codegen_options(target, kC), {"", "UPCAST 0 2", "UPCAST 0 4"});
  begin_with(three.variants[1].kernels[0].text.source, does);
  const std::vector<Measured> measured = measure_variants(target, kC, {run_here(target, 2, limit_s)})(three.task, three.variants);
  ASSERT_EQ(measured.size(), 3u);
  for (const std::size_t right : {0, 2}) {
    EXPECT_TRUE(measured[right].cost) << measured[right].problem;
    three.expect_right(measured[right]);
  }
  EXPECT_FALSE(measured[1].cost);
  EXPECT_NE(measured[1].problem.find(problem), std::string::npos) << measured[1].problem;
  EXPECT_TRUE(measured[1].was_stopped);
}

TEST_F(TimedHere, a_kernel_that_ends_by_a_signal_costs_no_other_one) {
  expect_others_measured(target, kStoresNowhere, "killed by signal 11", 60);
}

TEST_F(TimedHere, a_kernel_that_never_ends_costs_no_other_one) { expect_others_measured(target, kNeverEnds, "was stopped after 20 s", 20); }

TEST(MeasuredSearch, a_kernel_that_ends_by_a_signal_in_the_emulator_costs_no_other_one) {
  const Target target = test::board_target("cortex-a53");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  expect_others_measured(target, kStoresNowhere, "killed by signal 11", 60);
}

TEST(MeasuredSearch, a_kernel_that_ends_by_a_signal_is_named_and_the_search_goes_on) {
  const Target target = test::board_target("cortex-a53");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  CodegenOptions options = codegen_options(target, kC);
  options.vector_bits = 0;  // there are fewer ways without vectors
  const Task task = task_of(ops, {.in = 8, .out = 2, .height = 2, .width = 3, .kernel = 1}, options);
  const MeasureVariants measure = measure_variants(target, kC, {.run = run_here(target, 2, 60), .least_units = 8});
  std::string steps;
  std::size_t others = 0;
  const MeasureVariants with_one_that_dies = [&](const Task& t, std::vector<Variant> variants) {
    others += variants.size();
    if (steps.empty() && variants.size() > 1) {
      others--;
      steps = to_text(variants[1].opts);
      begin_with(variants[1].kernels[0].text.source, kStoresNowhere);
    }
    return measure(t, variants);
  };
  const SearchResult result = search_opts(task, with_one_that_dies, {.language = &kC, .width = 1, .most_rounds = 1});
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_EQ(result.problems[0].find(steps + ": "), 0u) << result.problems[0];
  EXPECT_NE(result.problems[0].find("killed by signal 11"), std::string::npos) << result.problems[0];
  EXPECT_EQ(result.measured, static_cast<int>(others));
  EXPECT_GT(result.measured, 3);
}

// Notes each run of a kernel, by a line with the process, in a file that is named first; then it waits for so many turns of a loop.
constexpr const char* kNotes = R"(
  extern void *fopen(const char *name, const char *mode);
  extern int fprintf(void *file, const char *format, ...), fclose(void *file), getpid(void);
  void *const runs = fopen("{}", "a");
  fprintf(runs, "%d\n", getpid());
  fclose(runs);
  for (volatile int wait = 0; wait < {}; wait++) {{
  }}
)";

void note_runs(std::string& text, const std::string& file, int wait) { begin_with(text, fmt::format(kNotes, file, wait)); }

std::vector<int> noted(const std::filesystem::path& file) {
  std::istringstream lines(read_file(file));
  return {std::istream_iterator<int>(lines), {}};
}

// What takes far longer than another way runs once, for the self-test, and a second process takes its time from the first one.
TEST_F(TimedHere, slow_kernels_are_timed_once) {
  LazyOps ops;
  TwoVariants two(ops, codegen_options(target, kC), {"", "UPCAST 0 2"});
  for (std::size_t v = 0; v < 2; v++)
    for (std::size_t s = 0; s < 2; s++)
      note_runs(two.variants[v].kernels[s].text.source, fmt::format("runs_{}_{}", v, s), v == 1 ? 100'000'000 : 0);
  EmitOptions emitting;
  emitting.name = "trial";
  emitting.selftest.emplace();
  for (const Subject& s : two.task.subjects) emitting.selftest->inputs.push_back(s.data[1]);
  const Program program = program_of(two.task, two.variants, kC);
  const TempDir work("etch-timed");
  write_into(work.path() / "project", emit(program, plan_memory(program), emitting));
  const CrossBuild build = build_project(work.path() / "project", target, work.path() / "build", timed_build(work.path(), 2, 1 << 20));
  const auto runs = [&](int v, int s) { return noted(work.path() / "project" / fmt::format("runs_{}_{}", v, s)).size(); };
  const Timed once = run_timed(build, work.path() / "project", 60);
  const std::vector<double>& first = once.cycles;
  for (int s : {0, 1}) EXPECT_EQ(runs(1, s), 1u);
  for (int s : {0, 1}) EXPECT_GT(runs(0, s), 4u);
  const Timed twice = run_timed(build, work.path() / "project", 60);
  const std::vector<double>& second = twice.cycles;
  for (int s : {0, 1}) EXPECT_EQ(runs(1, s), 1u);
  EXPECT_NE(once.console, "");
  EXPECT_EQ(twice.console, "") << "the self-test has run already";
  EXPECT_EQ(twice.exit_code, 0);
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(second.size(), 4u);
  for (std::size_t fast : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_GT(first[fast], 0);
    EXPECT_GT(first[fast + 2], 10 * first[fast]) << "the other way to compute the same";
    EXPECT_EQ(second[fast + 2], first[fast + 2]);
  }
  const std::size_t runs_of_0 = runs(0, 0), runs_of_1 = runs(0, 1);
  const std::vector<double> third = run_timed(build, work.path() / "project", 60, std::vector<double>{second[0] / 2, second[1]}).cycles;
  ASSERT_EQ(third.size(), 4u);
  EXPECT_EQ(third[0], second[0]);
  EXPECT_EQ(runs(0, 0), runs_of_0) << "elsewhere it takes half of that";
  EXPECT_GT(runs(0, 1), runs_of_1);
}

// Of a program of a way that is far off in another one nothing is timed again; the best is in three processes, and one for the self-test.
TEST_F(TimedHere, programs_are_beside_each_other) {
  LazyOps ops;
  TwoVariants two(ops, codegen_options(target, kC), {"", "UPCAST 0 2"});
  const TempDir work("etch-noted");
  for (std::size_t v = 0; v < 2; v++)
    for (std::size_t s = 0; s < 2; s++)
      note_runs(two.variants[v].kernels[s].text.source, (work.path() / fmt::format("{}{}", v, s)).string(), v == 1 ? 2'000'000 : 0);
  const std::vector<Measured> measured =
      measure_variants(target, kC, {.run = run_here(target, 2, 300), .least_units = 2})(two.task, two.variants);
  ASSERT_EQ(measured.size(), 2u);
  for (const Measured& m : measured) two.expect_right(m);
  const auto processes = [&](const char* file) {
    const std::vector<int> runs = noted(work.path() / file);
    return std::set<int>(runs.begin(), runs.end()).size();
  };
  for (const char* best : {"00", "01"}) EXPECT_EQ(processes(best), 4u);
  for (const char* far_off : {"10", "11"}) EXPECT_EQ(processes(far_off), 2u);
}

// Steps that unroll the 25 products of a float, or sum them for several pixels at once, round otherwise: that is told from another result,
// here and in an emulator.
TEST(MeasuredSearch, sums_of_floats_in_another_order_are_the_same) {
  for (const char* name : {"host", "cortex-m4f"}) {
    const Target target = test::board_target(name);
    if (!(target.is_host() ? test::missing_compiler_line(target) : test::missing_tools(target)).empty()) continue;
    LazyOps ops;
    const Task task = float_task(ops, codegen_options(target, kC));
    const MeasureVariants measure = measure_variants(target, kC, {run_here(target, 2, 300)});
    std::vector<Measured> all;
    const MeasureVariants watched = [&](const Task& t, const std::vector<Variant>& variants) {
      const std::vector<Measured> measured = measure(t, variants);
      all.insert(all.end(), measured.begin(), measured.end());
      return measured;
    };
    const SearchResult result = search_opts(task, watched, {.language = &kC, .width = 4, .most_rounds = 2});
    EXPECT_EQ(result.other_floats, 0) << name;
    EXPECT_GT(result.measured, 10) << name;
    EXPECT_TRUE(result.problems.empty()) << result.problems[0];
    const std::vector<PrintedOutput> usual = all.at(0).outputs;
    std::erase_if(all, [&](const Measured& m) { return !m.cost || m.outputs == usual; });
    EXPECT_FALSE(all.empty()) << name << ": nothing is tested, all bits are the same";
    // Compared with another reference each of them is wrong in one element, as is the heuristics' kernel.
    Task other = task;
    std::vector<double> wanted = other.subjects[0].data[0].doubles();
    wanted[5] += 1;
    other.subjects[0].data[0] = Array::of_doubles(DType::Float32, {192}, wanted);
    for (const Measured& m : all) EXPECT_EQ(Judge(other, usual).verdict(m.outputs), Verdict::OtherFloats) << name;
  }
}

// Sums would be rounded as coarsely as what they are of.
TEST(MeasuredSearch, no_sums_are_printed_where_double_is_float) {
  const Target target = test::board_target("avr");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  const Task task = float_task(ops, codegen_options(target, kC));
  const Variant variant{{}, {generate_kernel(task.subjects[0].ast, {"t_0", task.subjects[0].arguments, {}}, kC, task.subjects[0].options)}};
  const Measured measured = measure_variants(target, kC, {run_here(target, 1, 300)})(task, {variant}).at(0);
  ASSERT_EQ(measured.outputs.size(), 1u) << measured.problem;
  EXPECT_NE(measured.outputs[0].checksum, 0u);
  EXPECT_TRUE(measured.outputs[0].sums.empty());
}

// A whole program costs what its run function is counted at, and one with a wrong result costs nothing that is believed.
TEST(MeasuredSearch, whole_programs_cost_what_a_run_of_them_takes) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  std::mt19937 rng(1);
  const test::convs::Net net = test::convs::net_of(test::convs::chain({test::convs::random_conv(rng, 2, 8, 5, 3)}), "cortex-m4f");
  SelfTest right = generated_selftest(net.frontend, net.options), wrong = right;
  Ints values = right.expected[0].ints();
  values[3] ^= 1;
  wrong.expected[0] = Array::of_ints(DType::Int8, right.expected[0].shape(), values);
  std::vector<MeasuredProject> projects;
  for (const SelfTest& test : {right, wrong, right})
    projects.push_back({compile_project(net.frontend, net.options, test).files, "net_run"});
  const std::vector<Measured> measured = measure_projects(projects, {run_here(target, 2, 300)});
  ASSERT_EQ(measured.size(), 3u);
  ASSERT_TRUE(measured[0].cost) << measured[0].problem;
  EXPECT_EQ(measured[0].cost, measured[2].cost);
  EXPECT_FALSE(measured[1].cost);
  EXPECT_NE(measured[1].problem.find("self-test"), std::string::npos) << measured[1].problem;
  const TempDir work("etch-measured");
  write_into(work.path(), projects[0].files);
  const TargetResult run = run_on_target(work.path(), target, "net_run");
  EXPECT_EQ(measured[0].cost->instructions, run.instructions);
  EXPECT_EQ(measured[0].cost->stack_bytes, run.stack_bytes);
  EXPECT_EQ(measured[0].cost->code_bytes, run.code_bytes + run.weights_bytes);
}

// The time is that of other runs than the self-test's: states, and results over inputs, are as that wants them.
TEST_F(TimedHere, whole_programs_are_timed) {
  std::mt19937 rng(1);
  test::convs::Net net = test::convs::net_of(test::convs::chain({test::convs::random_conv(rng, 4, 4, 5, 3, 4)}), "host", true, true, true);
  SelfTest right = generated_selftest(net.frontend, net.options), wrong = right;
  Ints values = right.expected[0].ints();
  values[3] ^= 1;
  wrong.expected[0] = Array::of_ints(DType::Int8, right.expected[0].shape(), values);
  std::vector<MeasuredProject> projects;
  for (const SelfTest& test : {right, wrong}) projects.push_back({compile_project(net.frontend, net.options, test).files, "net_run"});
  const std::vector<Measured> measured = measure_projects(projects, {run_here(target, 2, 300)});
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_TRUE(measured[0].cost && is_timed(*measured[0].cost) && measured[0].cost->code_bytes > 0) << measured[0].problem;
  EXPECT_FALSE(measured[1].cost);
}

// What fails is known after its first run, what is right after its last one, while others are still timed: a search that is interrupted
// then has these results.
TEST_F(TimedHere, results_are_handed_over_as_they_come) {
  std::mt19937 rng(1);
  const test::convs::Net net = test::convs::net_of(test::convs::chain({test::convs::random_conv(rng, 4, 4, 5, 3, 4)}), "host");
  SelfTest right = generated_selftest(net.frontend, net.options), wrong = right;
  Ints values = right.expected[0].ints();
  values[3] ^= 1;
  wrong.expected[0] = Array::of_ints(DType::Int8, right.expected[0].shape(), values);
  const TempDir work("etch-noted");
  std::vector<std::vector<EmittedFile>> projects;
  for (const SelfTest& test : {right, wrong, right}) {
    projects.push_back(compile_project(net.frontend, net.options, test).files);
    std::string& text = std::ranges::find(projects.back(), "net.c", &EmittedFile::name)->text;
    const std::size_t run = text.find("net_run(");
    std::string body = text.substr(run);
    note_runs(body, (work.path() / std::to_string(projects.size() - 1)).string(), 0);
    text = text.substr(0, run) + body;
  }
  std::vector<Unit> units;
  for (const auto& files : projects) units.push_back({.files = files, .functions = {"net_run"}, .is_whole = true});
  const auto processes = [&](int project) {
    const std::vector<int> runs = noted(work.path() / std::to_string(project));
    return std::set<int>(runs.begin(), runs.end()).size();
  };
  std::vector<std::vector<std::size_t>> seen;  // the unit, and in how many processes the first and the last one had run by then
  run_here(target, 2, 60)(units, [&](std::size_t unit, const UnitRun& run) {
    EXPECT_EQ(run.problem.empty(), unit != 1) << run.problem;
    seen.push_back({unit, processes(0), unit == 1 ? 0 : processes(2)});
  });
  EXPECT_EQ(seen, (std::vector<std::vector<std::size_t>>{{1, 1, 0}, {0, 3, 2}, {2, 3, 3}}));
}

}  // namespace
}  // namespace etch
