// Contraction: a sum of products, sum(a * b), which is what convolutions and matrix products are. Every stage that treats them
// in its own way finds them here.
#pragma once

#include <optional>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

inline bool is_op(const LazyOp* node, Op op) { return node->op == op; }

/// Node is LazyOp, or LazyBuffer before there are ASTs.
template <class Node>
struct BasicContraction {
  const Node* sum = nullptr;       // the ReduceSum
  std::vector<const Node*> casts;  // of the product on its way to the sum, the outermost first
  const Node* product = nullptr;   // the Mul
  const Node* a() const { return product->src[0]; }
  const Node* b() const { return product->src[1]; }
};
using Contraction = BasicContraction<LazyOp>;

/// `node` as a contraction, or nullopt. Casts may round or wrap the product: who moves something across them looks at `casts`.
///   ReduceSum(Mul(a, b)); ReduceSum(Cast(Mul(a, b)))
template <class Node>
std::optional<BasicContraction<Node>> contraction_of(const Node* node) {
  if (!is_op(node, Op::ReduceSum)) return std::nullopt;
  BasicContraction<Node> found;
  found.sum = node;
  const Node* below = node->src[0];
  for (; is_op(below, Op::Cast); below = below->src[0]) found.casts.push_back(below);
  if (!is_op(below, Op::Mul)) return std::nullopt;
  found.product = below;
  return found;
}

}  // namespace etch
