// The cache of measurements: what is kept is found, what is damaged is told and measured again, and what was measured before is not
// measured a second time. The runner here counts; real compilers and emulators are in units_test.cc.
#include "search/cache.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "search/measure.h"
#include "search/tools.h"
#include "support/expect_error.h"
#include "support/instructions.h"
#include "support/searched.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

class MeasurementCache : public testing::Test {
 protected:
  MeasureCache open(const std::string& tools = "gcc 12") {
    return {dir_, tools, [this](const std::string& line) { lines_.push_back(line); }};
  }
  fs::path entry() const { return fs::directory_iterator(dir_)->path(); }

  const TempDir work_{"etch-cache"};
  const fs::path dir_ = work_.path() / "new" / "measured";
  std::vector<std::string> lines_;
};

TEST_F(MeasurementCache, what_is_kept_is_found_by_the_same_program_and_tools_alone) {
  const Measured cases[] = {{Cost{1, -2, 3, std::int64_t{1} << 60}, "", {{0, {}}, {4294967295u, {1, ~std::uint64_t{0}}}}},
                            {std::nullopt, "the linker: \"x\"\n\xff", {}},
                            {Cost{}, "", {}}};
  for (const Measured& measured : cases) {
    MeasureCache cache = open();
    cache.keep("program " + measured.problem, measured);
    std::optional<Measured> found = open().find("program " + measured.problem);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cost, measured.cost);
    EXPECT_EQ(found->outputs, measured.outputs);
    EXPECT_EQ(found->problem.substr(0, 15), measured.problem.substr(0, 15)) << "but for what is no UTF-8";
    EXPECT_FALSE(open("gcc 13").find("program " + measured.problem));
    EXPECT_FALSE(open().find("program 2"));
  }
  EXPECT_TRUE(lines_.empty());
}

TEST_F(MeasurementCache, what_was_stopped_is_measured_again) {
  MeasureCache cache = open();
  cache.keep("p", {std::nullopt, "timed out after 2 s", {}, true});
  EXPECT_FALSE(cache.find("p"));
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(MeasurementCache, an_entry_that_can_not_be_used_is_told_and_replaced) {
  const auto cut = [](std::string text) { return text.substr(0, text.size() - 9); };
  const auto flipped = [](std::string text) {
    text[text.size() - 5] = static_cast<char>(text[text.size() - 5] ^ 1);
    return text;
  };
  const auto empty = [](const std::string&) { return std::string(); };
  const std::function<std::string(std::string)> damages[] = {cut, flipped, empty};
  const Measured right{Cost{5, 6, 7, 8}, "", {{9}}};
  for (const auto& damage : damages) {
    lines_.clear();
    MeasureCache cache = open();
    cache.keep("p", right);
    write_file(entry(), damage(read_file(entry())));
    EXPECT_FALSE(cache.find("p"));
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find(entry().string() + ": this measurement is damaged"), std::string::npos) << lines_[0];
    cache.keep("p", right);
    EXPECT_EQ(cache.find("p"), right);
    EXPECT_EQ(lines_.size(), 1u);
  }
}

// As an entry of a later etch, or of an earlier one, would be.
TEST_F(MeasurementCache, another_version_is_named) {
  MeasureCache cache = open();
  const DiskCache raw({.dir = dir_, .most_bytes = 0});
  cache.keep("p", {Cost{5, 6, 7, 8}, "", {{9}}});
  const std::string key = "measurement\n6\ngcc 12\np";
  ASSERT_EQ(raw.file_of(key), entry());
  for (const auto& [content, line] : {std::pair{R"({"version":7})", "is of version 7, this etch reads version 2"},
                                      {R"({"version":1,"sums":[9],"problem":""})", "is of version 1, this etch reads version 2"},
                                      {R"({"version":2,"outputs":3,"problem":""})", "is damaged"},
                                      {R"({"version":2,"outputs":[[3]],"problem":""})", "is damaged"},
                                      {"[]", "is damaged"}}) {
    ASSERT_TRUE(raw.keep(key, content));
    EXPECT_FALSE(cache.find("p"));
    EXPECT_NE(lines_.back().find(line), std::string::npos) << lines_.back();
  }
}

