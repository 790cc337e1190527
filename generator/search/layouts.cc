#include "search/layouts.h"

#include <algorithm>
#include <limits>
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
      if (best_score_ >= before * kGain) break;
    }
    return result_;
  }

 private:
  static constexpr double kGain = 0.9995;           // less is no gain
  static constexpr std::size_t kFirstProblems = 5;  // that are told

  struct Change {
    std::string key;
    int way = 0;
    double score = 0;
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
    byte_price_ = static_cast<double>(cost.instructions + cost.cycles) / options_.bytes_worth;
    best_score_ = score(cost);
    return true;
  }

  double score(const Cost& cost) const {
    return static_cast<double>(cost.instructions + cost.cycles) + byte_price_ * static_cast<double>(cost.code_bytes);
  }

  // Each other way of each choice alone, then together those that save something.
  void improve() {
    std::vector<Change> changes;
    std::vector<Ways> alone;
    std::set<std::string> seen;
    for (const LayoutChoice& choice : result_.choices) {
      if (!seen.insert(choice.key).second) continue;
      for (const int way : choice.ways) {
        if (way == choice.taken) continue;
        changes.push_back({choice.key, way});
        alone.push_back(with(changes.back()));
      }
    }
    const double before = best_score_;
    const std::vector<double> scores = try_all(alone);
    for (std::size_t i = 0; i < changes.size(); i++) changes[i].score = scores[i];
    std::erase_if(changes, [&](const Change& c) { return c.score >= before * kGain; });
    std::ranges::sort(changes, {}, [](const Change& c) { return std::tuple(c.score, c.key, c.way); });
    for (const Change& change : changes)
      if (const Ways more = with(change); more != result_.best) try_all({more});
  }

  Ways with(const Change& change) const {
    Ways ways = result_.best;
    ways[change.key] = change.way;
    for (const LayoutChoice& choice : result_.choices)
      if (choice.key == change.key && choice.usual == change.way) ways.erase(change.key);
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
      if (scores[i] >= best_score_ * kGain) continue;
      best_score_ = scores[i];
      result_.best = all[i];
      result_.cost = *program.cost;
      result_.choices = program.choices;
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
