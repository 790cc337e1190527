// Contraction: a sum of products, sum(a * b), as convolutions and matrix products are. Every stage that treats contractions specially
// recognizes them with contraction_of.
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
  std::vector<const Node*> casts;  // between the sum and the product, the one nearest to the sum first
  const Node* product = nullptr;   // the Mul
  const Node* a() const { return product->src[0]; }
  const Node* b() const { return product->src[1]; }
};
using Contraction = BasicContraction<LazyOp>;

/// `node` as a contraction, or nullopt. Casts may round or wrap the product: check `casts` before moving anything across them.
///   ReduceSum(Mul(a, b)); ReduceSum(Cast(Mul(a, b)))
template <class Node>
std::optional<BasicContraction<Node>> contraction_of(const Node* node) {
  if (!is_op(node, Op::ReduceSum) || is_scan(node)) return std::nullopt;
  BasicContraction<Node> found;
  found.sum = node;
  const Node* below = node->src[0];
  for (; is_op(below, Op::Cast); below = below->src[0]) found.casts.push_back(below);
  if (!is_op(below, Op::Mul)) return std::nullopt;
  found.product = below;
  return found;
}

}  // namespace etch
