// Steps that one function of etch_quant.h or etch_math.h does together: rounding and conversion to int32, the product in front of them, and
// conversion to a smaller integer type behind both of its bounds.
#include <algorithm>

#include "renderer/cstyle.h"
#include "renderer/render.h"

namespace etch {
namespace {

bool is_alu(const UOp* u, Op op) { return u->uop == UOpKind::Alu && u->op == op; }

// int32(rint(x))
bool rounds(const UOp* u) {
  if (u->uop != UOpKind::Cast || u->dtype != DType::Int32) return false;
  return u->src[0]->dtype == DType::Float32 && (is_alu(u->src[0], Op::Rint) || is_alu(u->src[0], Op::RintSmall));
}

// What `u`, a bound of an int32, bounds; nullptr if the bound is another.
const UOp* bounded_by(const UOp* u, Op op, std::int64_t bound) {
  if (!is_alu(u, op) || u->dtype != DType::Int32 || u->lanes > 1) return nullptr;
  for (const std::size_t k : {0, 1})
    if (const UOp* c = u->src[k]; c->uop == UOpKind::Const && c->value->as_int() == bound) return u->src[1 - k];
  return nullptr;
}

}  // namespace

void Renderer::find_fused(const UOp* u) {
  if (u->uop != UOpKind::Cast || !may_inline_.at(u->src[0])) return;
  if (rounds(u)) return find_rounding(u);
  if (u->lanes > 1) return;
  const bool is_narrow = bytes_of(u->dtype) <= 2 && is_int(u->dtype);
  const Op orders[][2] = {{Op::Min, Op::Max}, {Op::Max, Op::Min}};
  for (const auto& [outer, inner] : orders) {
    const auto limit = [&](Op op) { return op == Op::Min ? int_max(u->dtype) : int_min(u->dtype); };
    const UOp* below = is_narrow ? bounded_by(u->src[0], outer, limit(outer)) : nullptr;
    const UOp* x = below != nullptr && may_inline_.at(below) ? bounded_by(below, inner, limit(inner)) : nullptr;
    if (x == nullptr) continue;
    parts_.insert({u->src[0], below});
    fused_[u] = {"saturate_" + std::string(short_name(u->dtype)), {x}};
  }
}

void Renderer::find_rounding(const UOp* u) {
  const UOp *rint = u->src[0], *product = rint->src[0];
  if (u->lanes == 1) {
    parts_.insert(rint);
    fused_[u] = {"rint_i32", {product}};
  }
  if (rint->op != Op::RintSmall || !is_alu(product, Op::Mul) || !may_inline_.at(product)) return;
  for (const std::size_t k : {0, 1}) {
    const UOp* value = product->src[k];
    if (value->uop != UOpKind::Cast || value->src[0]->dtype != DType::Int32 || !may_inline_.at(value)) continue;
    if (value->lanes != u->lanes) continue;
    parts_.insert({rint, product, value});
    fused_[u] = {"requantise", {value->src[0], product->src[1 - k]}, u->lanes};
    return;
  }
}

Renderer::Expr Renderer::fused(const Fused& f) {
  std::string text;
  int depth = 0;
  for (const UOp* u : f.operands) {
    text += (text.empty() ? "" : ", ") + (f.lanes > 1 ? in_all_lanes(u, f.lanes) : expr(u).text);
    depth = std::max(depth, expr(u).depth);
  }
  if (f.lanes > 1) facts_.uses_vectors = true;
  return {helper(f.function + (f.lanes > 1 ? "_x" + std::to_string(f.lanes) : "")) + "(" + text + ")", kAtom, depth + 1};
}

// A sum of which the text needs no detour over an unsigned type: what is requantised is at most 2^30.
std::optional<Renderer::Expr> Renderer::zero_point_added(const UOp* u) {
  if (!is_alu(u, Op::Add) || u->dtype != DType::Int32 || u->lanes > 1) return std::nullopt;
  const auto found = fused_.find(u->src[0]);
  const UOp* zero = u->src[1];
  if (found == fused_.end() || found->second.function != "requantise" || zero->uop != UOpKind::Const) return std::nullopt;
  const std::int64_t n = zero->value->as_int();
  if (n <= -(std::int64_t{1} << 30) || n >= std::int64_t{1} << 30) return std::nullopt;
  const Expr& e = expr(u->src[0]);
  return Expr{e.text + (n < 0 ? " - " : " + ") + std::to_string(n < 0 ? -n : n), kSum, e.depth + 1};
}

}  // namespace etch
