// Rows of a table stay where the whole program is better for them; what programs cost is made up here.
#include "driver/confirm.h"

#include <gtest/gtest.h>

#include "quant/convs.h"

namespace etch {
namespace {

using namespace test::convs;

struct Row {
  std::string task, steps;  // as the comment above the kernel says them
};

class Confirm : public testing::Test {
 protected:
  // Two kernels, and a row for each with steps of no other kernel.
  Confirm() {
    std::mt19937 rng(1);
    options_ = net_of(chain({random_conv(rng, 8, 12, 4, 1), random_conv(rng, 12, 10, 4, 1)}), "cortex-m4f").options;
    options_.target.tuning.clear();
    frontend_ = read_model(options_);
    tasks_ = tasks_of(frontend_, options_);
    const char* steps[] = {"UPCAST 0 3", "UPCAST 0 5"};
    for (const Task& task : tasks_) {
      if (task.name.find("conv") == std::string::npos || rows_.size() == 2) continue;
      const Subject& s = task.subjects[0];
      const std::string text = steps[rows_.size()];
      table_.set(tuning_key(s.ast, s.arguments, s.options), {"r", *opts_of(text)});
      rows_.push_back({task.name, text});
    }
    table_.set("0123456789abcdef", {"r_1", *opts_of("UPCAST 0 2")});  // of another model
  }

  // Of programs with these rows; nullopt: they fail.
  using CostOf = std::function<std::optional<Cost>(bool first, bool second)>;

  std::vector<std::string> kept(const CostOf& cost_of) {
    const MeasureProjects measure = [&](const std::vector<MeasuredProject>& projects) {
      std::vector<Measured> result;
      for (const MeasuredProject& project : projects) {
        const auto source = std::ranges::find(project.files, "net.c", &EmittedFile::name);
        const auto has = [&](const Row& row) { return source->text.find("   " + row.steps + " */") != std::string::npos; };
        const std::optional<Cost> cost = cost_of(has(rows_[0]), has(rows_[1]));
        result.push_back({cost, cost ? "" : "the self-test fails", {}});
      }
      return result;
    };
    left_out_.clear();
    const OptTable table = confirmed(options_, measure, tasks_, table_, left_out_);
    EXPECT_NE(table.find("0123456789abcdef"), nullptr);
    EXPECT_EQ(table.size() + left_out_.size(), table_.size());
    std::vector<std::string> names;
    for (const Task& task : tasks_)
      if (table.find(tuning_key(task.subjects[0].ast, task.subjects[0].arguments, task.subjects[0].options)) != nullptr)
        names.push_back(task.name);
    return names;
  }

  CompileOptions options_;
  Frontend frontend_;  // has the ASTs of the tasks
  std::vector<Task> tasks_;
  OptTable table_;
  std::vector<Row> rows_;
  std::vector<RowsLeftOut> left_out_;
};

using Names = std::vector<std::string>;

TEST_F(Confirm, rows_that_save_something_stay) {
  ASSERT_EQ(rows_.size(), 2u);
  const Names both{rows_[0].task, rows_[1].task};
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{1000 - 10 * a - 20 * b, 2000, 100, 600}; }), both) << "600 bytes are taken anyway";
  EXPECT_EQ(kept([](bool a, bool) { return Cost{1000 - 10 * a, 2000, 100, 300}; }), (Names{rows_[0].task}));
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_[0].name, rows_[1].task);
  EXPECT_EQ(left_out_[0].why, "nothing is saved in the whole program");
}

TEST_F(Confirm, the_stack_keeps_its_limit) {
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{1000 - 10 * a - 20 * b, 2000, 100, b ? 516 : 200}; }), (Names{rows_[0].task}));
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_[0].why, "the program's stack would be 516 bytes");
}

// Each alone saves something, both together cost more than either.
TEST_F(Confirm, rows_that_harm_each_other_do_not_both_stay) {
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{a && b ? 1100 : a || b ? 900 : 1000, 2000, 100, 0}; }), (Names{rows_[0].task}));
}

TEST_F(Confirm, rows_of_a_program_that_fails_are_left_out) {
  const auto cost_of = [](bool a, bool b) { return b ? std::nullopt : std::optional(Cost{1000 - 10 * a, 2000, 100, 0}); };
  EXPECT_EQ(kept(cost_of), (Names{rows_[0].task}));
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_[0].name, rows_[1].task);
  EXPECT_EQ(left_out_[0].why, "the self-test fails");
}

TEST_F(Confirm, nothing_is_left_out_if_the_program_without_rows_can_not_be_measured) {
  const Names both{rows_[0].task, rows_[1].task};
  EXPECT_EQ(kept([](bool a, bool b) { return a || b ? std::optional(Cost{2000, 2000, 100, 0}) : std::nullopt; }), both);
  EXPECT_TRUE(left_out_.empty());
}

TEST_F(Confirm, neither_figure_grows) {
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{1000 - 500 * a, 2000 + a - b, 100, 0}; }), (Names{rows_[1].task}));
}

// What is known to save something in a kernel that takes little of the time need not show in the program's; what harms it does.
TEST_F(Confirm, times_may_spread) {
  const Names both{rows_[0].task, rows_[1].task};
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{0, 100'000 + 300 * a - 200 * b, 100, 0}; }), both);
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{0, 100'000 + 900 * a - 200 * b, 100, 0}; }), (Names{rows_[1].task}));
  EXPECT_EQ(kept([](bool a, bool b) { return Cost{0, 100'000 + 300 * a + 300 * b, 100, 0}; }), (Names{rows_[0].task}))
      << "small losses do not add up";
}

}  // namespace
}  // namespace etch
