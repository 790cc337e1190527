#include "codegen/index.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "shape/int_math.h"
#include "shape/walk.h"

namespace etch {

void IndexLowering::declare(const std::string& name, const UOp* uop) {
  const int depth = static_cast<int>(variables_.size());
  variables_[name] = {uop, depth};
}

void IndexLowering::keep(int count) {
  std::erase_if(variables_, [&](const auto& v) { return v.second.second >= count; });
}

bool IndexLowering::knows(Sint x) const {
  return std::ranges::all_of(variables(x), [&](const Node* v) { return variables_.contains(v->name); });
}

const UOp* IndexLowering::integer(Sint x) {
  // If int32 is too narrow, some unused values remain in the list; remove_dead drops them.
  const Value narrow = lower(x, DType::Int32);
  if (narrow.fits) return narrow.uop;
  const Value wide = lower(x, DType::Int64);
  check(wide.fits, "every index fits 64 bits");
  return wide.uop;
}

const UOp* IndexLowering::condition(Sint x) { return lower(x, DType::Bool).uop; }

IndexLowering::Value IndexLowering::lower(Sint x, DType dtype) {
  // Values of an earlier expression may belong to a loop that has ended.
  values_.clear();
  depths_.clear();
  open_.clear();
  for (;;) {
    if (const std::optional<Value> value = ready(x, dtype)) return *value;
    while (!open_.empty()) {
      Open& open = open_.back();
      const Node& node = *open.node;
      const DType type = open.dtype;
      std::optional<Value> value = step(open);
      if (!value) continue;  // an operand was opened
      // The bounds of the whole expression may be tighter than those computed from its parts.
      value->min = std::max(value->min, node.min);
      value->max = std::min(value->max, node.max);
      values_[{&node, type}] = *value;
      open_.pop_back();
    }
  }
}

std::optional<IndexLowering::Value> IndexLowering::ready(Sint x, DType dtype) {
  if (x.is_int() && dtype == DType::Bool) return Value{builder_.constant(Scalar::of_int(DType::Bool, x.as_int() != 0 ? 1 : 0)), 0, 1};
  if (x.is_int()) return constant(x.as_int(), dtype);
  if (const auto found = values_.find({x.node(), dtype}); found != values_.end()) return found->second;
  open_.push_back({x.node(), dtype});
  return std::nullopt;
}

std::optional<IndexLowering::Value> IndexLowering::ready_integer(Sint x) {
  std::optional<Value> value = ready(x, DType::Int32);
  if (!value || value->fits) return value;
  value = ready(x, DType::Int64);
  if (value) check(value->fits, "every index fits 64 bits");
  return value;
}

std::optional<IndexLowering::Value> IndexLowering::step(Open& open) {
  const Node& node = *open.node;
  const DType dtype = open.dtype;
  if (dtype == DType::Bool) return step_condition(open);
  const auto binary = [&](Op op) -> std::optional<Value> {
    const std::optional<Value> a = ready(node.src[0], dtype);
    if (!a) return std::nullopt;
    const std::optional<Value> b = ready(node.src[1], dtype);
    return b ? std::optional(arithmetic(op, *a, *b, dtype)) : std::nullopt;
  };
  switch (node.kind) {
    case NodeKind::Variable: {
      const auto found = variables_.find(node.name);
      check(found != variables_.end(), "every variable of an index is declared");
      const UOp* u = found->second.first;
      return Value{builder_.cast(u, dtype), node.min, node.max, u->dtype == dtype || dtype != DType::Int32};
    }
    case NodeKind::Sum:
      return step_sum(open);
    case NodeKind::Mul:
      return binary(Op::Mul);
    case NodeKind::Div:
      return binary(Op::Div);
    case NodeKind::Mod:
      return binary(Op::Mod);
    case NodeKind::Lt:
    case NodeKind::And: {
      const std::optional<Value> truth = ready(Sint(node), DType::Bool);
      return truth ? std::optional(Value{builder_.cast(truth->uop, dtype), 0, 1}) : std::nullopt;
    }
  }
  check(false, "every kind of node is lowered");
  return {};
}

std::optional<IndexLowering::Value> IndexLowering::step_condition(Open& open) {
  const Node& node = *open.node;
  if (node.kind == NodeKind::And) return step_conjunction(open);
  if (node.kind == NodeKind::Lt) {
    const Sint x = node.src[0], y = node.src[1];
    std::optional<Value> a = ready(x, DType::Int32);
    if (!a) return std::nullopt;
    std::optional<Value> b = ready(y, DType::Int32);
    if (!b) return std::nullopt;
    if (!a->fits || !b->fits) {
      a = ready(x, DType::Int64);
      if (!a) return std::nullopt;
      b = ready(y, DType::Int64);
      if (!b) return std::nullopt;
      check(a->fits && b->fits, "every index fits 64 bits");
    }
    return Value{builder_.alu(Op::CmpLt, DType::Bool, {a->uop, b->uop}), 0, 1};
  }
  const std::optional<Value> value = ready_integer(Sint(node));
  if (!value) return std::nullopt;
  const UOp* zero = builder_.constant(Scalar::of_int(value->uop->dtype, 0));
  return Value{builder_.alu(Op::CmpNe, DType::Bool, {value->uop, zero}), 0, 1};
}

std::optional<IndexLowering::Value> IndexLowering::step_conjunction(Open& open) {
  // Conditions of outer loops first, for the same reason as with sums.
  if (open.parts.empty()) {
    for (Sint s : open.node->src) open.parts.push_back({s, depth(s)});
    std::ranges::stable_sort(open.parts, {}, &Part::depth);
  }
  for (; open.joined < open.parts.size(); open.joined++) {
    const std::optional<Value> part = ready(open.parts[open.joined].term, DType::Bool);
    if (!part) return std::nullopt;
    open.total = open.joined == 0 ? *part : Value{builder_.alu(Op::And, DType::Bool, {open.total.uop, part->uop}), 0, 1};
  }
  return open.total;
}

// The terms of a sum, without its int. Terms of outer loops come first, and of one loop the positive terms; the first term is positive
// if any term is.
std::vector<IndexLowering::Part> IndexLowering::parts_of(const Node& node) {
  std::vector<Part> parts;
  for (Sint t : node.src) {
    if (t.is_int()) continue;
    const bool negative = t.node()->kind == NodeKind::Mul && t.node()->src[1].is_int() && t.node()->src[1].as_int() < 0;
    parts.push_back({negative ? -t : t, depth(t), negative});
  }
  const auto text_of = [](const Part& p) { return p.negative ? -p.term : p.term; };
  std::ranges::stable_sort(parts, [&](const Part& a, const Part& b) {
    if (std::pair(a.depth, a.negative) != std::pair(b.depth, b.negative))
      return std::pair(a.depth, a.negative) < std::pair(b.depth, b.negative);
    return texts_.less(text_of(a), text_of(b));
  });
  if (parts[0].negative) {
    const auto positive = std::ranges::find(parts, false, &Part::negative);
    if (positive != parts.end()) std::rotate(parts.begin(), positive, positive + 1);
  }
  return parts;
}

std::optional<IndexLowering::Value> IndexLowering::step_sum(Open& open) {
  const Node& node = *open.node;
  const DType dtype = open.dtype;
  if (open.parts.empty()) {
    std::vector<Part> parts = parts_of(node);
    if (parts[0].negative) {  // all terms are negative: start with the first one
      parts[0].term = -parts[0].term;
      parts[0].negative = false;
    }
    open.parts = std::move(parts);
  }
  for (; open.joined < open.parts.size(); open.joined++) {
    const Part& part = open.parts[open.joined];
    const Op op = part.negative ? Op::Sub : Op::Add;
    const std::optional<Value> term = ready(part.term, dtype);
    if (!term) return std::nullopt;
    open.total = open.joined == 0 ? *term : arithmetic(op, open.total, *term, dtype);
  }
  Value total = open.total;
  const std::int64_t offset = node.src.back().is_int() ? node.src.back().as_int() : 0;
  if (offset > 0) total = arithmetic(Op::Add, total, constant(offset, dtype), dtype);
  if (offset < 0) total = arithmetic(Op::Sub, total, constant(checked_mul(offset, -1), dtype), dtype);
  return total;
}

// Depth of the innermost loop that the value depends on; -1 if it depends on none.
int IndexLowering::depth(Sint x) {
  if (x.is_int()) return -1;
  const auto below = [&](const Node* n) { return depths_.contains(n) ? Operands{} : operands(n); };
  for (const Node* n : toposort<Node>({x.node()}, below)) {
    if (depths_.contains(n)) continue;
    int deepest = -1;
    if (n->kind == NodeKind::Variable) {
      const auto found = variables_.find(n->name);
      check(found != variables_.end(), "every variable of an index is declared");
      deepest = found->second.second;
    }
    for (Sint s : n->src)
      if (!s.is_int()) deepest = std::max(deepest, depths_.at(s.node()));
    depths_[n] = deepest;
  }
  return depths_.at(x.node());
}

IndexLowering::Value IndexLowering::constant(std::int64_t value, DType dtype) {
  const bool is_wide = value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max();
  return {builder_.constant(Scalar::of_int(dtype, value)), value, value, dtype != DType::Int32 || !is_wide};
}

IndexLowering::Value IndexLowering::arithmetic(Op op, Value a, Value b, DType dtype) {
  Value r;
  const auto corners = [&](auto f) {
    const std::array<std::int64_t, 4> v{f(a.min, b.min), f(a.min, b.max), f(a.max, b.min), f(a.max, b.max)};
    r.min = std::ranges::min(v);
    r.max = std::ranges::max(v);
  };
  if (op == Op::Add) corners([](std::int64_t x, std::int64_t y) { return saturating_add(x, y); });
  if (op == Op::Sub) corners([](std::int64_t x, std::int64_t y) { return saturating_add(x, saturating_neg(y)); });
  if (op == Op::Mul) corners([](std::int64_t x, std::int64_t y) { return saturating_mul(x, y); });
  if (op == Op::Div || op == Op::Mod) {
    check(b.min > 0, "the divisor of an index is positive");
    check(a.min >= 0, "the numerator of an index is not negative");
    if (op == Op::Div)
      r = {nullptr, a.min / b.max, a.max / b.min};
    else
      r = {nullptr, 0, std::min(a.max, b.max - 1)};
  }
  const std::int64_t limit = dtype == DType::Int32 ? std::numeric_limits<std::int32_t>::max() : kInt64Max - 1;
  r.fits = a.fits && b.fits && r.max <= limit && r.min >= -limit;
  r.uop = builder_.alu(op, dtype, {a.uop, b.uop}, true);
  return r;
}

}  // namespace etch
