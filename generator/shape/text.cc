// Reading expressions: text, value, free variables, substitution.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "shape/int_math.h"
#include "shape/symbolic.h"

namespace etch {
namespace {

std::string join_sorted(std::vector<std::string> parts, const char* separator) {
  std::sort(parts.begin(), parts.end());
  std::string r = "(";
  for (std::size_t k = 0; k < parts.size(); ++k) r += (k ? separator : "") + parts[k];
  return r + ")";
}

std::string node_text(const Node& n) {
  auto binary = [&](const char* op) { return "(" + to_text(n.src[0]) + op + to_text(n.src[1]) + ")"; };
  std::vector<std::string> parts;
  switch (n.kind) {
    case NodeKind::Variable:
      return n.name;
    case NodeKind::Lt:
      return binary("<");
    case NodeKind::Mul:
      return binary("*");
    case NodeKind::Div:
      return binary("//");
    case NodeKind::Mod:
      return binary("%");
    case NodeKind::Sum:
      for (const Sint& s : n.src) parts.push_back(to_text(s));
      return join_sorted(std::move(parts), "+");
    case NodeKind::And:
      for (const Sint& s : n.src) parts.push_back(to_text(s));
      return join_sorted(std::move(parts), " and ");
  }
  return {};
}

void collect(Sint x, std::unordered_set<const Node*>* seen, std::vector<const Node*>* out) {
  if (x.is_int() || !seen->insert(x.node()).second) return;
  if (x.node()->kind == NodeKind::Variable) out->push_back(x.node());
  for (const Sint& s : x.node()->src) collect(s, seen, out);
}

int64_t value_of(Sint x, const std::map<std::string, int64_t>& values) {
  if (x.is_int()) return x.as_int();
  const Node& n = *x.node();
  auto at = [&](std::size_t k) { return value_of(n.src[k], values); };
  int64_t r = 0;
  switch (n.kind) {
    case NodeKind::Variable: {
      auto it = values.find(n.name);
      check(it != values.end(), "every free variable has a value");
      return it->second;
    }
    case NodeKind::Lt:
      return at(0) < at(1);
    case NodeKind::Mul:
      return checked_mul(at(0), at(1));
    case NodeKind::Div:
      return floor_div(at(0), at(1));
    case NodeKind::Mod:
      return floor_mod(at(0), at(1));
    case NodeKind::Sum:
      for (const Sint& s : n.src) r = checked_add(r, value_of(s, values));
      return r;
    case NodeKind::And:
      return std::all_of(n.src.begin(), n.src.end(), [&](const Sint& s) { return value_of(s, values) != 0; });
  }
  return 0;
}

struct Substitution {
  const std::map<std::string, Sint>& values;
  std::unordered_map<const Node*, Sint> done;

  Sint of(Sint x) {
    if (x.is_int()) return x;
    if (auto it = done.find(x.node()); it != done.end()) return it->second;
    Sint r = rebuild(*x.node());
    done.emplace(x.node(), r);
    return r;
  }

  Sint rebuild(const Node& n) {
    if (n.kind == NodeKind::Variable) {
      if (auto it = values.find(n.name); it != values.end()) return it->second;
      Sint top = of(n.max_expr);
      return top == n.max_expr ? Sint(n) : n.owner->variable(n.name, n.min, top);
    }
    std::vector<Sint> src;
    for (const Sint& s : n.src) src.push_back(of(s));
    if (src == n.src) return Sint(n);
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
};

}  // namespace

std::string to_text(Sint x) { return x.is_int() ? std::to_string(x.as_int()) : node_text(*x.node()); }

std::string to_text(const std::vector<Sint>& xs) {
  std::string r = "(";
  for (std::size_t k = 0; k < xs.size(); ++k) r += (k ? ", " : "") + to_text(xs[k]);
  return r + ")";
}

int64_t operation_count(Sint x) {
  if (x.is_int()) return 0;
  int64_t r = std::max<int64_t>(0, static_cast<int64_t>(x.node()->src.size()) - 1);
  for (const Sint& s : x.node()->src) r += operation_count(s);
  return r;
}

std::vector<const Node*> variables(const std::vector<Sint>& xs) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> out;
  for (const Sint& x : xs) collect(x, &seen, &out);
  std::stable_sort(out.begin(), out.end(), [](const Node* a, const Node* b) { return a->name < b->name; });
  return out;
}

std::vector<const Node*> variables(Sint x) { return variables(std::vector<Sint>{x}); }

Sint substitute(Sint x, const std::map<std::string, Sint>& values) { return Substitution{values, {}}.of(x); }

int64_t evaluate(Sint x, const std::map<std::string, int64_t>& values) { return value_of(x, values); }

}  // namespace etch
