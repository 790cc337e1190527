// Reading expressions: value, free variables, substitution, size.
#include <algorithm>

#include "shape/int_math.h"
#include "shape/poly.h"
#include "shape/walk.h"

namespace etch {
namespace {

using Values = std::map<std::string, std::int64_t>;

std::int64_t variable_value(const Node& n, const Values& values) {
  const auto it = values.find(n.name);
  check(it != values.end(), "every free variable has a value");
  return it->second;
}

// The value of a node whose operands have values; of a conjunction only those up to the first 0 need one.
std::int64_t value_of(const Node& n, const Found<std::int64_t>& known, const Values& values) {
  const auto of = [&](Sint x) { return known.of(x, [](std::int64_t value) { return value; }); };
  std::int64_t r = 0;
  switch (n.kind) {
    case NodeKind::Variable:
      return variable_value(n, values);
    case NodeKind::Lt:
      return of(n.src[0]) < of(n.src[1]);
    case NodeKind::Mul:
      return checked_mul(of(n.src[0]), of(n.src[1]));
    case NodeKind::Div:
      return floor_div(of(n.src[0]), of(n.src[1]));
    case NodeKind::Mod:
      return floor_mod(of(n.src[0]), of(n.src[1]));
    case NodeKind::Sum:
      for (const Sint& s : n.src) r = checked_add(r, of(s));
      return r;
    case NodeKind::And:
      return std::all_of(n.src.begin(), n.src.end(), [&](const Sint& s) { return of(s) != 0; });
  }
  return 0;
}

// `n` with other operands.
Sint rebuilt(const Node& n, const std::vector<Sint>& src) {
  switch (n.kind) {
    case NodeKind::Variable:
      break;
    case NodeKind::Lt:
      return lt(src[0], src[1]);
    case NodeKind::Mul:
      return src[0] * src[1];
    case NodeKind::Div:
      return floordiv(src[0], src[1]);
    case NodeKind::Mod:
      return floormod(src[0], src[1]);
    case NodeKind::Sum:
      return sum(src);
    case NodeKind::And:
      return ands(src);
  }
  return Sint(n);
}

}  // namespace

std::int64_t operation_count(Sint x) {
  Found<std::int64_t> count;
  const auto of = [&](Sint s) { return count.of(s, [](std::int64_t) { return std::int64_t{0}; }); };
  for (const Node* n : nodes_of({x})) {
    std::int64_t c = std::max<std::int64_t>(0, static_cast<std::int64_t>(n->src.size()) - 1);
    for (const Sint& s : n->src) c = saturating_add(c, of(s));
    count.set(n, c);
  }
  return of(x);
}

bool mentions(Sint x, const Node* a) {
  PointerSet<Node> seen;
  std::vector<const Node*> open;
  const auto meet = [&](Sint s) {
    if (!s.is_int() && seen.insert(s.node())) open.push_back(s.node());
  };
  meet(x);
  while (!open.empty()) {
    const Node* n = open.back();
    open.pop_back();
    if (n == a) return true;
    for (const Sint& s : n->src) meet(s);
  }
  return false;
}

std::vector<const Node*> variables(const std::vector<Sint>& xs) {
  std::vector<const Node*> out = nodes_of(xs);
  std::erase_if(out, [](const Node* n) { return n->kind != NodeKind::Variable; });
  std::stable_sort(out.begin(), out.end(), [](const Node* a, const Node* b) { return a->name < b->name; });
  return out;
}

std::vector<const Node*> variables(Sint x) { return variables(std::vector<Sint>{x}); }

Sint substitute(Sint x, const std::map<std::string, Sint>& values) {
  if (x.is_int()) return x;
  Found<Sint> done;
  const auto of = [&](Sint s) { return done.of(s, [](std::int64_t value) { return Sint(value); }); };
  // A variable that stays depends on its largest value.
  const auto below = [&](const Node* n) {
    if (n->kind != NodeKind::Variable) return operands(n);
    return values.contains(n->name) ? Operands{} : Operands{{&n->max_expr, 1}};
  };
  for (const Node* n : toposort<Node>({x.node()}, below)) {
    if (n->kind == NodeKind::Variable) {
      const auto it = values.find(n->name);
      const Sint top = it == values.end() ? of(n->max_expr) : 0;
      done.set(n, it != values.end() ? it->second : top == n->max_expr ? Sint(*n) : n->owner->variable(n->name, n->min, top));
      continue;
    }
    std::vector<Sint> src;
    for (const Sint& s : n->src) src.push_back(of(s));
    done.set(n, src == n->src ? Sint(*n) : rebuilt(*n, src));
  }
  return of(x);
}

std::int64_t evaluate(Sint x, const std::map<std::string, std::int64_t>& values) {
  if (x.is_int()) return x.as_int();
  if (x.node()->kind == NodeKind::Variable) return variable_value(*x.node(), values);
  Found<std::int64_t> known;
  struct Open {
    const Node* node;
    std::size_t next;  // operand
  };
  std::vector<Open> stack{{x.node(), 0}};
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    const auto is_zero = [&](Sint s) { return s.is_int() ? s.is_int(0) : known.at(s.node()) == 0; };
    const bool decided = node->kind == NodeKind::And && next > 0 && is_zero(node->src[next - 1]);
    if (next < node->src.size() && !decided) {
      const Node* operand = node->src[next++].node();
      if (operand != nullptr && !known.has(operand)) stack.push_back({operand, 0});
      continue;
    }
    known.set(node, value_of(*node, known, values));
    stack.pop_back();
  }
  return known.at(x.node());
}

}  // namespace etch
