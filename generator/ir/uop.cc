#include "ir/uop.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"

namespace etch {
namespace {

std::string describe(const UOp& u) {
  std::string text(name_of(u.uop));
  if (u.uop == UOpKind::Alu) text += " " + std::string(name_of(u.op));
  if (u.uop == UOpKind::End || u.uop == UOpKind::Barrier || u.uop == UOpKind::If) return text;
  text += " " + std::string(name_of(u.dtype));
  if (u.lanes > 1) text += "x" + std::to_string(u.lanes);
  if (u.exact) text += " exact";
  if (u.value) text += " " + u.value->to_text();
  if (!u.name.empty()) text += " " + u.name;
  switch (u.uop) {
    case UOpKind::DefineGlobal:
    case UOpKind::DefineLocal:
    case UOpKind::DefineAcc:
    case UOpKind::Special:
    case UOpKind::Gep:
    case UOpKind::Dot:
    case UOpKind::Wmma:
    case UOpKind::Prefetch:
      text += " " + std::to_string(u.number);
      break;
    case UOpKind::DefineVar:
    case UOpKind::Loop:
    case UOpKind::If:
    case UOpKind::End:
    case UOpKind::Barrier:
    case UOpKind::Const:
    case UOpKind::Load:
    case UOpKind::Store:
    case UOpKind::StoreColumns:
    case UOpKind::Phi:
    case UOpKind::Alu:
    case UOpKind::Cast:
    case UOpKind::Bitcast:
    case UOpKind::Vectorize:
      break;
  }
  if (u.uop == UOpKind::DefineLocal) text += " [" + std::to_string(u.size) + "]";
  return text;
}

const char* broken_load_rule(const UOp& u) {
  const auto n = u.src.size();
  if (n != 2 && n != 4) return "a load has buffer, index, and perhaps condition and alternative";
  if (u.src[1]->lanes != 1 || is_float(u.src[1]->dtype)) return "an index is one integer";
  if (n == 4 && u.src[2]->dtype != DType::Bool) return "a condition is bool";
  if (n == 4 && (u.src[3]->dtype != u.dtype || u.src[3]->lanes > u.lanes)) return "the alternative has the type of the load";
  if (is_unsigned(u.dtype) && bytes_of(u.dtype) == bytes_of(u.src[0]->dtype)) return nullptr;
  return u.src[0]->dtype == u.dtype ? nullptr : "a load has the type of its buffer, or takes its bits as an unsigned integer";
}

const char* broken_columns_rule(const UOp& u) {
  const auto n = std::ssize(u.src) - kBeforeColumns;
  if (n != kStoredColumns && (n != u.lanes || (n != 8 && n != 16)))
    return "a store of columns has buffer, index, distance of rows and four vectors, or as many as 8 or 16 lanes";
  for (std::size_t i = kBeforeColumns; i < u.src.size(); i++)
    if ((u.src[i]->lanes != u.lanes && u.src[i]->lanes != 1) || u.src[i]->dtype != u.src[0]->dtype)
      return "each column is a vector of the buffer's type";
  return u.lanes % kStoredColumns == 0 ? nullptr : "the lanes of columns are a multiple of four";
}

const char* broken_dot_rule(const UOp& u) {
  const auto n = u.src.size();
  if (n != 3 || u.src[0]->dtype != u.dtype || u.src[0]->lanes != u.lanes) return "a dot product has a sum of its type and two operands";
  if (u.value)
    return u.lanes == 1 && u.src[1]->lanes == 2 * u.size && u.src[2]->lanes == u.size ? nullptr
                                                                                      : "a step has two elements of a for each of b";
  for (std::size_t i = 1; i < n; i++)
    if (u.src[i]->lanes != u.size && u.src[i]->lanes != u.size * u.lanes) return "an operand has its elements for one lane or for all";
  return nullptr;
}

const char* broken_wmma_rule(const UOp& u) {
  const auto n = u.src.size();
  if (static_cast<int>(n) < u.lanes + 2) return "a matrix product has sums and two operands";
  for (std::size_t i = 0; i < n; i++)
    if (u.src[i]->lanes != 1 || (static_cast<int>(i) < u.lanes && u.src[i]->dtype != u.dtype)) return "the sums have its type";
  return nullptr;
}

const char* broken_alu_rule(const UOp& u) {
  const auto n = u.src.size();
  if (static_cast<int>(n) != info(u.op).arity) return "an operation has as many operands as its arity";
  const std::size_t first = u.op == Op::Where ? 1 : 0;
  if (first == 1 && u.src[0]->dtype != DType::Bool) return "a condition is bool";
  for (std::size_t i = first; i < n; i++)
    if (u.src[i]->dtype != u.src[first]->dtype) return "the operands of an operation have one type";
  for (const UOp* s : u.src)
    if (s->lanes != 1 && s->lanes != u.lanes) return "an operand has one lane or as many as the result";
  const DType result = gives_bool(u.op) ? DType::Bool : u.src[first]->dtype;
  if (result != u.dtype) return "the type of the result follows from the operands";
  return is_legal(u.op, u.src[first]->dtype) ? nullptr : "the operation exists for the type";
}

// The rule that one UOp breaks; nullptr if all hold.
const char* broken_rule(const UOp& u) {
  const auto n = u.src.size();
  switch (u.uop) {
    case UOpKind::DefineGlobal:
    case UOpKind::DefineVar:
    case UOpKind::DefineLocal:
    case UOpKind::Barrier:
      return n == 0 ? nullptr : "it has no operands";
    case UOpKind::DefineAcc:
    case UOpKind::Const:
      if (n > (u.uop == UOpKind::DefineAcc ? 1u : 0u)) return "it has no operands, or what an accumulator starts at";
      if (n == 1 && (u.lanes != 1 || u.src[0]->dtype != u.dtype)) return "an accumulator starts at one value of its type";
      return u.value && u.value->dtype() == u.dtype ? nullptr : "its value has its type";
    case UOpKind::Special:
      return n == 1 ? nullptr : "it has a size";
    case UOpKind::Loop:
      return n == 2 ? nullptr : "a loop has two ends";
    case UOpKind::If:
      return n == 1 && u.src[0]->dtype == DType::Bool ? nullptr : "a condition is bool";
    case UOpKind::End:
      return n == 1 && (u.src[0]->uop == UOpKind::Loop || u.src[0]->uop == UOpKind::If) ? nullptr : "it ends a Loop or If";
    case UOpKind::Load:
      return broken_load_rule(u);
    case UOpKind::Store:
      if (n != 3 && n != 4) return "a store has buffer, index, value, and perhaps condition";
      if (n == 4 && u.src[3]->dtype != DType::Bool) return "a condition is bool";
      return u.src[0]->dtype == u.src[2]->dtype ? nullptr : "a store has the type of its buffer";
    case UOpKind::StoreColumns:
      return broken_columns_rule(u);
    case UOpKind::Prefetch:
      return n == 2 && (u.number == 1 || u.number == 2) ? nullptr : "it has buffer and index, and the level of a cache";
    case UOpKind::Phi:
      if (n != 2 || u.src[0]->uop != UOpKind::DefineAcc) return "a Phi has accumulator and value";
      return u.src[0]->dtype == u.src[1]->dtype && u.src[1]->lanes <= u.src[0]->lanes ? nullptr : "a Phi has the type of its accumulator";
    case UOpKind::Alu:
      return broken_alu_rule(u);
    case UOpKind::Cast:
      return n == 1 && u.src[0]->lanes == u.lanes ? nullptr : "a cast has one operand of as many lanes";
    case UOpKind::Bitcast:
      return n == 1 && bytes_of(u.src[0]->dtype) == bytes_of(u.dtype) ? nullptr : "a bitcast keeps the size";
    case UOpKind::Dot:
      return broken_dot_rule(u);
    case UOpKind::Wmma:
      return broken_wmma_rule(u);
    case UOpKind::Gep:
      return n == 1 && u.number < u.src[0]->lanes && u.src[0]->dtype == u.dtype ? nullptr : "a Gep takes a lane that exists";
    case UOpKind::Vectorize:
      for (const UOp* s : u.src)
        if (s->lanes != 1 || s->dtype != u.dtype) return "each lane is one value of the type";
      return static_cast<int>(n) == u.lanes ? nullptr : "a vector has a source for each lane";
  }
  return nullptr;
}

}  // namespace

bool UOp::same(const UOp& o) const {
  return uop == o.uop && dtype == o.dtype && lanes == o.lanes && op == o.op && exact == o.exact && number == o.number && size == o.size &&
         value == o.value && src == o.src && name == o.name;
}

const UOp* UOpList::make(UOp uop) {
  uop.serial = static_cast<std::int64_t>(pool->size());
  pool->push_back(std::move(uop));
  return &pool->back();
}

std::string to_text(const UOpList& uops) {
  std::unordered_map<const UOp*, int> number;  // look-up only
  std::string text;
  std::size_t depth = 0;
  for (const UOp* u : uops.order) {
    const int n = static_cast<int>(number.size());
    number[u] = n;
    if (u->uop == UOpKind::End && depth > 0) depth--;
    text += std::string(2 * depth, ' ') + "%" + std::to_string(n) + " = " + describe(*u);
    for (const UOp* s : u->src) text += " %" + std::to_string(number[s]);
    text += "\n";
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) depth++;
  }
  return text;
}

