#include "search/steps.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/passes.h"

namespace etch {
namespace {

constexpr int kMostWalked = 1 << 20;  // UOps: a list is walked once for each turn of a loop that others' bounds depend on

// Walks the list as it runs, but for loops whose turns are all alike, which it walks once.
class Turns {
 public:
  explicit Turns(const UOpList& uops) : order_(uops.order), turns_(uops.order.size()) {
    for (const UOp* u : order_ | std::views::reverse)  // sources stand before what is computed from them
      if (u->uop == UOpKind::Loop || of_bounds_.contains(u)) of_bounds_.insert(u->src.begin(), u->src.end());
  }

  std::optional<std::vector<double>> all() {
    block(0, 1);
    return is_known_ ? std::optional(std::move(turns_)) : std::nullopt;
  }

 private:
  bool decides_bounds(const UOp* u) const { return of_bounds_.contains(u); }

  // Counts what runs from `at` on, so often, up to the End that is not that of a loop or condition in it. Returns the place behind that.
  std::size_t block(std::size_t at, double times) {
    while (at < order_.size() && is_known_) {
      const UOp* u = order_[at];
      if (++walked_ > kMostWalked) is_known_ = false;
      turns_[at++] += times;
      if (decides_bounds(u)) set_value(u);
      if (u->uop == UOpKind::End) break;
      if (u->uop == UOpKind::Loop) at = loop(u, at, times);
      if (u->uop == UOpKind::If) at = block(at, times);
    }
    return at;
  }

  std::size_t loop(const UOp* u, std::size_t body, double times) {
    const std::optional<Scalar> first = value(u->src[0]), end = value(u->src[1]);
    if (!first || !end) is_known_ = false;
    if (!is_known_) return body;
    const std::int64_t turns = std::max<std::int64_t>(end->as_int() - first->as_int(), 0);
    const bool is_walked = decides_bounds(u) && turns > 0;
    std::size_t behind = body;
    for (std::int64_t i = 0; i < (is_walked ? turns : 1) && is_known_; i++) {
      values_.insert_or_assign(u, Scalar::of_int(u->dtype, first->as_int() + i));
      behind = block(body, is_walked ? times : times * static_cast<double>(turns));
    }
    return behind;
  }

  std::optional<Scalar> value(const UOp* u) const {
    const auto known = values_.find(u);
    return known == values_.end() ? std::nullopt : std::optional(known->second);
  }

  // Of a step that runs, if it is a number that those before it decide.
  void set_value(const UOp* u) {
    std::optional<Scalar> result = u->uop == UOpKind::Const ? u->value : std::nullopt;
    std::vector<Scalar> sources;
    for (const UOp* source : u->src)
      if (const std::optional<Scalar> known = value(source)) sources.push_back(*known);
    const bool is_known = !u->src.empty() && sources.size() == u->src.size();
    if (is_known && u->uop == UOpKind::Cast) result = sources[0].cast(u->dtype);
    if (is_known && u->uop == UOpKind::Alu) result = evaluate(u->op, u->src.back()->dtype, sources);
    if (result) values_.insert_or_assign(u, *result);
  }

  const std::vector<const UOp*>& order_;
  std::vector<double> turns_;                 // so far, of each of them
  std::unordered_set<const UOp*> of_bounds_;  // what bounds of loops are computed from
  std::unordered_map<const UOp*, Scalar> values_;
  int walked_ = 0;
  bool is_known_ = true;
};

}  // namespace

std::optional<std::vector<double>> turns_of(const UOpList& uops) { return Turns(uops).all(); }

double steps_executed(const UOpList& uops, const std::vector<double>& turns) {
  double steps = 0;
  for (std::size_t i = 0; i < turns.size(); i++)
    if (uops.order[i]->uop != UOpKind::Const) steps += turns[i];
  return steps;
}

std::optional<double> steps_executed(const UOpList& uops) {
  const std::optional<std::vector<double>> turns = turns_of(uops);
  return turns ? std::optional(steps_executed(uops, *turns)) : std::nullopt;
}

}  // namespace etch
