// Depth-first order of a graph, sources first, without recursion: a graph of any depth uses constant stack.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

namespace etch {

/// Every node reachable from `roots`, each once, after all its sources. `sources(node)` returns a range of Node
/// pointers. The order depends on the graph alone, not on addresses.
template <class Node, class Sources>
std::vector<const Node*> toposort(const std::vector<const Node*>& roots, Sources sources) {
  std::vector<const Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<const Node*, std::size_t>> stack;  // a node, and how many of its sources are done
  for (const Node* root : roots) {
    if (seen.insert(root).second) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, done] = stack.back();
      const auto& src = sources(node);
      if (done == src.size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Node* next = src[done++];
      if (seen.insert(next).second) stack.emplace_back(next, 0);
    }
  }
  return order;
}

}  // namespace etch