void verify(const UOpList& uops, std::string_view after) {
  const auto fail = [&](const UOp* u, std::string_view rule) {
    check(false, "UOps after " + std::string(after) + ": " + describe(*u) + ": " + std::string(rule));
  };
  // Every open scope has its own list of what it defines, so that closing it forgets them.
  std::vector<std::vector<const UOp*>> scopes(1);
  std::vector<const UOp*> open;
  std::unordered_set<const UOp*> visible;
  for (const UOp* u : uops.order) {
    for (const UOp* s : u->src)
      if (!visible.contains(s)) fail(u, "every operand is defined before, in a scope that is open");
    if (const char* rule = broken_rule(*u)) fail(u, rule);
    if (!visible.insert(u).second) fail(u, "every UOp stands in the list once");
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      open.push_back(u);
      scopes.emplace_back();
    }
    scopes.back().push_back(u);
    if (u->uop != UOpKind::End) continue;
    if (open.empty() || open.back() != u->src[0]) fail(u, "scopes nest");
    for (const UOp* gone : scopes.back())
      if (gone->uop != UOpKind::Phi) visible.erase(gone);
    // The value of an accumulator stays defined after the loop that changes it.
    std::vector<const UOp*> phis;
    std::ranges::copy_if(scopes.back(), std::back_inserter(phis), [](const UOp* g) { return g->uop == UOpKind::Phi; });
    scopes.pop_back();
    scopes.back().insert(scopes.back().end(), phis.begin(), phis.end());
    open.pop_back();
  }
  check(open.empty(), "every Loop and If has its End");
}

}  // namespace etch
