#include "codegen/builder.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace etch {

bool is_pure(const UOp& u) {
  if (has_effect(u.uop) || u.uop == UOpKind::DefineAcc) return false;
  return u.uop != UOpKind::Load || u.src[0]->uop != UOpKind::DefineLocal;
}

std::size_t UOpBuilder::Hash::operator()(const UOp* u) const {
  std::size_t h = hash_mix(static_cast<std::size_t>(u->uop) * 64 + static_cast<std::size_t>(u->op), static_cast<std::uint64_t>(u->number));
  h = hash_mix(h, static_cast<std::uint64_t>(u->dtype) * 4096 + static_cast<std::uint64_t>(u->lanes) * 2 + (u->exact ? 1 : 0));
  if (u->value) h = hash_mix(h, u->value->bits());
  for (const UOp* s : u->src) h = hash_mix(h, static_cast<std::uint64_t>(s->serial));
  for (char c : u->name) h = hash_mix(h, static_cast<std::uint64_t>(c));
  return h;
}

const UOp* UOpBuilder::add(UOp uop) {
  if (is_pure(uop)) {
    uop.serial = -1;
    if (auto found = known_.find(&uop); found != known_.end()) return *found;
  }
  if (uop.hint.empty() && !uop.exact) uop.hint = copy_;
  const UOp* u = list_.make(std::move(uop));
  list_.order.push_back(u);
  opened(u);
  return u;
}

const UOp* UOpBuilder::add(const UOp* u) {
  if (is_pure(*u))
    if (auto found = known_.find(u); found != known_.end()) return *found;
  list_.order.push_back(u);
  opened(u);
  return u;
}

void UOpBuilder::opened(const UOp* u) {
  if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) scopes_.emplace_back();
  if (!is_pure(*u)) return;
  known_.insert(u);
  scopes_.back().push_back(u);
}

void UOpBuilder::end(const UOp* start) {
  for (const UOp* u : scopes_.back()) known_.erase(u);
  scopes_.pop_back();
  list_.order.push_back(list_.make(UOp{.uop = UOpKind::End, .src = {start}}));
}

const UOp* UOpBuilder::alu(Op op, DType dtype, std::vector<const UOp*> src, bool exact) {
  int lanes = 1;
  for (const UOp* s : src) lanes = std::max(lanes, s->lanes);
  return add(UOp{.uop = UOpKind::Alu, .dtype = dtype, .lanes = lanes, .src = std::move(src), .op = op, .exact = exact});
}

const UOp* UOpBuilder::cast(const UOp* a, DType dtype) {
  if (a->dtype == dtype) return a;
  return add(UOp{.uop = UOpKind::Cast, .dtype = dtype, .lanes = a->lanes, .src = {a}});
}

}  // namespace etch
