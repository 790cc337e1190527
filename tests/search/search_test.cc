// The search: which lists it tries, that it finds what trying everything finds, and that it believes no wrong result.
#include <gtest/gtest.h>

#include <set>

#include "search/beam.h"
#include "search/candidates.h"
#include "search/steps.h"
#include "support/instructions.h"
#include "support/kernel_replay.h"
#include "support/random_windows.h"
#include "support/searched.h"

namespace etch {
namespace {

using test::task_of;
using Opts = std::vector<Opt>;

CodegenOptions m4() { return codegen_options(test::target_named("cortex-m4f"), kC); }

// The number of UOps as the cost: a model that needs no emulator.
std::vector<Measured> by_steps(const Task&, const std::vector<Variant>& variants) {
  std::vector<Measured> result;
  for (const Variant& v : variants) {
    const auto steps = steps_executed(v.kernels[0].code);
    const auto cost = static_cast<std::int64_t>(steps.value_or(1e9));
    result.push_back({Cost{cost, cost, 0, 0}, "", {}});
  }
  return result;
}

TEST(Search, neighbours_are_legal_new_and_the_same_each_time) {
  LazyOps ops;
  const Task task = task_of(ops, {.in = 8, .out = 8, .height = 6, .width = 6, .kernel = 3, .pad = 1}, m4());
  const LazyOp* ast = task.subjects[0].ast;
  const CodegenOptions options = m4();
  for (const char* from : {"", "TC 0 0, UPCAST 0 4, OVERLAP 0 4", "UPCAST 0 4, INTERIOR"}) {
    const Opts opts = *opts_of(from);
    const std::vector<Opts> found = neighbours(ast, options, opts);
    std::set<std::string> texts{from};
    for (const Opts& other : found) {
      Kernel kernel(ast, options);
      for (const Opt& opt : other) EXPECT_TRUE(kernel.try_apply(opt)) << to_text(other);
      EXPECT_TRUE(texts.insert(to_text(other)).second) << to_text(other);
      EXPECT_LE(other.size(), opts.size() + 1);
    }
    EXPECT_GT(found.size(), 10u) << from;
    EXPECT_EQ(neighbours(ast, options, opts), found);
  }
}

// The turns of a border's loops depend on which border it is.
TEST(Search, steps_are_counted_as_they_run) {
  LazyOps ops;
  int interiors = 0, exact = 0;
  for (const test::Conv& conv : {test::Conv{.in = 4, .out = 32, .height = 12, .width = 14, .kernel = 3, .pad = 1},
                                 test::Conv{.groups = 8, .in = 2, .height = 8, .width = 8, .kernel = 5, .pad = 2}}) {
    const Task task = task_of(ops, conv, m4());
    for (const char* steps : {"", "INTERIOR", "UNROLL 1 0, UNROLL 1 0", "UNROLL 1 0, UNROLL 1 0, INTERIOR", "UPCAST 1 2, INTERIOR",
                              "UNROLL 1 0, UNROLL 1 0, UPCAST 2 2, UPCAST 1 2, INTERIOR", "UNROLL 1 0, UNROLL 1 0, OUTERMOST 1"}) {
      CodegenOptions with = m4();
      with.opts = *opts_of(steps);
      const Subject& s = task.subjects[0];
      const ProgramKernel kernel = generate_kernel(s.ast, {"k", s.arguments, {}}, kC, with);
      const test::KernelReplay replay(kernel.code, kernel.arguments);
      const std::optional<double> counted = steps_executed(kernel.code);
      ASSERT_TRUE(counted) << steps;
      EXPECT_GE(*counted, static_cast<double>(replay.executed())) << steps;
      if (replay.passed() > 0) continue;
      EXPECT_EQ(*counted, static_cast<double>(replay.executed())) << steps;
      exact++;
      interiors += std::string_view(steps).ends_with("INTERIOR") ? 1 : 0;
    }
  }
  EXPECT_GT(exact, 6);
  EXPECT_GT(interiors, 2);
}

// A tile of vectors of the same size with other sides, also sides that don't divide their axes.
TEST(Search, both_sides_of_a_tile_change_at_once) {
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 128;
  options.float_registers = 32;
  const test::windows::LaidWindow w{.channels = 4, .outputs = 32, .height = 1, .width = 28, .in_last = true, .out_last = true};
  const LazyOp* ast = test::windows::store_of(ops, w, DType::Float32);
  std::set<std::string> found;
  for (const Opts& other : neighbours(ast, options, *opts_of("VECTOR 0 4, UPCAST 1 4, UPCAST 0 4"))) found.insert(to_text(other));
  for (const char* wanted :
       {"VECTOR 0 4, UPCAST 1 14, UPCAST 0 2", "VECTOR 0 4, UPCAST 1 2, UPCAST 0 8", "VECTOR 0 4, OVERLAP 1 12, UPCAST 0 2"})
    EXPECT_TRUE(found.contains(wanted)) << wanted;
  EXPECT_FALSE(found.contains("VECTOR 0 4, UPCAST 1 28, UPCAST 0 8")) << "more than twice the registers";
  EXPECT_TRUE(found.contains("VECTOR 0 4, UPCAST 1 7, UPCAST 0 4"));
  EXPECT_FALSE(found.contains("VECTOR 0 4, UPCAST 1 14, UPCAST 0 4")) << "56 vectors of sums in 32 registers";
}

// Of windows that roll a change of another step mostly leaves none: the list without ROLL is where changes begin, too.
TEST(Search, lists_that_roll_lead_to_others) {
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 128;
  options.float_registers = 32;
  const test::windows::LaidWindow w{.channels = 4, .height = 8, .width = 12, .kernel = 3, .pad = 1, .depthwise = true};
  const LazyOp* ast = test::windows::store_of(ops, w, DType::Float32);
  const Opts rolling = *opts_of("VECTOR 2 4, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, ROLL");
  std::set<std::string> found{to_text(rolling)};
  for (const Opts& other : neighbours(ast, options, rolling)) {
    Kernel kernel(ast, options);
    for (const Opt& opt : other) EXPECT_TRUE(kernel.try_apply(opt)) << to_text(other);
    EXPECT_TRUE(found.insert(to_text(other)).second) << to_text(other);
  }
  for (const char* wanted :
       {"VECTOR 2 4, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0", "VECTOR 2 4, UNROLL 0 0, UNROLL 0 0",
        "VECTOR 2 4, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, INTERIOR", "UPCAST 0 2, VECTOR 2 4, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, ROLL"})
    EXPECT_TRUE(found.contains(wanted)) << wanted;
}

// All lists of up to two steps are tried by hand; a third may still be better.
TEST(Search, finds_what_trying_everything_finds) {
  LazyOps ops;
  CodegenOptions options = m4();
  options.instructions.clear();
  for (const test::Conv& conv : {test::Conv{.in = 4, .out = 4, .height = 2, .width = 3, .kernel = 1},
                                 test::Conv{.groups = 2, .height = 4, .width = 4, .kernel = 3}}) {
    const Task task = task_of(ops, conv, options);
    double best = 1e18;
    const auto cost_of = [&](const Opts& opts) {
      CodegenOptions with = options;
      with.opts = opts;
      const KernelSignature signature{"k", task.subjects[0].arguments, {}};
      return steps_executed(generate_kernel(task.subjects[0].ast, signature, kC, with).code).value_or(1e18);
    };
    for (const Opts& one : neighbours(task.subjects[0].ast, options, {}))
      for (const Opts& two : neighbours(task.subjects[0].ast, options, one)) best = std::min(best, cost_of(two));
    const SearchResult result = search_opts(task, by_steps, {.language = &kC});
    EXPECT_LE(static_cast<double>(result.cost.instructions), best);
    EXPECT_LT(result.cost.instructions, result.cost_before.instructions);
    EXPECT_EQ(static_cast<double>(result.cost.instructions), cost_of(result.best));
    const SearchResult again = search_opts(task, by_steps, {.language = &kC});
    EXPECT_EQ(again.best, result.best);
  }
}

TEST(Search, each_round_tells_the_best_so_far) {
  LazyOps ops;
  const Task task = task_of(ops, {.in = 4, .out = 8, .height = 4, .width = 4, .kernel = 1}, m4());
  SearchOptions options{.language = &kC};
  std::vector<std::pair<int, double>> told;
  options.step = [&](int measured, double ratio) { told.emplace_back(measured, ratio); };
  const SearchResult result = search_opts(task, by_steps, options);
  ASSERT_GT(told.size(), 2u);
  EXPECT_EQ(told.front(), (std::pair{1, 1.0})) << "the heuristics' list";
  for (std::size_t i = 1; i < told.size(); i++) {
    EXPECT_GE(told[i].first, told[i - 1].first);
    EXPECT_LE(told[i].second, told[i - 1].second);
  }
  EXPECT_EQ(told.back().first, result.measured);
  EXPECT_DOUBLE_EQ(told.back().second, time_of(result.cost) / time_of(result.cost_before));
}

TEST(Search, what_computes_something_else_is_named_and_never_chosen) {
  LazyOps ops;
  const Task task = task_of(ops, {.in = 4, .out = 8, .height = 4, .width = 4, .kernel = 1}, m4());
  const PrintedOutput right = printed_of(task.subjects[0].data[0]), wrong{right.checksum + 1};
  const Opts heuristics = choose_opts(task.subjects[0].ast, task.subjects[0].arguments, m4()).applied();
  // Everything but the heuristics' list is cheap and wrong.
  const MeasureVariants measure = [&](const Task&, const std::vector<Variant>& variants) {
    std::vector<Measured> result;
    for (const Variant& v : variants)
      result.push_back(v.opts == heuristics ? Measured{Cost{100, 100, 0, 0}, "", {right}} : Measured{Cost{1, 1, 0, 0}, "", {wrong}});
    return result;
  };
  const SearchResult result = search_opts(task, measure, {.language = &kC});
  EXPECT_EQ(result.best, heuristics);
  EXPECT_EQ(result.cost, result.cost_before);
  ASSERT_FALSE(result.problems.empty());
  EXPECT_TRUE(result.problems[0].ends_with(": computes something else")) << result.problems[0];
}

// Floats of the heuristics' kernel and of all others, which cost less.
SearchResult found_with_floats(const std::vector<double>& reference, const std::vector<double>& usual, const std::vector<double>& other) {
  LazyOps ops;
  const auto array = [](const std::vector<double>& values) { return Array::of_doubles(DType::Float32, {128}, values); };
  const LazyOp* store = test::conv_store(ops, {.in = 4, .out = 8, .height = 4, .width = 4, .kernel = 1}, DType::Float32, DType::Float32);
  const Subject subject{store, test::signature_of("k", store, {128, 64, 32}, {false, false, true}).arguments, {array(reference)}, m4()};
  const Task task{"conv", {subject}, false, {}};
  const Opts heuristics = choose_opts(store, subject.arguments, m4()).applied();
  const MeasureVariants measure = [&](const Task&, const std::vector<Variant>& variants) {
    std::vector<Measured> result;
    for (const Variant& v : variants) {
      const bool is_usual = v.opts == heuristics;
      result.push_back({Cost{is_usual ? 100 : 1, 1, 0, 0}, "", {printed_of(array(is_usual ? usual : other))}});
    }
    return result;
  };
  const SearchResult result = search_opts(task, measure, {.language = &kC, .most_rounds = 1});
  EXPECT_EQ(result.before, heuristics);
  EXPECT_TRUE(result.problems.empty()) << result.problems[0];
  return result;
}

// All numbers of magnitude 1 to 2, where half a unit in the last place is 2^-24.
TEST(Search, variants_whose_floats_are_rounded_otherwise_are_chosen_and_those_with_other_floats_counted) {
  std::vector<double> reference, up, down, wrong;
  for (int i = 0; i < 128; i++) {
    reference.push_back((i % 3 == 0 ? -1 : 1) * (1 + i / 128.0));
    up.push_back(reference.back() + (i % 2 == 0 ? 0x1p-22 : 0));
    down.push_back(reference.back() - (i % 5 == 0 ? 0x1p-22 : 0));
  }
  wrong = down;
  wrong[77] += 0.02;
  const SearchResult rounded = found_with_floats(reference, up, down), other = found_with_floats(reference, up, wrong);
  EXPECT_NE(rounded.best, rounded.before);
  EXPECT_EQ(rounded.cost.instructions, 1);
  EXPECT_EQ(rounded.other_floats, 0);
  EXPECT_EQ(other.best, other.before);
  EXPECT_EQ(other.measured, 1);
  EXPECT_GT(other.other_floats, 0);
}

TEST(Search, neither_figure_grows_and_the_stack_keeps_its_limit) {
  LazyOps ops;
  const Task task = task_of(ops, {.in = 4, .out = 8, .height = 4, .width = 4, .kernel = 1}, m4());
  const Opts heuristics = choose_opts(task.subjects[0].ast, task.subjects[0].arguments, m4()).applied();
  const Cost refused[] = {{50, 101, 0, 0}, {101, 50, 0, 0}, {50, 50, 0, 330}, {50, 50, 200, 0}};
  for (const Cost& cost : refused) {
    const MeasureVariants measure = [&](const Task&, const std::vector<Variant>& variants) {
      std::vector<Measured> result;
      for (const Variant& v : variants) result.push_back({v.opts == heuristics ? Cost{100, 100, 0, 0} : cost, "", {}});
      return result;
    };
    EXPECT_EQ(search_opts(task, measure, {.language = &kC, .most_rounds = 1, .byte_price = 1}).best, heuristics);
  }
}

// Times spread: less than three percent is no gain, while counts of instructions are what they are.
TEST(Search, times_have_to_be_clearly_less) {
  LazyOps ops;
  const Task task = task_of(ops, {.in = 4, .out = 8, .height = 4, .width = 4, .kernel = 1}, m4());
  const Opts heuristics = choose_opts(task.subjects[0].ast, task.subjects[0].arguments, m4()).applied();
  const auto finds_more = [&](const Cost& usual, const Cost& other) {
    const MeasureVariants measure = [&](const Task&, const std::vector<Variant>& variants) {
      std::vector<Measured> result;
      for (const Variant& v : variants) result.push_back({v.opts == heuristics ? usual : other, "", {}});
      return result;
    };
    return search_opts(task, measure, {.language = &kC, .most_rounds = 1}).best != heuristics;
  };
  EXPECT_FALSE(finds_more({0, 1000, 0, 0}, {0, 975, 0, 0}));
  EXPECT_TRUE(finds_more({0, 1000, 0, 0}, {0, 965, 0, 0}));
  EXPECT_TRUE(finds_more({1000, 1000, 0, 0}, {1000, 975, 0, 0}));
}

}  // namespace
}  // namespace etch
