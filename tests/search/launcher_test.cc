// Units of work on real tools, here and by launchers: engines that are a shell, one that loses jobs, and some that do nothing.
#include "search/launcher.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "support/boards.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/tool.h"
#include "support/units.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using test::idle_project, test::idle_run, test::idle_unit, test::without_cycles;

class Launcher : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_tools(target_); !missing.empty()) GTEST_SKIP() << missing;
  }

  RunUnits launcher(const std::string& command) const { return run_by_launcher(target_, {command, shared_, ETCH_BUILD_DIR "/etch", 60}); }

  // Of units with 3, 5, 7, ... instructions that do nothing.
  std::vector<UnitRun> runs(const RunUnits& run, std::size_t count) {
    std::vector<std::vector<EmittedFile>> files;
    std::vector<Unit> units;
    for (std::size_t i = 0; i < count; i++) files.push_back(idle_project(idle(i)));
    for (const auto& project : files) units.push_back(idle_unit(project));
    std::vector<UnitRun> result(count);
    done_.clear();
    run(units, [&](std::size_t unit, const UnitRun& r) {
      EXPECT_TRUE(done_.insert(unit).second) << "each is handed over once";
      result[unit] = r;
    });
    return result;
  }
  static int idle(std::size_t i) { return 3 + 2 * static_cast<int>(i); }

  std::string script(const std::string& text) const {
    const fs::path file = work_.path() / "engine";
    write_file(file, "#!/bin/sh\ncd '" + work_.path().string() + "'\n" + text);
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }

  const Target target_ = test::board_target("cortex-m4f");
  const TempDir work_{"etch-launcher"};
  const fs::path shared_ = work_.path() / "to be made" / "it's shared";
  std::set<std::size_t> done_;
};

TEST_F(Launcher, units_cost_what_the_manual_says_here_and_elsewhere) {
  const std::vector<UnitRun> here = runs(run_here(target_, 2, 60), 3), there = runs(launcher("sh"), 3);
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_EQ(without_cycles(here[i]), idle_run(idle(i)));
    EXPECT_EQ(there[i], here[i]);
  }
  EXPECT_TRUE(fs::is_empty(shared_)) << "units are removed";
}

// The first of two lines is forgotten once.
TEST_F(Launcher, units_that_are_lost_once_are_started_again) {
  const std::string engine = script(R"(while read -r line; do
  echo "$line" >> started
  if [ ! -e lost ]; then touch lost; continue; fi
  sh -c "$line"
done
exit 1
)");
  const std::vector<UnitRun> found = runs(launcher(engine), 2);
  for (std::size_t i = 0; i < 2; i++) EXPECT_EQ(without_cycles(found[i]), idle_run(idle(i)));
  const std::string started = read_file(work_.path() / "started");
  EXPECT_EQ(std::ranges::count(started, '\n'), 3) << started;
}

