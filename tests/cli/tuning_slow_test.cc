// etch tune as a user calls it, from the model to a table that compile takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/fnv.h"
#include "base/tempdir.h"
#include "driver/tune.h"
#include "program/generate.h"
#include "quant/convs.h"
#include "support/boards.h"
#include "support/tool.h"
#include "support/units.h"

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
  const std::string one = tuned(table_, {"--kernel", "k0_qlinearconv_conv0", "--rounds", "1"}), all = tuned(table_, {"--rounds", "1"});
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
    OptTable wanted = found;
    wanted.add_found_for({"cortex-m4f", "arm-none-eabi-gcc"});
    EXPECT_EQ(OptTable::read(table_).text(), wanted.text());
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

// "NUMBER measured, NUMBER known from before".
std::pair<int, int> counts_in(const std::string& out) {
  std::pair<int, int> counts{-1, -1};
  const std::size_t line = out.rfind('\n', out.size() - 2) + 1;
  EXPECT_EQ(std::sscanf(out.c_str() + line, "%d measured, %d known from before", &counts.first, &counts.second), 2) << out;
  return counts;
}

class TuningCache : public TuningTables {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_tools(test::board_target("cortex-m4f")); !missing.empty()) GTEST_SKIP() << missing;
  }
  std::string cached(const std::string& table, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--rounds", "1", "--cache", cache_.string()});
    return tuned(table, more);
  }
  // Of one kernel of the two, which is enough where what is kept and what is lost counts.
  std::string cached_kernel(const std::string& table) { return cached(table, {"--kernel", "k0_qlinearconv_conv0"}); }

  // The folder is full of what the search found: compile writes the same with it and without one, with a table and without.
  void expect_measurements_are_for_tune_alone() const {
    const auto compiled = [&](const std::string& tuning, const std::string& cache) {
      const std::filesystem::path out = work_.path() / "out";
      ProcessOptions options;
      options.env = {{"ETCH_CACHE", cache}};
      const ProcessResult result = run_process(
          {ETCH_BUILD_DIR "/etch", "compile", model_, "--target", "cortex-m4f", "--no-measure", "--tuning", tuning, "-o", out.string()},
          options);
      EXPECT_TRUE(result.ok()) << result.err;
      std::map<std::string, std::string> files;
      for (const auto& entry : std::filesystem::directory_iterator(out)) files[entry.path().filename().string()] = read_file(entry.path());
      return files;
    };
    std::map<std::string, std::map<std::string, std::string>> of_tables;
    for (const std::string& tuning : {std::string("off"), table_}) {
      const auto files = of_tables[tuning] = compiled(tuning, "off");
      EXPECT_GT(files.size(), 5u);
      for (const std::string& cache : {cache_.string(), std::string("off")})
        EXPECT_EQ(compiled(tuning, cache), files) << tuning << " " << cache;
    }
    EXPECT_NE(of_tables["off"].at("net.c"), of_tables[table_].at("net.c"));
  }
  static std::string without_counts(const std::string& out) { return out.substr(0, out.rfind('\n', out.size() - 2)); }

  const std::filesystem::path cache_ = work_.path() / "cache";
  const std::string again_ = (work_.path() / "again.opts").string();
};

TEST_F(TuningCache, a_second_search_measures_nothing_and_finds_the_same) {
  const std::string first = cached(table_);
  EXPECT_GT(counts_in(first).first, 10);
  const auto [measured, known] = counts_in(cached(again_));
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(known, counts_in(first).first + counts_in(first).second);
  EXPECT_EQ(read_file(again_), read_file(table_));
  expect_measurements_are_for_tune_alone();
  // The tool that is called otherwise, or has other flags, measures for itself.
  std::filesystem::remove(again_);
  const TempDir bin("etch-compiler");
  const std::string other = test::fake_compiler(bin.path(), "arm-none-eabi-gcc", "no file says this", "exit 1");
  EXPECT_EQ(counts_in(cached(again_, {"--cc", other})).first, counts_in(first).first);
  EXPECT_EQ(read_file(again_), read_file(table_));
}

