// Interning, variables, and the order of nodes.
#include <algorithm>
#include <deque>
#include <unordered_set>

#include "base/hash.h"
#include "shape/int_math.h"
#include "shape/open_sizes.h"
#include "shape/poly.h"
#include "shape/symbolic.h"

namespace etch {
namespace {

std::size_t hash_sint(const Sint& x) { return x.is_int() ? hash_mix(11, static_cast<std::uint64_t>(x.as_int())) : x.node()->hash; }

std::size_t hash_node(const Node& n) {
  std::size_t h = hash_mix(17, static_cast<std::uint64_t>(n.kind));
  for (const Sint& s : n.src) h = hash_mix(h, hash_sint(s));
  if (n.kind == NodeKind::Variable) {
    h = hash_mix(h, std::hash<std::string>{}(n.name));
    h = hash_mix(hash_mix(h, static_cast<std::uint64_t>(n.min)), hash_sint(n.max_expr));
  }
  return h;
}

bool same_node(const Node& a, const Node& b) {
  if (a.hash != b.hash || a.kind != b.kind || a.src != b.src) return false;
  return a.kind != NodeKind::Variable || (a.name == b.name && a.min == b.min && a.max_expr == b.max_expr);
}

struct HashNode {
  std::size_t operator()(const Node* n) const { return n->hash; }
};
struct SameNode {
  bool operator()(const Node* a, const Node* b) const { return same_node(*a, *b); }
};

// Ints are ordered after expressions.
int compare_ends(const Sint& a, const Sint& b) {
  if (a.is_int() != b.is_int()) return a.is_int() ? 1 : -1;
  return a.as_int() == b.as_int() ? 0 : a.as_int() < b.as_int() ? -1 : 1;
}

// Compares two nodes without their operands; 0: the operands decide.
int compare_heads(const Node& a, const Node& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == NodeKind::Variable) {
    if (int c = a.name.compare(b.name); c != 0) return c < 0 ? -1 : 1;
    if (a.min != b.min) return a.min < b.min ? -1 : 1;
  }
  if (a.src.size() != b.src.size()) return a.src.size() < b.src.size() ? -1 : 1;
  return 0;
}

}  // namespace

struct Symbols::Store {
  std::deque<Node> nodes;  // addresses stay valid
  std::unordered_set<const Node*, HashNode, SameNode> known;
};

Symbols::Symbols() : store_(std::make_unique<Store>()) {}
Symbols::~Symbols() = default;
std::size_t Symbols::size() const { return store_->nodes.size(); }

const Node* Symbols::find(Node* node) {
  node->owner = this;
  node->hash = hash_node(*node);
  auto it = store_->known.find(node);
  return it == store_->known.end() ? nullptr : *it;
}

const Node* Symbols::intern(Node node) {
  if (const Node* known = find(&node)) return known;
  for (const Sint& s : node.src) check(s.is_int() || s.node()->owner == this, "all nodes of an expression have one owner");
  store_->nodes.push_back(std::move(node));
  const Node* added = &store_->nodes.back();
  store_->known.insert(added);
  return added;
}

Sint Symbols::variable(const std::string& name, std::int64_t min, Sint max) {
  check(!name.empty(), "a variable has a name");
  check(min >= 0, "the lower bound of a variable is not negative");
  check(max.max() >= min, "the upper bound of a variable is not below its lower bound");
  if (max.is_int(min)) return min;
  if (!max.is_int() && max.min() < min - 1)
    check_for_sizes(proves_nonnegative(max - min + 1), "a range has no negative number of elements", {max});
  Node n{.kind = NodeKind::Variable,
         .owner = this,
         .min = min,
         .max = max.max(),
         .src = {},
         .name = name,
         .max_expr = max,
         .upper = {},
         .hash = 0};
  if (!max.is_int()) {
    check(max.node()->owner == this, "all nodes of an expression have one owner");
    auto deeper = upper_expr(to_poly(max));
    n.upper = deeper ? *deeper : max;
  }
  return Sint(*intern(std::move(n)));
}

std::int64_t Sint::as_int() const {
  check(is_int(), "the value is a plain integer");
  return value_;
}
std::int64_t Sint::min() const { return node_ ? node_->min : value_; }
std::int64_t Sint::max() const { return node_ ? node_->max : value_; }

const std::string& name(const Node& variable) {
  check(variable.kind == NodeKind::Variable, "only variables have a name");
  return variable.name;
}

int compare(const Node* a, const Node* b) {
  // Equal nodes are the same pointer, so two different nodes are ordered by their first operands that are not the same.
  while (a != b) {
    if (int c = compare_heads(*a, *b); c != 0) return c;
    Sint left = a->max_expr, right = b->max_expr;
    if (a->kind != NodeKind::Variable) {
      const auto apart = std::mismatch(a->src.begin(), a->src.end(), b->src.begin());
      check(apart.first != a->src.end(), "equal nodes are one");
      left = *apart.first;
      right = *apart.second;
    }
    if (left.is_int() || right.is_int()) return compare_ends(left, right);
    a = left.node();
    b = right.node();
  }
  return 0;
}

}  // namespace etch

std::size_t std::hash<etch::Sint>::operator()(const etch::Sint& x) const noexcept {
  return x.is_int() ? etch::hash_mix(11, static_cast<std::uint64_t>(x.as_int())) : x.node()->hash;
}
