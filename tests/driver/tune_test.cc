// From a model to a table and back: what tune finds, compile takes, without any emulator; here the number of UOps is the cost.
#include "driver/tune.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "search/steps.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/text_model.h"

namespace etch {
namespace {

std::vector<Measured> by_steps(const Task& task, const std::vector<Variant>& variants) {
  std::vector<Measured> result;
  for (const Variant& v : variants) {
    double steps = 0;
    for (std::size_t s = 0; s < v.kernels.size(); s++) steps += task.subjects[s].calls * steps_executed(v.kernels[s].code).value_or(1e12);
    const auto cost = static_cast<std::int64_t>(steps);
    result.push_back({Cost{cost, cost, 0, 0}, "", {}});
  }
  return result;
}

// Two layers of bytes that differ in sizes alone.
std::string layers(const std::filesystem::path& path) {
  const auto weights = [](const char* name, int k, int n) {
    std::string text = fmt::format("int8[{},{}] {} = {{", k, n, name);
    for (int i = 0; i < k * n; i++) text += fmt::format("{}{}", i == 0 ? "" : ",", i * 37 % 255 - 127);
    return text + "}";
  };
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (int8[1,32] x) => (int8[1,8] y) <float s = {0.05}, int8 z = {0}, )" +
                           weights("w1", 32, 12) + ", " + weights("w2", 12, 8) +
                           R"(> {
  h = QLinearMatMul(x, s, z, w1, s, z, s, z)
  y = QLinearMatMul(h, s, z, w2, s, z, s, z)
})";
  return write_text_model(path, text.c_str());
}

class Tune : public testing::Test {
 protected:
  Tune() {
    options_.import.path = layers(work_.path() / "layers.onnx");
    options_.target = test::target_named("cortex-m4f");
    options_.target.tuning.clear();
    options_.selftest = false;
  }

  OptTable found(OptTable known = {}) {
    TuneOptions tuning{.compile = options_, .width = 1, .most_rounds = 1};
    return tune(tasks_of(read_model(options_), options_), tuning, by_steps, std::move(known));
  }

  CompiledProject project(const std::string& table) {
    options_.tuning = work_.path() / "found.opts";
    write_file(options_.tuning, table);
    return compile_project(read_model(options_), options_);
  }

  const TempDir work_{"etch-tune"};
  CompileOptions options_;
};

TEST_F(Tune, compile_takes_what_was_found_and_the_bits_stay) {
  const OptTable table = found();
  ASSERT_GT(table.size(), 0u);
  EXPECT_EQ(found().text(), table.text());
  const CompiledProject plain = project(""), tuned = project(table.text());
  std::size_t taken = 0;
  for (std::size_t k = 0; k < tuned.program.kernels.size(); k++) {
    const ProgramKernel& kernel = tuned.program.kernels[k];
    EXPECT_TRUE(kernel.note.empty());
    if (kernel.opts != plain.program.kernels[k].opts) taken++;
  }
  EXPECT_EQ(taken, table.size());
  const Array input = lcg_input(DType::Int8, {1, 32}, 5, 0);
  const auto on_host = make_device("c", {});
  EXPECT_EQ(on_host->load(tuned.program)->run({input}), on_host->load(plain.program)->run({input}));
}

// Of a kernel that can't be measured nothing is known, so what the table has for it stays.
TEST_F(Tune, rows_of_kernels_that_can_not_be_measured_stay) {
  const OptTable table = found();
  const MeasureVariants none = [](const Task&, const std::vector<Variant>& variants) {
    return std::vector<Measured>(variants.size(), Measured{std::nullopt, "no emulator", {}});
  };
  EXPECT_EQ(tune(tasks_of(read_model(options_), options_), {.compile = options_}, none, table).text(), table.text());
}

// A pipe can be read but once.
TEST_F(Tune, a_table_is_read_once) {
  const OptTable table = found();
  const CompiledProject tuned = project(table.text());
  read_tables(options_);
  std::filesystem::remove(work_.path() / "found.opts");
  const CompiledProject again = compile_project(read_model(options_), options_);
  ASSERT_EQ(again.program.kernels.size(), tuned.program.kernels.size());
  for (std::size_t k = 0; k < tuned.program.kernels.size(); k++) EXPECT_EQ(again.program.kernels[k].opts, tuned.program.kernels[k].opts);
}

TEST_F(Tune, a_stale_row_is_a_note_and_a_damaged_one_an_error) {
  const OptTable table = found();
  const CompiledProject plain = project("");
  const std::string text = table.text();
  const std::size_t row = text.find("\n", text.find("\n") + 1) + 1, steps = text.find(": ", row), end = text.find('\n', row);
  const std::string stale = text.substr(0, steps) + ": UPCAST 9 2\n", damaged = text.substr(0, end) + " 7\n";
  const CompiledProject project_of_stale = project(stale);
  ASSERT_EQ(project_of_stale.report.tuning_notes.size(), 1u);
  EXPECT_NE(project_of_stale.report.tuning_notes[0].find("found.opts:3: UPCAST 9 2 can't be applied"), std::string::npos);
  EXPECT_NE(to_text(project_of_stale.report).find("UPCAST 9 2 can't be applied"), std::string::npos);
  for (std::size_t k = 0; k < plain.program.kernels.size(); k++)
    EXPECT_EQ(project_of_stale.program.kernels[k].text.source, plain.program.kernels[k].text.source);
  test::expect_error<UserError>([&] { project(damaged); }, "found.opts:3: ");
}

// A table has a row for each, as its keys know bounds of constants: both are searched, and stay one function.
TEST_F(Tune, one_function_for_weights_of_other_bounds_is_two_tasks) {
  const auto weights = [](const char* name, const char* last) {
    std::string text = std::string("float[8,8] ") + name + " = {";
    for (int i = 0; i < 63; i++) text += fmt::format("{}.5, ", i % 7);
    return text + last + "}";
  };
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8] x) => (float[1,8] y) <)" +
                           weights("w1", "0.5") + ", " + weights("w2", "4294967296.5") + "> { h = MatMul(x, w1) y = MatMul(h, w2) }";
  options_.import.path = write_text_model(work_.path() / "bounds.onnx", text.c_str());
  EXPECT_EQ(project("").program.kernels.size(), 1u);
  EXPECT_EQ(tasks_of(read_model(options_), options_).size(), 2u);
  const OptTable table = found();
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(project(table.text()).program.kernels.size(), 1u);
}

// Kernels that are one function take the same steps, and stay one.
TEST_F(Tune, kernels_that_share_a_function_are_one_task) {
  const std::size_t apart = tasks_of(read_model(options_), options_).size();
  options_.sharing = Sharing::All;
  options_.wide_weights = false;
  const std::vector<Task> tasks = tasks_of(read_model(options_), options_);
  std::size_t subjects = 0;
  for (const Task& t : tasks) subjects += t.subjects.size();
  EXPECT_EQ(subjects, apart);
  const std::size_t functions = project("").program.kernels.size();
  EXPECT_LE(project(found().text()).program.kernels.size(), functions);
}

TEST(Tables, those_that_come_with_etch_are_as_tune_writes_them) {
  int tables = 0;
  for (const std::string& name : target_names(own_targets_dir())) {
    const Target target = find_target(name, own_targets_dir());
    if (target.tuning.empty()) continue;
    const OptTable table = OptTable::read(target.tuning);
    EXPECT_EQ(table.text(), test::content(target.tuning)) << target.tuning;
    EXPECT_GT(table.size(), 0u) << target.tuning;
    tables++;
  }
  EXPECT_GT(tables, 0);
}

}  // namespace
}  // namespace etch