// The model says what is worth a run, and how well it says that.
TEST_F(TuningCache, a_search_by_the_model_measures_less_and_says_how_well_it_fits) {
  const std::string all = tuned(table_, {"--kernel", "k0_qlinearconv_conv0", "--cache", "off", "--cost", "measured"});
  const std::string some = tuned(again_, {"--kernel", "k0_qlinearconv_conv0", "--cache", "off"});
  const auto measured = [](const std::string& text) {
    const std::size_t end = text.find(" measured");
    return std::stoi(text.substr(text.find_last_of("( ", end - 1) + 1));
  };
  EXPECT_LT(measured(some), measured(all)) << some;
  EXPECT_EQ(all.find("model: "), std::string::npos) << all;
  EXPECT_NE(some.find(" lists left to it; fitted to "), std::string::npos) << some;
}

// Also the kernel that is the same in another model: only whole programs and the other kernel are measured.
TEST_F(TuningCache, another_kernel_is_measured_alone) {
  const std::vector<std::string> first{"--kernel", "k0_qlinearconv_conv0"}, second{"--kernel", "k1_qlinearconv_conv1"};
  cached(table_, first);
  const int of_second = counts_in(cached(again_, second)).first;
  std::mt19937 rng(1);
  const Conv one = random_conv(rng, 4, 6, 4, 1), two = random_conv(rng, 6, 4, 4, 1);
  Conv changed = two;
  changed.weights.at(0) ^= 1;
  write_model(chain({one, changed}));
  std::filesystem::remove(table_), std::filesystem::remove(again_);
  const auto [measured, known] = counts_in(cached(table_, first));
  EXPECT_LE(measured, 4) << "programs in which the kernel is confirmed";
  EXPECT_GT(known, 10);
  EXPECT_GE(counts_in(cached(again_, second)).first, of_second - 1);
}

// By a signal, somewhere in the middle: what had been measured by then is not measured again.
TEST_F(TuningCache, an_interrupted_search_loses_nothing) {
  ProcessOptions options;
  options.timeout_s = 60;
  const std::string entries = (cache_ / "measured").string();
  const std::string command = std::string(ETCH_BUILD_DIR "/etch") + " tune " + model_ +
                              " --target cortex-m4f --kernel k0_qlinearconv_conv0 --width 1 --rounds 1 -o " + table_ + " --cache " +
                              cache_.string() + " & pid=$!; while [ $(ls " + entries +
                              " 2>/dev/null | grep -c entry) -lt 8 ]; do sleep 0.02; done; kill -TERM $pid; wait $pid";
  const ProcessResult stopped = run_process({"/bin/sh", "-c", command}, options);
  ASSERT_EQ(stopped.exit_code, 128 + SIGTERM) << describe(stopped) << stopped.err;
  const auto kept = std::distance(std::filesystem::directory_iterator(entries), {});
  ASSERT_GE(kept, 8) << "and nothing unfinished is left";
  std::filesystem::remove(table_);
  const auto [measured, known] = counts_in(cached_kernel(table_));
  EXPECT_GE(known, kept);
  std::filesystem::remove_all(cache_);
  const auto [all, twice] = counts_in(cached_kernel(again_));
  EXPECT_EQ(measured + kept, all);
  EXPECT_EQ(read_file(again_), read_file(table_));
}

TEST_F(TuningCache, damaged_entries_are_told_and_measured_again) {
  cached_kernel(table_);
  const auto entry = *std::filesystem::directory_iterator(cache_ / "measured");
  write_file(entry.path(), "etch cache 1\nand no more");
  std::vector<std::string> args{
      "tune", model_, "--kernel", "k0_qlinearconv_conv0", "--target", "cortex-m4f", "--width", "1", "--rounds", "1",
      "-o",   again_, "--cache",  cache_.string()};
  const ProcessResult result = etch_tool(args);
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.err, "etch: " + entry.path().string() + ": this measurement is damaged or another user's; it is made again\n");
  EXPECT_EQ(counts_in(result.out).first, 1);
  EXPECT_EQ(read_file(again_), read_file(table_));
}