TEST_F(MeasurementCache, a_folder_full_of_damage_does_not_fill_the_screen) {
  MeasureCache cache = open();
  for (int i = 0; i < 20; i++) cache.keep(std::to_string(i), {Cost{i, 0, 0, 0}, "", {}});
  for (const auto& file : fs::directory_iterator(dir_)) write_file(file.path(), "x");
  for (int i = 0; i < 20; i++) EXPECT_FALSE(cache.find(std::to_string(i)));
  EXPECT_EQ(lines_.size(), 6u);
}

TEST_F(MeasurementCache, a_folder_that_can_not_be_written_is_an_error) {
  write_file(work_.path() / "file", "");
  for (const fs::path& dir : {work_.path() / "file", work_.path() / "file" / "below", fs::path("/proc/etch")})
    test::expect_error<UserError>([&] { MeasureCache(dir, "", {}); }, "--cache off");
}

TEST_F(MeasurementCache, one_that_can_no_more_be_written_is_told_once) {
  MeasureCache cache = open();
  fs::remove(dir_);
  write_file(dir_, "");
  for (int i = 0; i < 3; i++) cache.keep(std::to_string(i), {Cost{i, 0, 0, 0}, "", {}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_NE(lines_[0].find("can't be kept here any more"), std::string::npos);
  EXPECT_EQ(cache.kept(), 0);
}

TEST_F(MeasurementCache, several_write_at_once) {
  constexpr int kWriters = 4, kEntries = 60;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++)
    writers.emplace_back([&] {
      MeasureCache cache(dir_, "gcc", {});
      for (int i = 0; i < kEntries; i++) cache.keep(std::to_string(i), {Cost{i, 0, 0, 0}, "", {}});
    });
  for (std::thread& w : writers) w.join();
  MeasureCache cache = open("gcc");
  for (int i = 0; i < kEntries; i++) EXPECT_EQ(cache.find(std::to_string(i)), (Measured{Cost{i, 0, 0, 0}, "", {}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), kEntries) << "nothing else is left";
}

// Programs of variants of one kernel, run by what counts them: a kernel costs as many instructions as its text is long.
class KeptVariants : public MeasurementCache {
 protected:
  KeptVariants()
      : target_(test::target_named("cortex-m4f")),
        task_(test::task_of(ops_, {.in = 8, .out = 4, .height = 2, .width = 3, .kernel = 1}, options())) {}

  CodegenOptions options() const { return codegen_options(target_, kC); }

  Variant variant(const std::string& steps) const {
    Variant v{*opts_of(steps), {}};
    for (std::size_t s = 0; s < task_.subjects.size(); s++) {
      CodegenOptions with = task_.subjects[s].options;
      with.opts = v.opts;
      const std::string name = "t" + std::to_string(std::hash<std::string>()(steps)) + "_" + std::to_string(s);
      v.kernels.push_back(generate_kernel(task_.subjects[s].ast, {name, task_.subjects[s].arguments, {}}, kC, with));
    }
    return v;
  }
  std::vector<Variant> variants(const std::vector<std::string>& lists) const {
    std::vector<Variant> all;
    for (const std::string& steps : lists) all.push_back(variant(steps));
    return all;
  }

  // Units whose text has `crash_` crash; after `most_units_` the launcher gives up.
  std::vector<Measured> measure(const std::vector<Variant>& all, std::shared_ptr<MeasureCache> cache, int least_units = 1) {
    const std::string title = "CHECKSUM ";
    MeasureOptions options{{}, std::move(cache), least_units, most_bytes_};
    options.run = [this, title](const std::vector<Unit>& units, const UnitDone& done) {
      runs_++;
      for (std::size_t u = 0; u < units.size(); u++) {
        if (units_ == most_units_) throw UserError("engine", "is gone");
        units_++;
        UnitRun run;
        for (const EmittedFile& file : units[u].files)
          if (!crash_.empty() && file.text.find(crash_) != std::string::npos)
            run = {.problem = "gcc: killed by signal 11", .was_stopped = true};
        for (const std::string& f : units[u].functions) {
          measured_++;
          run.calls[f] = {Cost{.instructions = static_cast<std::int64_t>(std::hash<std::string>()(f) % 1000)}};
        }
        for (const EmittedFile& file : units[u].files)
          for (std::size_t at = file.text.find(title); at != std::string::npos; at = file.text.find(title, at + 1))
            run.outputs[file.text.substr(at + title.size(), file.text.find(' ', at + title.size()) - at - title.size())] = {3, {}};
        done(u, run);
      }
    };
    return measure_variants(target_, kC, options)(task_, all);
  }

  std::shared_ptr<MeasureCache> cache() { return std::make_shared<MeasureCache>(open()); }

  Target target_;
  LazyOps ops_;
  Task task_;
  std::string crash_;
  std::int64_t most_bytes_ = kMostBytesAtOnce;
  int runs_ = 0, units_ = 0, measured_ = 0, most_units_ = -1;
};

TEST_F(KeptVariants, those_that_are_known_are_not_measured_again) {
  const auto some = variants({"", "UPCAST 0 2", "UPCAST 0 4"}), more = variants({"UPCAST 0 4", "UPCAST 1 3", "UPCAST 0 2", ""});
  const std::vector<Measured> first = measure(some, cache());
  EXPECT_EQ(measured_, 3);
  EXPECT_EQ(measure(some, cache()), first);
  EXPECT_EQ(measured_, 3);
  const std::vector<Measured> second = measure(more, cache());
  EXPECT_EQ(measured_, 4) << "one is new";
  EXPECT_EQ(second[0], first[2]);
  EXPECT_EQ(second[2], first[1]);
  EXPECT_EQ(second[3], first[0]);
  EXPECT_EQ(measure(some, nullptr), first);
  EXPECT_EQ(measured_, 7) << "without a cache all of them";
}

TEST_F(KeptVariants, other_data_calls_and_weights_are_other_programs) {
  const auto some = variants({"UPCAST 0 2"});
  measure(some, cache());
  task_.subjects[0].calls = 2;
  const std::vector<Measured> twice = measure(some, cache());
  EXPECT_EQ(measured_, 2);
  for (const std::size_t argument : {std::size_t{1}, std::size_t{2}}) {
    std::vector<std::int64_t> values = task_.subjects[0].data[argument].ints();
    values[1] ^= 1;
    task_.subjects[0].data[argument] = Array::of_ints(DType::Int8, task_.subjects[0].data[argument].shape(), values);
    measure(some, cache());
  }
  EXPECT_EQ(measured_, 4);
}

TEST_F(KeptVariants, other_texts_definitions_and_orders_of_weights_are_other_programs) {
  const std::vector<Variant> some = variants({"UPCAST 0 2"});
  measure(some, cache());
  const std::function<void(ProgramKernel&)> changes[] = {
      [](ProgramKernel& k) { k.text.source += "\n"; },
      [](ProgramKernel& k) { k.text.definitions.emplace_back("static int etch_one(void) { return 1; }"); },
      [](ProgramKernel& k) {
        KernelArgument& weights = k.arguments.back();
        if (!weights.layout) weights.layout = ShapeTracker::from_shape({weights.elements});
        weights.layout = weights.layout->stride(std::vector<std::int64_t>(weights.layout->shape().size(), -1));
      }};
  for (const auto& change : changes) {
    std::vector<Variant> other = some;
    change(other[0].kernels[0]);
    const int before = measured_;
    measure(other, cache());
    EXPECT_EQ(measured_, before + 1);
  }
}

TEST_F(KeptVariants, an_interrupted_measurement_loses_nothing_that_was_measured) {
  const auto all = variants({"", "UPCAST 0 2", "UPCAST 0 4", "UPCAST 1 3"});
  most_units_ = 2;
  test::expect_error<UserError>([&] { measure(all, cache(), 4); }, "engine: is gone");
  most_units_ = -1;
  measure(all, cache(), 4);
  EXPECT_EQ(measured_, 4) << "each once";
}

// Each is measured alone where the program of all of them can't be.
TEST_F(KeptVariants, one_that_crashes_the_compiler_is_no_loss_for_the_others) {
  const auto all = variants({"", "UPCAST 0 2", "UPCAST 0 4"});
  const std::vector<Measured> right = measure(all, nullptr);
  crash_ = all[1].kernels[0].name;
  units_ = 0;
  const std::vector<Measured> found = measure(all, cache());
  EXPECT_EQ(units_, 4);
  EXPECT_EQ(found[0], right[0]);
  EXPECT_EQ(found[2], right[2]);
  EXPECT_EQ(found[1].problem, "gcc: killed by signal 11");
  EXPECT_FALSE(found[1].cost);
  units_ = 0;
  measure(all, cache());
  EXPECT_EQ(units_, 1) << "what crashed is tried again, alone";
}

TEST_F(KeptVariants, units_are_as_many_as_wanted) {
  const auto all = variants({"", "UPCAST 0 2", "UPCAST 0 4", "UPCAST 1 3", "UPCAST 1 2"});
  for (const auto& [least, units] : {std::pair{1, 1}, {2, 2}, {5, 5}, {9, 5}}) {
    units_ = 0;
    measure(all, nullptr, least);
    EXPECT_EQ(units_, units);
  }
}

// Units are in memory and on the disk until they are measured.
TEST_F(KeptVariants, large_units_are_measured_one_by_one) {
  const auto all = variants({"", "UPCAST 0 2", "UPCAST 0 4", "UPCAST 1 3", "UPCAST 1 2"});
  const std::vector<Measured> at_once = measure(all, nullptr, 5);
  EXPECT_EQ(runs_, 1);
  most_bytes_ = 1;
  EXPECT_EQ(measure(all, nullptr, 5), at_once);
  EXPECT_EQ(runs_, 1 + 5);
}

// On this machine, what decides about a time beside the kernel.
TEST_F(KeptVariants, other_alignments_and_bytes_of_other_kernels_are_other_programs) {
  target_ = test::target_named("host");
  const std::vector<Variant> some = variants({"UPCAST 0 2"});
  measure(some, cache());
  task_.other_bytes = 1 << 20;
  measure(some, cache());
  EXPECT_EQ(measured_, 2);
  target_.arena_align *= 2;
  measure(some, cache());
  measure(some, cache());
  EXPECT_EQ(measured_, 3);
}

TEST_F(MeasurementCache, projects_are_known_by_their_text_and_entry) {
  int ran = 0;
  MeasureOptions options{.run = [&](const std::vector<Unit>& units, const UnitDone& done) {
    for (std::size_t u = 0; u < units.size(); u++, ran++)
      done(u, {.calls = {{units[u].functions[0], {Cost{.instructions = 7}}}}, .program_bytes = 11});
  }};
  options.cache = std::make_shared<MeasureCache>(open());
  const MeasuredProject one{{{"a.c", "int a;"}}, "a_run"}, other{{{"a.c", "int b;"}}, "a_run"}, entry{{{"a.c", "int a;"}}, "b_run"};
  const std::vector<Measured> first = measure_projects({one, other, entry}, options);
  EXPECT_EQ(first[1], (Measured{Cost{.instructions = 7, .code_bytes = 11}, "", {}}));
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(measure_projects({entry, one}, options).size(), 2u);
  EXPECT_EQ(ran, 3);
}

// What a program costs depends on these beside its text.
TEST(Tools, every_flag_and_version_is_in_the_text) {
  const Target m4 = test::target_named("cortex-m4f");
  const std::string text = tools_text(m4);
  std::vector<Target> others(7, m4);
  others[0].toolchain.flags.emplace_back("-O1");
  others[1].toolchain.link.emplace_back("-lm");
  others[2].toolchain.compilers = {"gcc"};
  others[3].emulator.args.emplace_back("-d");
  others[4].emulator.program = "qemu-arm";
  others[5].cycles.load++;
  others[6].toolchain.libraries.emplace_back("-lgcc");
  for (const Target& other : others) EXPECT_NE(tools_text(other), text);
  EXPECT_EQ(tools_text(target_of_tools(json_of_tools(m4))), text);
}

// An update of the compiler or of the emulator changes neither its name nor its place.
TEST(Tools, what_they_say_of_themselves_is_in_the_text) {
  const TempDir bin("etch-tools");
  const std::filesystem::path tool = bin.path() / "tool";
  const auto says = [&](const std::string& version) {
    write_file(tool, "#!/bin/sh\necho 'tool " + version + "'\n");
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  };
  Target by_compiler = test::target_named("cortex-m4f"), by_emulator = by_compiler, by_linker = by_compiler;
  by_compiler.toolchain.compilers = {tool.string()};
  by_emulator.emulator.program = tool.string();
  by_linker.toolchain.linker = tool.string();
  for (const Target& target : {by_compiler, by_emulator, by_linker}) {
    says("1.0");
    const std::string before = tools_text(target);
    says("1.1");
    EXPECT_NE(tools_text(target), before);
    says("1.0");
    EXPECT_EQ(tools_text(target), before);
  }
}

}  // namespace
}  // namespace etch
