// The search by what kernels cost in an emulator.
#include <gtest/gtest.h>

#include "search/beam.h"
#include "search/emulated.h"
#include "support/boards.h"
#include "support/instructions.h"
#include "support/searched.h"

namespace etch {
namespace {

using test::task_of;

CodegenOptions m4() { return codegen_options(test::target_named("cortex-m4f"), kC); }

TEST(EmulatedSearch, in_the_emulator_it_finds_no_less_than_the_heuristics_have_and_the_same_each_time) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  const Task task = task_of(ops, {.in = 8, .out = 2, .height = 2, .width = 3, .kernel = 1}, m4());
  const MeasureVariants measure = measure_in_emulator(target, kC, 2);
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

// The checksums that the program prints are those of plain loops, also of kernels that are one function.
TEST(EmulatedSearch, the_emulated_program_computes_what_plain_loops_compute) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  LazyOps ops;
  CodegenOptions options = m4();
  options.small_code = true;
  Task task = task_of(ops, {.in = 8, .out = 4, .height = 2, .width = 3, .kernel = 1}, options);
  task.subjects.push_back(task_of(ops, {.in = 8, .out = 8, .height = 4, .width = 3, .kernel = 1}, options).subjects[0]);
  task.share = true;
  std::vector<Variant> variants;
  for (const char* steps : {"TC 0 0", "TC 0 0, UPCAST 0 2"}) {
    Variant v{*opts_of(steps), {}};
    for (const Subject& s : task.subjects) {
      CodegenOptions with = s.options;
      with.opts = v.opts;
      const std::string name = "t" + std::to_string(variants.size()) + "_" + std::to_string(v.kernels.size());
      v.kernels.push_back(generate_kernel(s.ast, {name, s.arguments, {}}, kC, with));
    }
    variants.push_back(std::move(v));
  }
  EXPECT_EQ(program_of(task, variants, kC).kernels.size(), 2u);
  for (const Measured& m : measure_in_emulator(target, kC, 2)(task, variants)) {
    EXPECT_TRUE(m.cost && m.cost->instructions > 0 && m.cost->code_bytes > 0) << m.problem;
    ASSERT_EQ(m.sums.size(), 2u);
    for (std::size_t s = 0; s < 2; s++) EXPECT_EQ(m.sums[s], checksum_of(task.subjects[s].data[0]));
  }
}

}  // namespace
}  // namespace etch
