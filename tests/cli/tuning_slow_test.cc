// etch tune as a user calls it, from the model to a table that compile takes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/tempdir.h"
#include "driver/tune.h"
#include "program/generate.h"
#include "quant/convs.h"
#include "support/boards.h"
#include "support/tool.h"

namespace etch {
namespace {

using namespace test::convs;

class TuningTables : public testing::Test {
 protected:
  TuningTables() {
    std::mt19937 rng(1);
    write_model(chain({random_conv(rng, 4, 6, 4, 1), random_conv(rng, 6, 4, 4, 1)}));
  }

  void write_model(const std::vector<Conv>& convs) { write_file(model_, net_of(convs, "cortex-m4f").options.import.bytes); }

  std::string tuned(const std::string& table, std::vector<std::string> more, const std::string& target = "cortex-m4f") {
    std::vector<std::string> args{"tune", model_, "--target", target, "--width", "1", "-o", table};
    args.insert(args.end(), more.begin(), more.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out;
  }

  CompileOptions options(const std::string& target) const {
    CompileOptions options;
    options.import.path = model_;
    options.target = test::board_target(target);
    options.target.tuning.clear();
    options.lists_choices = true;
    return options;
  }

  const TempDir work_{"etch-tuning"};
  const std::string model_ = (work_.path() / "net.onnx").string(), table_ = (work_.path() / "net.opts").string();
  const std::string others_ = (work_.path() / "others.opts").string();
};

TEST_F(TuningTables, what_is_found_for_a_model_is_compiled_from_the_table) {
  if (const std::string missing = test::missing_tools(test::board_target("cortex-m4f")); !missing.empty()) GTEST_SKIP() << missing;
  const std::string one = tuned(table_, {"--kernel", "k0_qlinearconv_conv0"}), all = tuned(table_, {});
  EXPECT_EQ(one.find("layouts\n"), std::string::npos) << "one kernel alone";
  for (const char* part : {"layouts\n", "k0_qlinearconv_conv0\n", "all kernels\n", " rows in "})
    EXPECT_NE(all.find(part), std::string::npos) << part << " is missing in\n" << all;
  const auto instructions = [&](const std::string& tuning) {
    const ProcessResult result =
        etch_tool({"validate", model_, "--target", "cortex-m4f", "--backends", "interp", "--tuning", tuning, "--json"});
    EXPECT_TRUE(result.ok()) << result.err;
    return nlohmann::json::parse(result.out)["target"]["instructions"].get<std::int64_t>();
  };
  EXPECT_LT(instructions(table_), instructions("off"));
}

// A row of another table that does not pay gets one with the heuristics' choice before it.
TEST_F(TuningTables, rows_of_another_table_that_do_not_pay_are_overruled) {
  const CompileOptions m4 = options("cortex-m4f");
  if (const std::string missing = test::missing_tools(m4.target); !missing.empty()) GTEST_SKIP() << missing;
  const Frontend frontend = read_model(m4);
  OptTable slow, usual, other_ways, usual_ways;  // without any steps, and with the heuristics'
  for (const Task& task : tasks_of(frontend, m4)) {
    const Subject& s = task.subjects.at(0);
    slow.add(rows_of(task, {}));
    usual.add(rows_of(task, choose_opts(s.ast, s.arguments, s.options).applied()));
  }
  for (const LayoutChoice& c : frontend.schedule.choices) {
    other_ways.set_layout(c.key, {c.subject, c.ways.at(c.ways[0] == c.usual ? 1 : 0)});
    usual_ways.set_layout(c.key, {c.subject, c.usual});
  }
  ASSERT_EQ(slow.size(), 2u);
  ASSERT_EQ(other_ways.size(), 1u);
  const std::pair<OptTable, OptTable> cases[] = {{slow, usual}, {other_ways, usual_ways}};
  for (const auto& [rows, found] : cases) {
    write_file(others_, rows.text());
    std::filesystem::remove(table_);
    tuned(table_, {"--rounds", "0", "--tuning", others_});
    EXPECT_EQ(OptTable::read(table_).text(), found.text());
  }
}

// The kernels that are searched are those of the programs that are measured, also where another table has ways.
TEST_F(TuningTables, rows_of_kernels_stay_where_another_table_has_the_ways_that_they_come_from) {
  std::mt19937 rng(2);
  write_model(
      chain({random_conv(rng, 4, 8, 6, 3), random_conv(rng, 8, 8, 6, 3, 8), random_conv(rng, 8, 8, 6, 1), random_conv(rng, 8, 8, 6, 3)}));
  CompileOptions m3 = options("cortex-m3");
  if (const std::string missing = test::missing_tools(m3.target); !missing.empty()) GTEST_SKIP() << missing;
  OptTable ways, steps;
  for (const LayoutChoice& c : read_model(m3).schedule.choices)
    if (c.subject == "order_1_8_6_6" && c.usual == 1 && ways.size() == 0) ways.set_layout(c.key, {c.subject, 2});
  m3.rows = std::make_shared<const OptTable>(ways);
  const Frontend frontend = read_model(m3);
  std::string name;
  for (const Task& task : tasks_of(frontend, m3))
    if (task.name.ends_with("conv2")) name = task.name, steps.add(rows_of(task, *opts_of("UPCAST 0 4, UPCAST 1 2, UNROLL 0 8")));
  ASSERT_EQ(ways.size(), 1u);
  ASSERT_EQ(steps.size(), 1u);
  write_file(others_, ways.text());
  write_file(table_, steps.text());
  tuned(table_, {"--rounds", "0", "--tuning", others_, "--kernel", name}, "cortex-m3");
  EXPECT_EQ(OptTable::read(table_).text(), steps.text());
}

}  // namespace
}  // namespace etch
