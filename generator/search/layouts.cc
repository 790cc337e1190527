#include "search/layouts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"

namespace etch {
namespace {

class LayoutDescent {
 public:
  LayoutDescent(const MeasurePrograms& measure, const LayoutSearch& options) : measure_(measure), options_(options) {}

  LayoutResult run(const Ways& known) {
    if (!begin()) return result_;
    if (!known.empty()) try_all({known});
    for (int round = 0; round < options_.most_rounds; round++) {
      const double before = best_score_;
      improve();
      if (best_score_ >= before * gain()) break;
    }
    return result_;
  }

 private:
  static constexpr double kGain = 0.9995;           // more is no gain
  static constexpr std::size_t kFirstProblems = 5;  // that are told

  struct Change {
    std::string key;
    std::optional<int> way;  // of all choices of the key; nullopt: each its usual one
    double score = 0;
  };

  // What the choices of one key, which may differ in the rest, can be and are.
  struct Key {
    std::set<int> ways, usual, taken;
    bool is_usual = true;  // each is taken in its usual way
  };

  bool begin() {
    const MeasuredProgram usual = measure_({Ways()}).at(0);
    if (!usual.cost) {
      result_.problems.push_back(usual.problem);
      return false;
    }
    base_ = usual;
    result_.cost_before = result_.cost = *usual.cost;
    result_.choices = usual.choices;
    result_.measured = 1;
    const Cost& cost = *usual.cost;
    byte_price_ = time_of(cost) / options_.bytes_worth;
    best_score_ = score(cost);
    return true;
  }

  double score(const Cost& cost) const { return score_of(cost, byte_price_); }
  double gain() const { return gain_over(*base_.cost, kGain); }

  // Of the best program.
  std::map<std::string, Key> keys() const {
    std::map<std::string, Key> keys;
    for (const LayoutChoice& choice : result_.choices) {
      Key& key = keys[choice.key];
      key.ways.insert(choice.ways.begin(), choice.ways.end());
      key.usual.insert(choice.usual);
      key.taken.insert(choice.taken);
      key.is_usual = key.is_usual && choice.taken == choice.usual;
    }
    return keys;
  }

  // Each other way of each choice alone, then together those that save something.
  void improve() {
    std::vector<Change> changes;
    std::vector<Ways> alone;
    for (const auto& [key, all] : keys()) {
      if (!all.is_usual) changes.push_back({key, std::nullopt});
      for (const int way : all.ways)
        if (all.taken != std::set{way} && all.usual != std::set{way}) changes.push_back({key, way});
    }
    for (const Change& change : changes) alone.push_back(with(change));
    const double before = best_score_;
    const std::vector<double> scores = try_all(alone);
    for (std::size_t i = 0; i < changes.size(); i++) changes[i].score = scores[i];
    std::erase_if(changes, [&](const Change& c) { return c.score >= before * gain(); });
    std::ranges::sort(changes, {}, [](const Change& c) { return std::tuple(c.score, c.key, c.way); });
    for (const Change& change : changes)
      if (const Ways more = with(change); more != result_.best) try_all({more});
  }

  Ways with(const Change& change) const {
    Ways ways = result_.best;
    if (change.way)
      ways[change.key] = *change.way;
    else
      ways.erase(change.key);
    return ways;
  }

  // Their scores; infinite where a program may not be taken. The best so far becomes the best of them that is better.
  std::vector<double> try_all(const std::vector<Ways>& all) {
    const std::vector<MeasuredProgram> measured = measure_(all);
    check(measured.size() == all.size(), "each program is measured");
    std::vector<double> scores(all.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < all.size(); i++) {
      const MeasuredProgram& program = measured[i];
      if (!program.problem.empty() && result_.problems.size() < kFirstProblems) result_.problems.push_back(program.problem);
      if (!program.cost) continue;
      result_.measured++;
      if (!may_be_taken(program)) continue;
      scores[i] = score(*program.cost);
      if (scores[i] >= best_score_ * gain()) continue;
      best_score_ = scores[i];
      result_.best = all[i];
      result_.cost = *program.cost;
      result_.choices = program.choices;
      for (const auto& [key, choices] : keys())
        if (choices.is_usual) result_.best.erase(key);
    }
    return scores;
  }

  bool may_be_taken(const MeasuredProgram& program) const {
    const Cost &cost = *program.cost, &base = *base_.cost;
    return cost.instructions <= base.instructions && cost.cycles <= base.cycles && program.arena_bytes <= base_.arena_bytes &&
           cost.stack_bytes <= std::max(options_.stack_bytes, base.stack_bytes);
  }

  const MeasurePrograms& measure_;
  const LayoutSearch& options_;
  LayoutResult result_;
  MeasuredProgram base_;
  double byte_price_ = 0, best_score_ = 0;
};

}  // namespace

LayoutResult search_layouts(const Ways& known, const MeasurePrograms& measure, const LayoutSearch& options) {
  return LayoutDescent(measure, options).run(known);
}

}  // namespace etch
