// Pass: names the index of a tile's first element in a loop over tiles.
#include <unordered_map>

#include "codegen/passes.h"
#include "codegen/rebuild.h"

namespace etch {

UOpList name_tile_starts(const UOpList& uops) {
  std::unordered_map<const UOp*, const UOp*> starts;  // by loop; look-up only
  return rebuild(uops, [&](UOpBuilder& b, UOp u, const UOp* original) -> const UOp* {
    if (u.uop == UOpKind::Loop && u.number > 1) {
      const UOp* loop = add_again(b, std::move(u), original);
      const UOp* tile = b.constant(Scalar::of_int(loop->dtype, loop->number));
      UOp start{.uop = UOpKind::Alu, .dtype = loop->dtype, .src = {loop, tile}, .op = Op::Mul, .exact = true, .hint = loop->hint};
      starts[loop] = b.add(std::move(start));
      return loop;
    }
    const bool is_product = u.uop == UOpKind::Alu && u.op == Op::Mul && u.exact && u.src[1]->uop == UOpKind::Const;
    const auto found = is_product ? starts.find(u.src[0]) : starts.end();
    if (found == starts.end() || u.src[1]->value->as_int() % found->first->number != 0) return add_again(b, std::move(u), original);
    const std::int64_t tiles = u.src[1]->value->as_int() / found->first->number;
    if (tiles == 1) return found->second;
    return b.alu(Op::Mul, u.dtype, {found->second, b.constant(Scalar::of_int(u.dtype, tiles))}, true);
  });
}

}  // namespace etch
