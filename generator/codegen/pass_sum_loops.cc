// Pass: replaces a loop that adds the same value in every iteration by a product.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "codegen/passes.h"
#include "codegen/rebuild.h"

namespace etch {
namespace {

// For each Phi that can leave its innermost loop: that loop. Look-up only.
using LoopOf = std::unordered_map<const UOp*, const UOp*>;

// The loop's number of iterations as a factor in `dtype`; nullopt if it is not known or not exact in `dtype`.
std::optional<Scalar> trips(const UOp* loop, DType dtype) {
  if (loop->uop != UOpKind::Loop || loop->src[0]->uop != UOpKind::Const || loop->src[1]->uop != UOpKind::Const) return std::nullopt;
  const std::int64_t n = loop->src[1]->value->as_int() - loop->src[0]->value->as_int();
  const bool is_narrow = dtype == DType::Float16 || dtype == DType::BFloat16;
  if (n <= 0 || is_narrow || (is_float(dtype) && n > (1 << 24))) return std::nullopt;
  return Scalar::of_int(dtype, n);
}

// For each Phi whose accumulator the loop changes only by adding values from outside the loop: that loop.
LoopOf find(const UOpList& uops) {
  std::unordered_map<const UOp*, const UOp*> scope;  // the innermost scope that each UOp stands in
  std::vector<const UOp*> open;
  struct Chain {
    std::vector<const UOp*> phis;
    bool ok = true;
  };
  LoopOf loop_of;
  std::unordered_map<const UOp*, std::unordered_map<const UOp*, Chain>> chains;  // by loop, by accumulator
  for (const UOp* u : uops.order) {
    const UOp* inside = open.empty() ? nullptr : open.back();
    scope[u] = inside;
    // A running sum is read in the loop: each of its values counts.
    if (u->uop == UOpKind::Store || u->uop == UOpKind::StoreColumns)
      for (const UOp* o : open)
        for (auto& [acc, chain] : chains[o]) chain.ok = false;
    if (u->uop == UOpKind::Phi && inside != nullptr) {
      const UOp* acc = u->src[0];
      const UOp* v = u->src[1];
      // A Phi in an inner loop makes the chains of the outer loops invalid.
      for (const UOp* o : open)
        if (o != inside) chains[o][acc].ok = false;
      Chain& chain = chains[inside][acc];
      const UOp* before = chain.phis.empty() ? acc : chain.phis.back();
      const bool is_sum = scope.at(acc) != inside && v->uop == UOpKind::Alu && v->op == Op::Add && v->src[0] == before &&
                          scope.at(v->src[1]) != inside && v->src[1]->uop != UOpKind::Phi && v->src[1]->uop != UOpKind::DefineAcc &&
                          scope.at(v) == inside;
      chain.ok = chain.ok && is_sum && trips(inside, acc->dtype);
      chain.phis.push_back(u);
    }
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) open.push_back(u);
    if (u->uop != UOpKind::End) continue;
    for (const auto& [acc, chain] : chains[open.back()])
      for (const UOp* phi : chain.phis)
        if (chain.ok && !phi->src.empty()) loop_of[phi] = open.back();
    open.pop_back();
  }
  return loop_of;
}

}  // namespace

UOpList sum_loops(const UOpList& uops) {
  const LoopOf loop_of = find(uops);
  if (loop_of.empty()) return uops;
  // The Phis of a loop move in front of it, where the values that they add are known.
  std::unordered_map<const UOp*, std::vector<const UOp*>> before;
  for (const UOp* u : uops.order)
    if (const auto found = loop_of.find(u); found != loop_of.end()) before[found->second].push_back(u);
  UOpBuilder b(uops);
  std::unordered_map<const UOp*, const UOp*> now;
  const auto again = [&](const UOp* u) {
    UOp copy = *u;
    for (const UOp*& s : copy.src) s = now.at(s);
    now[u] = add_again(b, std::move(copy), u);
  };
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::End) {
      b.end(now.at(u->src[0]));
      continue;
    }
    if (loop_of.contains(u)) continue;
    if (const auto found = before.find(u); found != before.end()) {
      for (const UOp* phi : found->second) {
        const UOp* add = phi->src[1];
        const UOp* term = now.at(add->src[1]);
        const UOp* product = b.alu(Op::Mul, term->dtype, {term, b.constant(*trips(u, term->dtype))});
        const UOp* previous = now.at(add->src[0]);
        const UOp* sum = b.alu(Op::Add, phi->dtype, {previous, product});
        now[phi] = b.add(UOp{.uop = UOpKind::Phi, .dtype = phi->dtype, .lanes = phi->lanes, .src = {now.at(phi->src[0]), sum}});
      }
    }
    // The addition whose operands a moved Phi has taken is unused now and dropped.
    const bool reads_moved = std::ranges::any_of(u->src, [&](const UOp* s) { return !now.contains(s); });
    if (!reads_moved) again(u);
  }
  return b.finish();
}

}  // namespace etch
