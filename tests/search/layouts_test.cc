// The search for ways of choices, on costs that are made up: what trying every program finds, and what may not be taken.
#include "search/layouts.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace etch {
namespace {

constexpr std::int64_t kBase = 1'000'000;

// Choices of two or three ways, of which way 0 is usual; a way saves or costs something, two of them together something more.
struct Made {
  std::vector<int> counts;
  std::map<std::pair<int, int>, std::int64_t> alone{};     // by choice and way
  std::map<std::pair<int, int>, std::int64_t> together{};  // of the ways 1 of two choices
  std::int64_t arena_of_last = 0;                          // more with way 1 of the last choice
  int calls = 0;

  static std::string key(int choice) { return "key" + std::to_string(choice); }

  MeasuredProgram program(const Ways& ways) const {
    MeasuredProgram p;
    std::int64_t cost = kBase;
    std::vector<int> way(counts.size(), 0);
    for (std::size_t c = 0; c < counts.size(); c++) {
      if (const auto found = ways.find(key(static_cast<int>(c))); found != ways.end()) way[c] = found->second;
      std::vector<int> all(static_cast<std::size_t>(counts[c]));
      for (std::size_t w = 0; w < all.size(); w++) all[w] = static_cast<int>(w);
      p.choices.push_back({key(static_cast<int>(c)), "made", all, 0, way[c]});
      if (const auto found = alone.find({static_cast<int>(c), way[c]}); found != alone.end()) cost += found->second;
    }
    for (const auto& [two, more] : together)
      if (way[static_cast<std::size_t>(two.first)] == 1 && way[static_cast<std::size_t>(two.second)] == 1) cost += more;
    p.cost = Cost{cost, cost, 1000, 100};
    p.arena_bytes = 100 + (way.back() == 1 ? arena_of_last : 0);
    return p;
  }

  MeasurePrograms measure() {
    return [this](const std::vector<Ways>& all) {
      std::vector<MeasuredProgram> result;
      for (const Ways& ways : all) result.push_back(program(ways)), calls++;
      return result;
    };
  }

