#include "codegen/index.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "shape/int_math.h"

namespace etch {

void IndexLowering::declare(const std::string& name, const UOp* uop) {
  const int depth = static_cast<int>(variables_.size());
  variables_[name] = {uop, depth};
}

bool IndexLowering::knows(Sint x) const {
  return std::ranges::all_of(variables(x), [&](const Node* v) { return variables_.contains(v->name); });
}

const UOp* IndexLowering::integer(Sint x) {
  fits_ = true;
  // What turns out too narrow leaves values behind that nobody uses.
  const Value narrow = lower(x, DType::Int32);
  if (fits_) return narrow.uop;
  fits_ = true;
  const Value wide = lower(x, DType::Int64);
  check(fits_, "every index fits 64 bits");
  return wide.uop;
}

const UOp* IndexLowering::condition(Sint x) {
  if (x.is_int()) return builder_.constant(Scalar::of_int(DType::Bool, x.as_int() != 0 ? 1 : 0));
  const Node& node = *x.node();
  if (node.kind == NodeKind::And) {
    // Conditions of outer loops first, for the same reason as with sums.
    std::vector<Sint> parts = node.src;
    std::ranges::stable_sort(parts, {}, [&](Sint p) { return depth(p); });
    const UOp* all = condition(parts[0]);
    for (std::size_t i = 1; i < parts.size(); i++) all = builder_.alu(Op::And, DType::Bool, {all, condition(parts[i])});
    return all;
  }
  if (node.kind == NodeKind::Lt) {
    fits_ = true;
    Value a = lower(node.src[0], DType::Int32), b = lower(node.src[1], DType::Int32);
    if (!fits_) {
      fits_ = true;
      a = lower(node.src[0], DType::Int64);
      b = lower(node.src[1], DType::Int64);
      check(fits_, "every index fits 64 bits");
    }
    return builder_.alu(Op::CmpLt, DType::Bool, {a.uop, b.uop});
  }
  const UOp* value = integer(x);
  return builder_.alu(Op::CmpNe, DType::Bool, {value, builder_.constant(Scalar::of_int(value->dtype, 0))});
}

int IndexLowering::depth(Sint x) const {
  int deepest = -1;
  for (const Node* v : variables(x)) {
    const auto found = variables_.find(v->name);
    check(found != variables_.end(), "every variable of an index is declared");
    deepest = std::max(deepest, found->second.second);
  }
  return deepest;
}

IndexLowering::Value IndexLowering::constant(std::int64_t value, DType dtype) {
  if (dtype == DType::Int32 && (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()))
    fits_ = false;
  return {builder_.constant(Scalar::of_int(dtype, value)), value, value};
}

IndexLowering::Value IndexLowering::lower(Sint x, DType dtype) {
  if (x.is_int()) return constant(x.as_int(), dtype);
  Value v = lower_node(*x.node(), dtype);
  // The expression as a whole may be known better than the sum of its parts.
  v.min = std::max(v.min, x.min());
  v.max = std::min(v.max, x.max());
  return v;
}

IndexLowering::Value IndexLowering::lower_node(const Node& node, DType dtype) {
  switch (node.kind) {
    case NodeKind::Variable: {
      const auto found = variables_.find(node.name);
      check(found != variables_.end(), "every variable of an index is declared");
      const UOp* u = found->second.first;
      if (u->dtype != dtype && dtype == DType::Int32) fits_ = false;
      return {builder_.cast(u, dtype), node.min, node.max};
    }
    case NodeKind::Sum:
      return lower_sum(node, dtype);
    case NodeKind::Mul:
      return arithmetic(Op::Mul, lower(node.src[0], dtype), lower(node.src[1], dtype), dtype);
    case NodeKind::Div:
      return arithmetic(Op::Div, lower(node.src[0], dtype), lower(node.src[1], dtype), dtype);
    case NodeKind::Mod:
      return arithmetic(Op::Mod, lower(node.src[0], dtype), lower(node.src[1], dtype), dtype);
    case NodeKind::Lt:
    case NodeKind::And: {
      const bool fits = fits_;
      const UOp* c = condition(Sint(node));
      fits_ = fits;
      return {builder_.cast(c, dtype), 0, 1};
    }
  }
  check(false, "every kind of node is lowered");
  return {};
}

IndexLowering::Value IndexLowering::lower_sum(const Node& node, DType dtype) {
  struct Part {
    Sint term;
    int depth;
    bool negative;
    std::string text;
  };
  std::vector<Part> parts;
  std::int64_t offset = 0;
  for (Sint t : node.src) {
    if (t.is_int()) {
      offset = checked_add(offset, t.as_int());
      continue;
    }
    const bool negative = t.node()->kind == NodeKind::Mul && t.node()->src[1].is_int() && t.node()->src[1].as_int() < 0;
    parts.push_back({t, depth(t), negative, to_text(t)});
  }
  std::ranges::sort(
      parts, [](const Part& a, const Part& b) { return std::tie(a.depth, a.negative, a.text) < std::tie(b.depth, b.negative, b.text); });
  // An expression starts with a positive term where there is one.
  if (parts[0].negative) {
    const auto positive = std::ranges::find(parts, false, &Part::negative);
    if (positive != parts.end()) std::rotate(parts.begin(), positive, positive + 1);
  }
  Value total = lower(parts[0].term, dtype);
  for (std::size_t i = 1; i < parts.size(); i++) {
    if (parts[i].negative)
      total = arithmetic(Op::Sub, total, lower(-parts[i].term, dtype), dtype);
    else
      total = arithmetic(Op::Add, total, lower(parts[i].term, dtype), dtype);
  }
  if (offset > 0) total = arithmetic(Op::Add, total, constant(offset, dtype), dtype);
  if (offset < 0) total = arithmetic(Op::Sub, total, constant(checked_mul(offset, -1), dtype), dtype);
  return total;
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
  if (r.max > limit || r.min < -limit) fits_ = false;
  r.uop = builder_.alu(op, dtype, {a.uop, b.uop}, true);
  return r;
}

}  // namespace etch
