// The verdict whether a project fits: sums, limits, several memories of a kind, missing measurements.
#include "emit/fit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace etch::fit_test {
namespace {

Memory memory(const char* name, MemoryKind kind, std::int64_t size) { return {name, kind, 0, size}; }

Report report_of(std::int64_t arena, std::int64_t input, std::int64_t output, std::int64_t weights) {
  Report report;
  report.name = "net";
  report.language = "c";
  report.arena_bytes = arena;
  report.inputs = {input};
  report.outputs = {output};
  report.weights_bytes = weights;
  report.weights_form = "c";
  return report;
}

FitMeasurement measured(std::int64_t code, std::int64_t library, std::optional<std::int64_t> stack) {
  FitMeasured m;
  m.compiler = "gcc";
  m.code_bytes = code;
  m.library_bytes = library;
  m.stack_bytes = stack;
  m.stack_problem = stack ? "" : "f: no figure";
  return {m, ""};
}

constexpr auto kRam = MemoryKind::Ram, kFlash = MemoryKind::Flash;

struct Row {
  const char* name;
  std::vector<Memory> memories;
  std::int64_t arena, input, output, weights;
  FitMeasurement measurement;
  bool fits;
  std::int64_t ram, flash;
  std::vector<const char*> says;  // by the problems
};

const Row kRows[] = {
    {"no memories", {}, 1000, 10, 20, 500, {std::nullopt, "why"}, true, 1030, 500, {}},
    {"all of it", {memory("ram", kRam, 1030), memory("flash", kFlash, 500)}, 1000, 10, 20, 500, {std::nullopt, "why"}, true, 1030, 500, {}},
    {"a byte of RAM",
     {memory("ram", kRam, 1029)},
     1000,
     10,
     20,
     500,
     {std::nullopt, "why"},
     false,
     1030,
     500,
     {"1 030 bytes of RAM are needed (arena 1 000, inputs 10, outputs 20, and the stack), the target has 1 029 (ram 1 029): 100.1 %"}},
    {"the stack counts", {memory("ram", kRam, 1100)}, 1000, 10, 20, 0, measured(1, 2, 71), false, 1101, 3, {"stack 71"}},
    {"flash",
     {memory("flash", kFlash, 64 << 10)},
     0,
     4,
     4,
     12049200,
     {std::nullopt, "why"},
     false,
     8,
     12049200,
     {"12 049 200 bytes of flash are needed (weights 12 049 200, and the code), the target has 65 536"}},
    {"code counts",
     {memory("flash", kFlash, 600)},
     0,
     4,
     4,
     500,
     measured(90, 11, 8),
     false,
     16,
     601,
     {"weights 500, code 90, library functions 11"}},
    {"two memories together", {memory("a", kRam, 600), memory("b", kRam, 500)}, 600, 400, 100, 0, {std::nullopt, "why"}, true, 1100, 0, {}},
    {"the arena is one block",
     {memory("a", kRam, 600), memory("b", kRam, 600)},
     700,
     10,
     10,
     0,
     {std::nullopt, "why"},
     false,
     720,
     0,
     {"one block each", "a 600 + b 600"}},
    {"no way to place them",
     {memory("a", kRam, 600), memory("b", kRam, 600)},
     400,
     400,
     400,
     0,
     {std::nullopt, "why"},
     false,
     1200,
     0,
     {"no way to place them"}},
    {"weights are one block",
     {memory("a", kFlash, 600), memory("b", kFlash, 600)},
     0,
     4,
     4,
     700,
     {std::nullopt, "why"},
     false,
     8,
     700,
     {"the weights"}},
};

Fit fit_of_row(const Row& row, const char* form = "c") {
  Target target;
  target.name = "board";
  target.memories = row.memories;
  Report report = report_of(row.arena, row.input, row.output, row.weights);
  report.weights_form = form;
  return make_fit(report, target, row.measurement);
}

TEST(Fit, Verdicts) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Fit fit = fit_of_row(row);
    EXPECT_EQ(fit.fits(), row.fits);
    EXPECT_EQ(fit.ram_bytes(), row.ram);
    EXPECT_EQ(fit.flash_bytes(), row.flash);
    std::string problems;
    for (const std::string& p : fit.problems) problems += p + "\n";
    for (const char* part : row.says) EXPECT_NE(problems.find(part), std::string::npos) << part << "\n" << problems;
    if (row.fits)
      EXPECT_NO_THROW(require_fit(fit));
    else
      EXPECT_THROW(require_fit(fit), UserError);
    const auto json = nlohmann::json::parse(to_json(fit));
    const auto& measured = row.measurement.measured;
    const bool knows_all = row.memories.empty() || (measured && measured->stack_bytes);
    EXPECT_EQ(json.at("fits"), row.fits && !knows_all ? nlohmann::json(nullptr) : nlohmann::json(row.fits));
    EXPECT_EQ(to_text(fit).find("as far as is known") != std::string::npos, row.fits && !knows_all) << to_text(fit);
    EXPECT_EQ(json.at("ram").at("used_bytes"), row.ram);
    EXPECT_EQ(json.at("flash").at("weights_bytes"), row.weights);
    EXPECT_EQ(json.at("flash").at("code_bytes").is_null(), !row.measurement.measured);
    EXPECT_EQ(json.at("memories").size(), row.memories.size());
  }
}

// The caller decides where a blob is, which may be outside of all memories that the target names.
TEST(Fit, ABlobIsNotCounted) {
  const Fit fit = fit_of_row(kRows[4], "blob");
  EXPECT_TRUE(fit.fits());
  EXPECT_EQ(fit.flash_bytes(), 0);
  EXPECT_NE(to_text(fit).find("a blob of 12 049 200 of your own placing"), std::string::npos) << to_text(fit);
}

TEST(Fit, SaysWhatIsNotKnown) {
  Row row = kRows[1];
  EXPECT_NE(to_text(fit_of_row(row)).find("not measured: why"), std::string::npos);
  row.measurement = measured(0, 0, std::nullopt);
  EXPECT_NE(to_text(fit_of_row(row)).find("no bound of the stack: f: no figure"), std::string::npos);
  row.memories = {memory("ram", kRam, 1030 * 4), memory("flash", kFlash, 500 * 8)};
  const std::string text = to_text(fit_of_row(row));
  EXPECT_NE(text.find("25.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("12.5 %"), std::string::npos) << text;
}

TEST(Fit, TheLinkersWordCounts) {
  Row row = kRows[0];
  row.measurement = measured(1, 1, 1);
  row.measurement.measured->overflow = "region `flash' overflowed by 12 bytes";
  EXPECT_FALSE(fit_of_row(row).fits());
}

// One block more than memories, none of which can take two blocks. For a few memories this is found out; for many the search is given up.
TEST(Fit, ASearchThatWouldTakeLongIsGivenUp) {
  for (const int memories : {3, 40}) {
    Target target;
    Report report = report_of(0, 0, 0, 0);
    for (int i = 0; i < memories; i++) target.memories.push_back(memory("m", kRam, 100 + i));
    report.inputs.assign(static_cast<std::size_t>(memories) + 1, 71);
    const Fit fit = make_fit(report, target, {std::nullopt, ""});
    EXPECT_EQ(fit.problems.size(), memories == 3 ? 1u : 0u) << "what is not known is not said";
  }
}

}  // namespace
}  // namespace etch::fit_test