// On a terminal, one line that is rewritten: the kernel, the best ratio so far, and how many programs of the round are measured.
TEST_F(TuningCache, a_terminal_shows_the_best_so_far) {
  if (!find_program("script")) GTEST_SKIP() << "script is not installed: apt-get install bsdutils";
  const std::string command = std::string(ETCH_BUILD_DIR "/etch") + " tune " + model_ + " --target cortex-m4f --width 1 --rounds 1 -o " +
                              table_ + " --kernel k0_qlinearconv_conv0";
  ProcessOptions options;
  options.timeout_s = 60;
  const ProcessResult shown = run_process({"script", "-qec", command, "/dev/null"}, options);
  ASSERT_TRUE(shown.ok()) << shown.out;
  const auto count_of = [&](const std::string& text) {
    int count = 0;
    for (std::size_t at = shown.out.find(text); at != std::string::npos; at = shown.out.find(text, at + 1)) count++;
    return count;
  };
  EXPECT_GE(count_of("\r\033[Ksearching k0_qlinearconv_conv0, best of 1: 100.0 % of the heuristics' cost"), 1) << shown.out;
  EXPECT_GE(count_of(" (1 of 2), programs 1/"), 1) << shown.out;
  const std::string before_last = "searching k0_qlinearconv_conv0, best of ";
  const std::size_t last = shown.out.rfind(before_last);
  const std::size_t ratio = shown.out.find(": ", last) + 2;
  EXPECT_LT(std::stod(shown.out.substr(ratio)), 100.0) << shown.out.substr(last);
}

// The best list crashes the compiler, or keeps it busy for ever: the next best is found, and the first is named.
TEST_F(TuningCache, a_list_for_which_the_compiler_crashes_or_hangs_is_left_out) {
  const std::vector<std::string> kernel{"--kernel", "k0_qlinearconv_conv0", "--rounds", "1"};
  tuned(table_, kernel);
  std::string best;
  std::istringstream rows(read_file(table_));
  for (std::string line; std::getline(rows, line);)
    if (const std::size_t colon = line.find(": "); line[0] != '#' && colon != std::string::npos) best = line.substr(colon + 2);
  ASSERT_TRUE(opts_of(best)) << best;
  for (const auto& [action, problem] : {std::pair{"kill -SEGV $$", "killed by signal 11"}, {"sleep 1000", "timed out after 10 s"}}) {
    const TempDir bin("etch-compiler");
    const std::string compiler = test::fake_compiler(bin.path(), "arm-none-eabi-gcc", fmt::format("t{:016x}_0", fnv1a_64(best)), action);
    std::filesystem::remove(again_);
    std::vector<std::string> options = kernel;
    options.insert(options.end(), {"--cc", compiler, "--time-limit", "10"});
    const std::string out = tuned(again_, options);
    EXPECT_NE(out.find("left out: " + best + ": "), std::string::npos) << out;
    EXPECT_NE(out.find(problem), std::string::npos) << out;
    EXPECT_EQ(read_file(again_).find(": " + best + "\n"), std::string::npos) << "it is not chosen";
  }
}

// The table is the same as from here, and what was measured before the engine lost a job is kept.
TEST_F(TuningCache, units_by_a_launcher_find_the_same_and_lost_ones_cost_nothing_else) {
  cached_kernel(table_);
  const std::filesystem::path kept = cache_;
  const std::string shared = (work_.path() / "shared").string();
  const std::vector<std::string> by_shell{"--launcher", "sh", "--shared", shared};
  std::vector<std::string> args{
      "tune",       model_,
      "--kernel",   "k0_qlinearconv_conv0",
      "--target",   "cortex-m4f",
      "--width",    "1",
      "--rounds",   "1",
      "-o",         again_,
      "--cache",    (work_.path() / "other").string(),
      "--launcher", "n=$(ls " + (work_.path() / "other/measured").string() + " | wc -l); [ $n -lt 12 ] && exec sh",
      "--shared",   shared};
  const ProcessResult lost = etch_tool(args);
  EXPECT_EQ(lost.exit_code, 1);
  EXPECT_NE(lost.err.find("units of work have no result, also not when started once more"), std::string::npos) << lost.err;
  const auto entries = std::distance(std::filesystem::directory_iterator(work_.path() / "other/measured"), {});
  EXPECT_GE(entries, 12);
  *(std::ranges::find(args, "--launcher") + 1) = "sh";
  std::filesystem::remove(again_);
  const ProcessResult rest = etch_tool(args);
  EXPECT_TRUE(rest.ok()) << rest.err;
  EXPECT_GE(counts_in(rest.out).second, entries);
  EXPECT_EQ(read_file(again_), read_file(table_));
  EXPECT_TRUE(std::filesystem::is_empty(shared));
}

}  // namespace
}  // namespace etch
