// Pass: moves values out of the loops that they do not depend on.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/builder.h"
#include "codegen/passes.h"

namespace etch {
namespace {

bool reads_accumulator(const UOp* u) {
  return std::ranges::any_of(u->src, [](const UOp* s) { return s->uop == UOpKind::Phi || s->uop == UOpKind::DefineAcc; });
}

// To load and widen a vector again costs no more than to keep it on the stack, where registers for it end soon.
bool is_widened_load(const UOp* u) {
  return u->uop == UOpKind::Cast && u->lanes > 1 && bytes_of(u->src[0]->dtype) <= 2 && u->src[0]->uop == UOpKind::Load;
}

}  // namespace

UOpList hoist_invariants(const UOpList& uops) {
  std::vector<std::vector<const UOp*>> bodies(1);     // of the open scopes, as far as they are written
  std::vector<std::size_t> guarded{0};                // per open scope: the innermost If around it
  std::unordered_map<const UOp*, std::size_t> depth;  // of the scope that a value stands in; look-up only
  std::vector<bool> behind_sums{false};               // per open scope: whether a loop of sums that are vectors was closed in it
  std::unordered_set<const UOp*> widened;             // their Loads too
  for (const UOp* u : uops.order)
    if (is_widened_load(u)) widened.insert({u, u->src[0]});
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::End) {
      bodies.back().push_back(u);
      std::vector<const UOp*> body = std::move(bodies.back());
      const bool sums = std::ranges::any_of(body, [](const UOp* b) { return b->uop == UOpKind::Phi && b->lanes > 1; });
      bodies.pop_back();
      guarded.pop_back();
      behind_sums.pop_back();
      behind_sums.back() = behind_sums.back() || sums;
      bodies.back().insert(bodies.back().end(), body.begin(), body.end());
      continue;
    }
    std::size_t home = bodies.size() - 1;
    const std::size_t here = home;
    if (is_pure(*u) && !reads_accumulator(u) && !widened.contains(u)) {
      home = 0;
      for (const UOp* s : u->src) home = std::max(home, depth.at(s));
      // A load must not move out of the If that guards it.
      if (u->uop == UOpKind::Load) home = std::max(home, std::min(guarded.back(), here));
      // Sums that are vectors need the registers: what is added to them is loaded behind their loop.
      if (u->uop == UOpKind::Load && u->lanes > 1 && behind_sums.back()) home = here;
    }
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      bodies.emplace_back();
      guarded.push_back(u->uop == UOpKind::If ? bodies.size() - 1 : guarded.back());
      behind_sums.push_back(false);
      home = bodies.size() - 1;
    }
    bodies[home].push_back(u);
    depth[u] = u->uop == UOpKind::Phi ? 0 : home;
  }
  return {uops.pool, std::move(bodies[0])};
}

}  // namespace etch