TEST_F(Launcher, what_is_lost_twice_is_named_and_the_rest_is_handed_over) {
  const std::string engine = script("sed -n '/[/]1.*$/d;p' | sh\necho no room on node7 >&2\nexit 9\n");
  const std::string text = test::error_text<UserError>([&] { runs(launcher(engine), 3); });
  for (const char* part : {"--launcher /", "1 of 3 units of work have no result, also not when started once more: 1\n", "exit status 9",
                           "no room on node7", "it's shared", "what was measured is kept"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  EXPECT_EQ(done_, (std::set<std::size_t>{0, 2}));
  EXPECT_TRUE(fs::is_empty(shared_));
}

TEST_F(Launcher, engines_that_do_nothing_are_told_by_how_they_ended) {
  const std::pair<const char*, const char*> cases[] = {{"false", "the command ended with exit status 1"},
                                                       {"true", "the command ended with exit status 0"},
                                                       {"etch-no-such-engine -j2", "etch-no-such-engine"},
                                                       {"kill -9 $$", "killed by signal 9"}};
  for (const auto& [command, said] : cases) {
    const std::string text = test::error_text<UserError>([&] { runs(launcher(command), 2); });
    EXPECT_NE(text.find("2 of 2 units of work have no result, also not when started once more: 0, 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
  EXPECT_TRUE(done_.empty());
}

// A machine with another compiler measures something else.
TEST_F(Launcher, a_machine_with_other_tools_says_so) {
  const std::string engine = script(R"(sed 's/"tools":"[0-9a-f]*/"tools":"0/' -i ./to*/it*/etch-units*/0/unit.json
exec sh
)");
  const std::string text = test::error_text<UserError>([&] { runs(launcher(engine), 1); });
  EXPECT_NE(text.find("compiler or emulator are of another version here than where the search runs"), std::string::npos) << text;
  EXPECT_NE(text.find("unit 0: "), std::string::npos) << text;
}

TEST_F(Launcher, half_a_result_and_one_of_another_version_count_as_lost) {
  for (const char* result : {R"({"version":2,"problem":"","was_st)", R"({"version":1})", "[]", ""}) {
    const std::string engine = script("echo '" + std::string(result) + "' > ./to*/it*/etch-units*/results/0.json\n");
    const std::string text = test::error_text<UserError>([&] { runs(launcher(engine), 1); });
    EXPECT_NE(text.find("1 of 1 units of work have no result"), std::string::npos) << text;
  }
  EXPECT_TRUE(done_.empty());
}

TEST_F(Launcher, programs_that_fail_crash_or_hang_are_results) {
  struct Case {
    std::vector<EmittedFile> files;
    const char* problem;
    bool was_stopped;
  };
  std::vector<EmittedFile> refused = idle_project(1), hangs = idle_project(1);
  refused[0].text += "#error not today\n";
  hangs[0].text = "void f(void) { for (;;) __asm__ volatile(\"\"); }\n";
  const Case cases[] = {{idle_project(1, "", 3), "the program that measures it ended with exit status 3", false},
                        {refused, "not today", false},
                        {hangs, "was stopped after 5 s", true}};
  for (const Case& c : cases) {
    UnitRun found;
    run_here(target_, 1, 5)({idle_unit(c.files)}, [&](std::size_t, const UnitRun& run) { found = run; });
    EXPECT_NE(found.problem.find(c.problem), std::string::npos) << found.problem;
    EXPECT_EQ(found.was_stopped, c.was_stopped) << found.problem;
  }
}

TEST_F(Launcher, compilers_that_crash_or_hang_cost_one_unit_alone) {
  const std::pair<const char*, const char*> cases[] = {{"kill -SEGV $$", "killed by signal 11"}, {"sleep 1000", "timed out after 6 s"}};
  for (const auto& [action, problem] : cases) {
    const TempDir bin("etch-compiler");
    Target target = target_;
    target.toolchain.compilers = {test::fake_compiler(bin.path(), target.toolchain.compilers[0], "BAD", action)};
    const std::vector<EmittedFile> good = idle_project(4), bad = idle_project(4, "BAD");
    std::vector<UnitRun> found(3);
    run_here(target, 2, 6)({idle_unit(good), idle_unit(bad), idle_unit(good)},
                           [&](std::size_t unit, const UnitRun& run) { found[unit] = run; });
    EXPECT_EQ(without_cycles(found[0]), idle_run(4));
    EXPECT_EQ(without_cycles(found[2]), idle_run(4));
    EXPECT_NE(found[1].problem.find(problem), std::string::npos) << found[1].problem;
    EXPECT_TRUE(found[1].was_stopped);
  }
}

TEST_F(Launcher, a_shared_folder_that_can_not_be_written_is_an_error) {
  write_file(work_.path() / "file", "");
  for (const fs::path& folder : {work_.path() / "file", work_.path() / "file" / "below", fs::path("/proc/etch")})
    test::expect_error<UserError>([&] { run_by_launcher(target_, {"sh", folder, "etch", 60}); }, "--shared DIR");
}

TEST(LauncherHere, what_is_timed_stays_on_this_machine) {
  const TempDir work("etch-launcher");
  test::expect_error<UserError>([&] { run_by_launcher(test::board_target("host"), {"sh", work.path(), "etch", 60}); },
                                "target host is timed on this machine");
}

TEST(MeasureCommand, a_folder_that_is_no_unit_is_an_error_that_the_search_finds) {
  const TempDir work("etch-unit");
  fs::create_directories(work.path() / "0");
  fs::create_directories(work.path() / "results");
  const std::string unit = (work.path() / "0").string();
  for (const auto& [text, problem] : {std::pair{"", "this is no unit of work"},
                                      {"{}", "this is no unit of work"},
                                      {R"({"version":9})", "is of version 9, this etch takes version 2"}}) {
    write_file(work.path() / "0" / "unit.json", text);
    const ProcessResult result = etch_tool({"measure", unit + "/"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(problem), std::string::npos) << result.err;
    EXPECT_NE(read_file(work.path() / "results" / "0.error").find(problem), std::string::npos);
  }
  EXPECT_EQ(etch_tool({"measure", "/nowhere/0"}).exit_code, 1);
}

}  // namespace
}  // namespace etch
