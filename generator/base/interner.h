// Hash-consing: equal nodes are the same node, so comparing two graphs is comparing two pointers. One Interner per
// graph; it owns every node it made.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <utility>

namespace etch {

template <class Node, class Hash>
class Interner {
 public:
  /// Returns the one node equal to `node`. The address stays valid, and the node unchanged, for the life of the Interner.
  const Node* intern(Node node) { return &*nodes_.insert(std::move(node)).first; }

  std::size_t size() const { return nodes_.size(); }

 private:
  std::unordered_set<Node, Hash> nodes_;  // node-based: a rehash moves no node
};

}  // namespace etch
