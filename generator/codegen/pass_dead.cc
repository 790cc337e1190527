// Pass: drop UOps whose value nobody uses.
#include <algorithm>
#include <unordered_set>

#include "codegen/passes.h"

namespace etch {

UOpList remove_dead(const UOpList& uops) {
  std::unordered_set<const UOp*> live;
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

}  // namespace etch
