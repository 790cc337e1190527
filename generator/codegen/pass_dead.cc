// Pass: drop UOps whose value nobody uses.
#include <algorithm>
#include <unordered_set>

#include "codegen/passes.h"

namespace etch {

namespace {

// What is left where `live` is known to be used; adds all else that is.
UOpList kept_of(const UOpList& uops, std::unordered_set<const UOp*>& live) {
  UOpList kept{uops.pool, {}};
  // Backwards: by the time we reach a UOp, every use of it has been seen. An empty loop is just its End.
  std::vector<std::size_t> ends;
  for (auto it = uops.order.rbegin(); it != uops.order.rend(); it++) {
    const UOp* u = *it;
    if (u->uop == UOpKind::End) {
      ends.push_back(kept.order.size());
      kept.order.push_back(u);
      continue;
    }
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      const bool is_empty = ends.back() + 1 == kept.order.size();
      ends.pop_back();
      if (is_empty) {
        kept.order.pop_back();
        continue;
      }
    } else if (u->uop == UOpKind::Phi ? !live.contains(u) && !live.contains(u->src[0]) : !has_effect(u->uop) && !live.contains(u)) {
      continue;
    }
    kept.order.push_back(u);
    live.insert(u);
    live.insert(u->src.begin(), u->src.end());
  }
  std::reverse(kept.order.begin(), kept.order.end());
  return kept;
}

}  // namespace

// An accumulator that a loop reads before it changes it is seen to be used too late for its Phi, which stands behind: then once more.
UOpList remove_dead(const UOpList& uops) {
  std::unordered_set<const UOp*> live;
  while (true) {
    UOpList kept = kept_of(uops, live);
    const auto is_missed = [&](const UOp* u) { return u->uop == UOpKind::Phi && !live.contains(u) && live.contains(u->src[0]); };
    if (std::ranges::none_of(uops.order, is_missed)) return kept;
    for (const UOp* u : uops.order)
      if (is_missed(u)) live.insert(u);
  }
}

}  // namespace etch
