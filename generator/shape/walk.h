// Walks of expressions without recursion. Shared parts are visited once.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/toposort.h"
#include "shape/symbolic.h"

namespace etch {

/// The operands of a node as toposort() takes them: nullptr stands for an int.
struct Operands {
  std::span<const Sint> src;
  std::size_t size() const { return src.size(); }
  const Node* operator[](std::size_t k) const { return src[k].node(); }
};
inline Operands operands(const Node* n) { return {n->src}; }

/// Every node of the expressions once, operands first; bounds of variables are not looked into.
inline std::vector<const Node*> nodes_of(const std::vector<Sint>& xs) {
  std::vector<const Node*> roots;
  for (const Sint& x : xs)
    if (!x.is_int()) roots.push_back(x.node());
  return toposort<Node>(roots, operands);
}

/// The results of a walk, one for each node; the result for an int is `of_int(value)`.
template <class T>
class Found {
 public:
  void set(const Node* n, T value) { known_.insert_or_assign(n, std::move(value)); }
  bool has(const Node* n) const { return known_.contains(n); }
  const T& at(const Node* n) const { return known_.at(n); }
  template <class OfInt>
  T of(Sint x, OfInt of_int) const {
    return x.is_int() ? of_int(x.as_int()) : known_.at(x.node());
  }

 private:
  std::unordered_map<const Node*, T> known_;  // look-up only
};

}  // namespace etch
