#include "search/steps.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "codegen/passes.h"

namespace etch {
namespace {

constexpr int kMostWalked = 1 << 20;  // UOps: a list is walked once for each turn of a loop that others' bounds depend on

// Walks the list as it runs, but for loops whose turns are all alike, which it walks once.
class Steps {
 public:
  explicit Steps(const UOpList& uops) : order_(uops.order) {
    for (const UOp* u : order_)
      if (u->uop == UOpKind::Loop)
        for (const UOp* bound : u->src) find_loops(bound);
  }

  std::optional<double> all() {
    std::size_t at = 0;
    const double steps = block(at);
    return is_known_ ? std::optional(steps) : std::nullopt;
  }

 private:
  void find_loops(const UOp* u) {
    if (!seen_.insert(u).second) return;
    for (const UOp* source : u->src) find_loops(source);
  }

  bool decides_bounds(const UOp* loop) const { return seen_.contains(loop); }

  // Of the steps from `at` to the End that is not theirs, behind which `at` is then.
  double block(std::size_t& at) {
    double steps = 0;
    while (at < order_.size() && is_known_) {
      const UOp* u = order_[at++];
      if (++walked_ > kMostWalked) is_known_ = false;
      if (u->uop == UOpKind::Loop)
        steps += 1 + loop(u, at);
      else if (u->uop == UOpKind::If)
        steps += 1 + block(at);
      else if (u->uop != UOpKind::Const)
        steps += 1;
      if (u->uop == UOpKind::End) break;
    }
    return steps;
  }

  double loop(const UOp* u, std::size_t& at) {
    const std::optional<Scalar> first = value(u->src[0]), end = value(u->src[1]);
    if (!first || !end) is_known_ = false;
    if (!is_known_) return 0;
    const std::int64_t turns = end->as_int() - first->as_int();
    const std::size_t body = at;
    double steps = 0;
    std::int64_t i = 0;
    do {  // also the body of a loop without turns, which has to be passed
      at = body;
      indices_.insert_or_assign(u, Scalar::of_int(u->dtype, first->as_int() + i));
      steps += block(at);
    } while (++i < turns && decides_bounds(u) && is_known_);
    return turns <= 0 ? 0 : decides_bounds(u) ? steps : static_cast<double>(turns) * steps;
  }

  std::optional<Scalar> value(const UOp* u) const {
    if (u->uop == UOpKind::Const) return u->value;
    if (const auto index = indices_.find(u); index != indices_.end()) return index->second;
    if (u->uop != UOpKind::Alu && u->uop != UOpKind::Cast) return std::nullopt;
    std::vector<Scalar> sources;
    for (const UOp* source : u->src) {
      const std::optional<Scalar> of_source = value(source);
      if (!of_source) return std::nullopt;
      sources.push_back(*of_source);
    }
    return u->uop == UOpKind::Cast ? sources[0].cast(u->dtype) : evaluate(u->op, u->src.back()->dtype, sources);
  }

  const std::vector<const UOp*>& order_;
  std::set<const UOp*> seen_;  // what bounds of loops are computed from
  std::map<const UOp*, Scalar> indices_;
  int walked_ = 0;
  bool is_known_ = true;
};

}  // namespace

std::optional<double> steps_executed(const UOpList& uops) { return Steps(uops).all(); }

}  // namespace etch
