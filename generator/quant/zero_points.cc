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

std::optional<Centred> centred(LazyGraph& graph, const LazyBuffer* b) {
  const LazyBuffer* difference = b->base;
  if (!is_op(difference, Op::Sub) || difference->dtype != DType::Int32) return std::nullopt;
  const LazyBuffer* x = difference->src[0];
  const std::optional<Scalar> z = one_value(graph, difference->src[1]);
  if (!z || x->base->constant) return std::nullopt;
  const Tensor seen(&graph, graph.view(x, graph.stacked(x->st, b->st)));
  if (!is_masked(b->st)) return Centred{seen, *z};
  const Tensor inside = inside_of(graph, b);
  return Centred{inside.where(seen, Tensor::full(graph, seen.shape(), *z)), *z};
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
