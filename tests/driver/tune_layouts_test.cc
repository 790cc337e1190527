// From a model to rows of a table and back: what the search for layouts finds, compile takes. Here the length of the emitted C is the cost.
#include "driver/tune_layouts.h"

#include <gtest/gtest.h>

#include "driver/measured_programs.h"
#include "quant/convs.h"
#include "support/expect_error.h"

namespace etch {
namespace {

using namespace test::convs;

std::int64_t length_of(const std::vector<EmittedFile>& files) {
  std::int64_t length = 0;
  for (const EmittedFile& file : files)
    if (!file.is_weights && file.name == "net.c") length += static_cast<std::int64_t>(file.text.size());
  return length;
}

std::vector<Measured> by_length(const std::vector<MeasuredProject>& projects) {
  std::vector<Measured> result;
  for (const MeasuredProject& project : projects) {
    EXPECT_EQ(project.entry, "net_run");
    result.push_back({Cost{length_of(project.files), length_of(project.files), 0, 0}, "", {}});
  }
  return result;
}

CompileOptions options_of(std::mt19937& rng) {
  Conv middle = random_conv(rng, 8, 8, 6, 3, 8);
  const Net net = net_of(chain({random_conv(rng, 2, 8, 6, 3), middle, random_conv(rng, 8, 16, 6, 1)}), "cortex-m4f");
  CompileOptions options = net.options;
  options.target.tuning.clear();
  return options;
}

CompiledProject compiled(CompileOptions options, const OptTable& rows) {
  options.rows = std::make_shared<const OptTable>(rows);
  return compile_project(read_model(options), options);
}

TEST(TuneLayouts, compile_takes_what_is_found) {
  std::mt19937 rng(1);
  const CompileOptions options = options_of(rng);
  const LayoutResult result = tune_layouts(options, by_length, {});
  ASSERT_FALSE(result.best.empty()) << "another way of some choice gives a shorter text";
  EXPECT_TRUE(result.problems.empty());
  EXPECT_LT(result.cost.instructions, result.cost_before.instructions);
  EXPECT_GT(result.measured, 4);
  const OptTable found = with_layouts({}, result), read = OptTable::parse(found.text(), "found.opts");
  EXPECT_EQ(read.ways(), result.best);
  EXPECT_EQ(length_of(compiled(options, {}).files), result.cost_before.instructions);
  EXPECT_EQ(length_of(compiled(options, read).files), result.cost.instructions);
}

// Each program by itself, where they are too large to be kept together: those of equal text are still measured once.
TEST(TuneLayouts, programs_are_measured_in_parts) {
  std::mt19937 rng(3);
  const CompileOptions options = options_of(rng);
  const LayoutResult layouts = tune_layouts(options, by_length, {});
  ASSERT_FALSE(layouts.best.empty());
  const OptTable found = with_layouts({}, layouts);
  int calls = 0, projects = 0;
  const MeasureProjects measure = [&](const std::vector<MeasuredProject>& some) {
    calls += !some.empty();
    projects += static_cast<int>(some.size());
    return by_length(some);
  };
  for (const std::int64_t most_bytes : {kMostBytesAtOnce, std::int64_t{1}}) {
    calls = projects = 0;
    const std::vector<MeasuredProgram> measured = MeasuredPrograms(options, measure, most_bytes).measured({{}, found, {}, found});
    EXPECT_EQ(projects, 2);
    EXPECT_EQ(calls, most_bytes == 1 ? 2 : 1);
    ASSERT_EQ(measured.size(), 4u);
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
      EXPECT_EQ(measured[i].cost->instructions, layouts.cost_before.instructions);
    for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) EXPECT_EQ(measured[i].cost->instructions, layouts.cost.instructions);
  }
}

TEST(TuneLayouts, the_same_is_found_again_from_what_is_known) {
  std::mt19937 rng(2);
  const CompileOptions options = options_of(rng);
  const LayoutResult first = tune_layouts(options, by_length, {}), again = tune_layouts(options, by_length, {});
  EXPECT_EQ(first.best, again.best);
  const OptTable found = with_layouts({}, first);
  const LayoutResult from = tune_layouts(options, by_length, found);
  EXPECT_LE(from.cost.instructions, first.cost.instructions);
  const OptTable after = with_layouts(found, from);
  EXPECT_EQ(after.ways(), from.best) << "no row stays that is not taken";
}

// Two choices of one key, of which the first is not usual: its row stays, whichever comes last.
TEST(TuneLayouts, a_row_stays_while_a_choice_of_its_key_needs_it) {
  const std::string key = "0123456789abcdef", other = "0123456789abcdee";
  LayoutResult result;
  result.best = {{key, 1}};
  result.choices = {{key, "order_4", {1, 3}, 3, 1}, {key, "order_4", {1, 3}, 1, 1}, {other, "padding_4", {0, 1}, 1, 1}};
  OptTable known;
  known.set_layout(other, {"padding_4", 0});
  EXPECT_EQ(with_layouts(known, result).ways(), (std::map<std::string, int>{{key, 1}}));
  EXPECT_EQ(usual_ways(result).ways(), (std::map<std::string, int>{{other, 1}})) << "of the other key no row says what is usual";
}

// A way that can't be taken is a note in the report, once for all choices of its key.
TEST(TuneLayouts, a_way_that_can_not_be_taken_is_a_note) {
  std::mt19937 rng(4);
  CompileOptions options = options_of(rng);
  options.lists_choices = true;
  const std::vector<LayoutChoice> choices = read_model(options).schedule.choices;
  ASSERT_FALSE(choices.empty());
  const LayoutChoice& choice = choices[0];
  const CompiledProject stale = compiled(options, OptTable::parse("\n" + choice.key + " order: WAY 77\n", "t.opts"));
  ASSERT_EQ(stale.report.tuning_notes.size(), 1u);
  const std::string& note = stale.report.tuning_notes[0];
  EXPECT_TRUE(note.starts_with(choice.subject + ": t.opts:2: WAY 77 can't be taken (its ways are " + std::to_string(choice.ways[0])))
      << note;
  EXPECT_TRUE(
      compiled(options, OptTable::parse(choice.key + " order: WAY " + std::to_string(choice.usual), "t.opts")).report.tuning_notes.empty());
}

TEST(TuneLayouts, open_sizes_are_refused) {
  std::mt19937 rng(3);
  CompileOptions options = options_of(rng);
  GraphBuilder g("net", 13);
  const auto x = g.input("x", DType::Float32, {"batch", 4});
  g.output(g.node("Relu", {x}), DType::Float32, {"batch", 4});
  options.import.bytes = g.bytes();
  options.import.dims = {{"batch", 1, 4}};
  test::expect_error<UserError>([&] { tune_layouts(options, by_length, {}); }, "sizes are open");
}

}  // namespace
}  // namespace etch