  // Of all programs, or of those alone that differ from the usual one in one choice.
  std::int64_t least(bool of_one) const {
    std::int64_t best = kBase;
    Ways ways;
    const auto visit = [&](const auto& self, std::size_t c, int changed) -> void {
      if (of_one && changed > 1) return;
      if (c == counts.size()) return void(best = std::min(best, program(ways).cost->instructions));
      for (int w = 0; w < counts[c]; w++) {
        ways[key(static_cast<int>(c))] = w;
        self(self, c + 1, changed + (w != 0));
      }
    };
    visit(visit, 0, 0);
    return best;
  }
};

Made random_costs(std::mt19937& rng, bool has_pairs) {
  Made made;
  for (int c = 0; c < 4; c++) {
    made.counts.push_back(2 + static_cast<int>(rng() % 2));
    for (int w = 1; w < made.counts.back(); w++) made.alone[{c, w}] = static_cast<std::int64_t>(rng() % 100'000) - 60'000;
  }
  if (has_pairs)
    for (int c = 0; c < 3; c++) made.together[{c, c + 1}] = static_cast<std::int64_t>(rng() % 100'000) - 50'000;
  return made;
}

TEST(LayoutSearch, finds_what_trying_everything_finds_where_choices_do_not_meet) {
  std::mt19937 rng(1);
  for (int round = 0; round < 40; round++) {
    Made made = random_costs(rng, false);
    const LayoutResult result = search_layouts({}, made.measure(), {});
    // What gains less than a two thousandth is no gain.
    EXPECT_LE(result.cost.instructions, made.least(false) + 4 * kBase / 2000) << round;
    EXPECT_EQ(made.program(result.best).cost, result.cost);
    EXPECT_LE(made.calls, 40);
  }
}

TEST(LayoutSearch, is_no_worse_than_any_single_change_where_choices_meet) {
  std::mt19937 rng(2);
  int all = 0;
  for (int round = 0; round < 60; round++) {
    Made made = random_costs(rng, true);
    const LayoutResult result = search_layouts({}, made.measure(), {}), again = search_layouts({}, made.measure(), {});
    EXPECT_LE(result.cost.instructions, made.least(true)) << round;
    EXPECT_EQ(result.best, again.best);
    all += result.cost.instructions <= made.least(false) + 4 * kBase / 2000 ? 1 : 0;
  }
  EXPECT_GT(all, 30);
}

// Two changes of which each alone costs more: found if they are known already.
TEST(LayoutSearch, begins_with_what_is_known) {
  Made made{.counts = {2, 2}, .alone = {{{0, 1}, 5000}, {{1, 1}, 5000}}, .together = {{{0, 1}, -50'000}}};
  const Ways known{{Made::key(0), 1}, {Made::key(1), 1}};
  EXPECT_EQ(search_layouts({}, made.measure(), {}).best, Ways());
  EXPECT_EQ(search_layouts(known, made.measure(), {}).best, known);
  made.together.clear();
  EXPECT_EQ(search_layouts(known, made.measure(), {}).best, Ways()) << "what is known may be out of date";
}

TEST(LayoutSearch, takes_no_more_memory_and_no_program_that_fails) {
  Made made{.counts = {2, 2}, .alone = {{{0, 1}, -9000}, {{1, 1}, -90'000}}, .arena_of_last = 1};
  EXPECT_EQ(search_layouts({}, made.measure(), {}).best, (Ways{{Made::key(0), 1}}));
  made.arena_of_last = 0;
  const MeasurePrograms right = made.measure(), fails = [&](const std::vector<Ways>& all) {
    std::vector<MeasuredProgram> result = right(all);
    for (std::size_t i = 0; i < all.size(); i++)
      if (all[i].contains(Made::key(1))) result[i].cost.reset(), result[i].problem = "the self-test fails";
    return result;
  };
  const LayoutResult result = search_layouts({}, fails, {});
  EXPECT_EQ(result.best, (Ways{{Made::key(0), 1}}));
  ASSERT_FALSE(result.problems.empty());
  EXPECT_EQ(result.problems[0], "the self-test fails");
}

// Times spread: a way that is two percent faster may be one that only seems to be.
TEST(LayoutSearch, times_have_to_be_clearly_less) {
  for (const std::int64_t saved : {20'000, 50'000}) {
    Made made{.counts = {2}, .alone = {{{0, 1}, -saved}}};
    const MeasurePrograms counted = made.measure(), timed = [&](const std::vector<Ways>& all) {
      std::vector<MeasuredProgram> result = counted(all);
      for (MeasuredProgram& p : result) p.cost->instructions = 0;
      return result;
    };
    EXPECT_EQ(search_layouts({}, counted, {}).best.size(), 1u);
    EXPECT_EQ(search_layouts({}, timed, {}).best.size(), saved == 50'000 ? 1u : 0u);
  }
}

// Two choices of one key, usual in ways 1 and 3 as in a network where what follows them differs: no row is not the same as a row with one
// of these ways.
TEST(LayoutSearch, choices_of_one_key_may_have_different_usual_ways) {
  std::map<std::pair<int, int>, std::int64_t> cost;  // by the ways of the two
  const MeasurePrograms measure = [&](const std::vector<Ways>& all) {
    std::vector<MeasuredProgram> result;
    for (const Ways& ways : all) {
      const auto found = ways.find("key");
      const auto taken = [&](int usual) { return found == ways.end() ? usual : found->second; };
      MeasuredProgram p{Cost{cost[{taken(1), taken(3)}], kBase, 1000, 0}, 0, "", {}};
      for (const int usual : {1, 3}) p.choices.push_back({"key", "order", {0, 1, 3}, usual, taken(usual)});
      result.push_back(p);
    }
    return result;
  };
  for (const int best : {0, 1, 3}) {
    cost = {{{1, 3}, 900'000}, {{0, 0}, 950'000}, {{1, 1}, 950'000}, {{3, 3}, 950'000}};
    cost[{best, best}] = 500'000;
    EXPECT_EQ(search_layouts({}, measure, {}).best, (Ways{{"key", best}}));
    EXPECT_EQ(search_layouts({{"key", best}}, measure, {.most_rounds = 0}).best, (Ways{{"key", best}})) << "a row that is known stays";
  }
  cost = {{{1, 3}, 900'000}, {{0, 0}, 950'000}, {{1, 1}, 950'000}, {{3, 3}, 950'000}};
  EXPECT_EQ(search_layouts({{"key", 1}}, measure, {}).best, Ways());
}

// Rows that say what is usual, and those that can't be taken, are none that was found.
TEST(LayoutSearch, leaves_out_known_ways_that_change_nothing) {
  Made made{.counts = {2, 2}, .alone = {{{1, 1}, -50'000}}};
  const Ways known{{Made::key(0), 0}, {Made::key(1), 1}};
  EXPECT_EQ(search_layouts(known, made.measure(), {}).best, (Ways{{Made::key(1), 1}}));
}

// Where flash counts, what saves little may not add much to it.
TEST(LayoutSearch, weighs_flash) {
  const MeasurePrograms measure = [](const std::vector<Ways>& all) {
    std::vector<MeasuredProgram> result;
    for (const Ways& ways : all) {
      const bool is_large = ways.contains("key");
      MeasuredProgram p{Cost{is_large ? 990'000 : kBase, kBase, is_large ? 5000 : 1000, 0}, 0, "", {}};
      p.choices.push_back({"key", "made", {0, 1}, 0, is_large ? 1 : 0});
      result.push_back(p);
    }
    return result;
  };
  EXPECT_EQ(search_layouts({}, measure, {.bytes_worth = 0x1p30}).best, (Ways{{"key", 1}}));
  EXPECT_EQ(search_layouts({}, measure, {.bytes_worth = 0x1p15}).best, Ways());
}

}  // namespace
}  // namespace etch
