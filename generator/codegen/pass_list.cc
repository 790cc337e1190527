// All passes, in their order.
#include "codegen/passes.h"

namespace etch {

UOpList optimize(const UOpList& uops) {
  verify(uops, "linearize");
  struct Pass {
    const char* name;
    UOpList (*run)(const UOpList&);
  };
  static constexpr Pass kPasses[] = {
      {"fold_constants", fold_constants},
      {"hoist_invariants", hoist_invariants},
      {"sum_loops", sum_loops},
      {"hoist_invariants", hoist_invariants},
      {"sum_loops", sum_loops},
      {"fold_constants", fold_constants},
      {"fuse_mulacc", fuse_mulacc},
      {"remove_dead", remove_dead},
      {"name_tile_starts", name_tile_starts},
      {"remove_dead", remove_dead},
  };
  UOpList now = uops;
  for (const Pass& pass : kPasses) {
    now = pass.run(now);
    verify(now, pass.name);
  }
  return now;
}

}  // namespace etch
