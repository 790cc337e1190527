// Pass: values leave the loops that they do not depend on.
#include <algorithm>
#include <unordered_map>

#include "codegen/builder.h"
#include "codegen/passes.h"

namespace etch {
namespace {

bool reads_accumulator(const UOp* u) {
  return std::ranges::any_of(u->src, [](const UOp* s) { return s->uop == UOpKind::Phi || s->uop == UOpKind::DefineAcc; });
}

}  // namespace

UOpList hoist_invariants(const UOpList& uops) {
  std::vector<std::vector<const UOp*>> bodies(1);     // of the open scopes, as far as they are written
  std::unordered_map<const UOp*, std::size_t> depth;  // of the scope that a value stands in; look-up only
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::End) {
      bodies.back().push_back(u);
      std::vector<const UOp*> body = std::move(bodies.back());
      bodies.pop_back();
      bodies.back().insert(bodies.back().end(), body.begin(), body.end());
      continue;
    }
    std::size_t home = bodies.size() - 1;
    if (is_pure(*u) && !reads_accumulator(u)) {
      home = 0;
      for (const UOp* s : u->src) home = std::max(home, depth.at(s));
    }
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      bodies.emplace_back();
      home = bodies.size() - 1;
    }
    bodies[home].push_back(u);
    depth[u] = u->uop == UOpKind::Phi ? 0 : home;
  }
  return {uops.pool, std::move(bodies[0])};
}

}  // namespace etch
