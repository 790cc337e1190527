// The tables that come with etch, on the networks that they were found for.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "codegen/opt_table.h"
#include "driver/compile.h"
#include "renderer/language.h"
#include "support/made_once.h"
#include "support/tool.h"

namespace etch {
namespace {

std::vector<std::filesystem::path> networks(const std::filesystem::path& downloaded) {
  std::vector<std::filesystem::path> paths;
  for (const char* name : {"kws_int8", "vww_int8", "kws_f32", "vww_f32", "mnist_cntk"})
    if (const std::filesystem::path path = downloaded.parent_path() / name / "model.onnx"; std::filesystem::exists(path))
      paths.push_back(path);
  for (const char* name : {"resnet8", "mlp"})
    for (const bool quantised : {false, true}) paths.push_back(quantised ? test::quantised_zoo_model(name) : test::zoo_model(name));
  return paths;
}

/// The lines of the target's own table whose rows kernels and choices of `model` take; none has one that it can't take.
std::set<int> lines_taken(const std::filesystem::path& model, const Target& target, std::string_view goal) {
  CompileOptions options;
  options.import.path = model;
  options.target = target;
  options.overlap = goal == "ram";
  options.wide_weights = goal != "flash";
  if (goal == "flash") options.sharing = Sharing::All;
  const OptTable table = OptTable::read(target.tuning);
  const Frontend frontend = read_model(options);
  EXPECT_EQ(frontend.tuning_notes, std::vector<std::string>()) << model;
  std::set<int> lines;
  for (const std::string& key : frontend.schedule.found) lines.insert(table.layout(key)->line);
  const Program program = lower_model(frontend, &language_of(target), options);
  for (const ProgramKernel& kernel : program.kernels) EXPECT_EQ(kernel.note, "") << model;
  for (const TableRow& row : program.rows) lines.insert(row.line);
  return lines;
}

bool are_most(const std::set<int>& lines, const std::filesystem::path& table) {
  return 3 * lines.size() >= 2 * OptTable::read(table).size();
}

// A row whose key no kernel has any more is dead weight, and what it was found for is slower again without a word. Some rows are for
// kernels of other ways to lay values out, which a later search gave up.
TEST(Tables, those_that_come_with_etch_are_of_the_kernels_that_there_are) {
  const auto folder = downloaded_model("kws_int8");
  if (!folder) GTEST_SKIP() << "kws_int8 is not there: set ETCH_MODELS to a folder of models that has it";
  std::map<std::filesystem::path, std::set<int>> taken;  // by table
  for (const std::string& name : target_names(own_targets_dir())) {
    const Target target = find_target(name, own_targets_dir());
    if (target.tuning.empty()) continue;
    for (const char* goal : {"speed", "flash", "ram"})
      for (const std::filesystem::path& model : networks(*folder))
        if (!are_most(taken[target.tuning], target.tuning)) taken[target.tuning].merge(lines_taken(model, target, goal));
  }
  EXPECT_FALSE(taken.empty());
  for (const auto& [table, lines] : taken)
    EXPECT_TRUE(are_most(lines, table)) << table << ": " << lines.size() << " of its " << OptTable::read(table).size() << " rows are taken";
}

}  // namespace
}  // namespace etch
