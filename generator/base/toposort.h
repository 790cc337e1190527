// Depth-first order of a graph, sources first, without recursion: a graph of any depth uses constant stack.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include "base/pointer_set.h"

namespace etch {

/// Every node reachable from `roots`, each once, after all its sources. `sources(node)` returns a range of Node pointers, in which
/// nullptr is skipped; it is called once for each node. The order depends on the graph alone, not on addresses.
template <class Node, class Sources>
std::vector<const Node*> toposort(const std::vector<const Node*>& roots, Sources sources) {
  using Below = std::invoke_result_t<Sources, const Node*>;
  struct Open {
    const Node* node;
    // A reference if `sources` returns one, else the returned range itself.
    std::conditional_t<std::is_lvalue_reference_v<Below>, std::reference_wrapper<std::remove_reference_t<Below>>, Below> src;
    std::size_t done;  // number of sources that have been visited
  };
  std::vector<const Node*> order;
  PointerSet<Node> seen;
  std::vector<Open> stack;
  for (const Node* root : roots) {
    if (seen.insert(root)) stack.push_back({root, sources(root), 0});
    while (!stack.empty()) {
      Open& open = stack.back();
      const std::remove_reference_t<Below>& src = open.src;
      if (open.done == src.size()) {
        order.push_back(open.node);
        stack.pop_back();
        continue;
      }
      const Node* next = src[open.done++];
      if (next != nullptr && seen.insert(next)) stack.push_back({next, sources(next), 0});
    }
  }
  return order;
}

}  // namespace etch
