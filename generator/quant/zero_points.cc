#include "quant/zero_points.h"

#include <algorithm>

#include "lazy/tensor.h"
#include "quant/collapse.h"

namespace etch {
namespace {

/// x - z, seen through a view.
struct Centred {
  Tensor x;  // in int32, z where the view hides elements
  Scalar z;
};

/// The value of a constant that is the same everywhere.
std::optional<Scalar> one_value(LazyGraph& graph, const LazyBuffer* b) {
  if (!b->base->constant || is_masked(b->st) || !b->base->st.size().is_int(1)) return std::nullopt;
  return graph.evaluate(b->base).at(0);
}

/// x and z of the int32 that is x - z, x + c or x + c - z; nullopt for anything else.
std::optional<std::pair<const LazyBuffer*, std::int64_t>> difference_of(LazyGraph& graph, const LazyBuffer* b) {
  const bool subtracts = is_op(b, Op::Sub);
  if (!(subtracts || is_op(b, Op::Add)) || b->dtype != DType::Int32 || b->src[0]->base->constant) return std::nullopt;
  const std::optional<Scalar> number = one_value(graph, b->src[1]);
  if (!number) return std::nullopt;
  std::pair found(b->src[0], subtracts ? number->as_int() : -number->as_int());
  if (is_masked(found.first->st)) return found;
  const auto below = difference_of(graph, found.first->base);
  if (!below) return found;
  return std::pair(graph.view(below->first, graph.stacked(below->first->st, found.first->st)), below->second + found.second);
}

std::optional<Centred> centred(LazyGraph& graph, const LazyBuffer* b) {
  const auto difference = difference_of(graph, b->base);
  if (!difference || difference->second != static_cast<std::int32_t>(difference->second)) return std::nullopt;
  const LazyBuffer* x = difference->first;
  const Scalar z = Scalar::of_int(DType::Int32, difference->second);
  const Tensor seen(&graph, graph.view(x, graph.stacked(x->st, b->st)));
  if (!is_masked(b->st)) return Centred{seen, z};
  const Tensor inside = inside_of(graph, b);
  return Centred{inside.where(seen, Tensor::full(graph, seen.shape(), z)), z};
}

}  // namespace

const LazyBuffer* without_zero_point(LazyGraph& graph, const LazyBuffer* reduction) {
  if (reduction->dtype != DType::Int32 || !reduction->is_base() || !reduction->is_reduction() || reduction->op != Op::ReduceSum ||
      reduction->scan || !is_op(reduction->src[0], Op::Mul) || !reduction->src[0]->is_base())
    return nullptr;
  for (const std::size_t k : {0, 1}) {
    const LazyBuffer *a = reduction->src[0]->src[k], *w = reduction->src[0]->src[1 - k];
    if (!w->base->constant) continue;
    const std::optional<Centred> c = centred(graph, a);
    if (!c) continue;
    const Tensor weights(&graph, w), whole(&graph, graph.reduce(Op::ReduceSum, (c->x * weights).buffer(), reduction->axes));
    const Tensor sums(&graph, graph.reduce(Op::ReduceSum, collapsed(weights, reduction->axes).buffer(), reduction->axes));
    return (whole - (sums * Tensor::full(graph, sums.shape(), c->z)).expand(whole.shape())).buffer();
  }
  return nullptr;
}

}  // namespace etch
