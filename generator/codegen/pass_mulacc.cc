// Pass: fuses a product that is used only in one addition with that addition.
#include <unordered_map>

#include "codegen/passes.h"
#include "codegen/rebuild.h"

namespace etch {

UOpList fuse_mulacc(const UOpList& uops) {
  std::unordered_map<const UOp*, int> uses;  // look-up only
  for (const UOp* u : uops.order)
    for (const UOp* s : u->src) uses[s]++;
  return rebuild(uops, [&](UOpBuilder& b, UOp u, const UOp* original) {
    const bool sums = u.uop == UOpKind::Alu && u.op == Op::Add && !u.exact && u.dtype != DType::Float16 && u.dtype != DType::BFloat16;
    if (!sums) return add_again(b, std::move(u), original);
    const bool reads_acc = u.src[0]->uop == UOpKind::Phi || u.src[0]->uop == UOpKind::DefineAcc;
    const UOp* product = u.src[1];
    if (!reads_acc || product->uop != UOpKind::Alu || product->op != Op::Mul || product->exact || uses[original->src[1]] != 1)
      return add_again(b, std::move(u), original);
    return b.alu(Op::MulAcc, u.dtype, {product->src[0], product->src[1], u.src[0]});
  });
}

}  // namespace etch
