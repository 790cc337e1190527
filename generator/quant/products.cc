#include "quant/products.h"

#include <limits>
#include <vector>

#include "base/toposort.h"
#include "lazy/graph.h"

namespace etch {
namespace {

constexpr std::size_t kMostNodes = 1024;

bool adds(const LazyBuffer* b) { return is_op(b, Op::Add) || is_op(b, Op::Sub); }

/// Whether sums are looked for below `b`: operations on single elements.
bool passes(const LazyBuffer* b) {
  return is_float(b->dtype) && b->kind == LazyKind::Compute && !b->is_reduction() && b->op != Op::Bitcast;
}

/// A product, or what it is less than 0: that is no rounding in between.
bool is_product(const LazyBuffer* b) {
  const LazyBuffer* base = b->base;
  while (is_op(base, Op::Neg)) base = base->src[0]->base;
  return is_op(base, Op::Mul) && !base->constant;
}

}  // namespace

const LazyBuffer* with_products(LazyGraph& graph, const LazyBuffer* value, const ReplaceProduct& f) {
  const auto below = [](const LazyBuffer* b) {
    std::vector<const LazyBuffer*> next;
    for (const LazyBuffer* s : sources(b))
      if (!s->base->constant && passes(s->base)) next.push_back(s);
    return next;
  };
  if (!passes(value->base)) return nullptr;
  const std::vector<const LazyBuffer*> order = toposort<LazyBuffer>({value}, below);
  if (order.size() > kMostNodes) return nullptr;
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> done;
  bool changes = false;
  for (const LazyBuffer* b : order) {
    std::vector<const LazyBuffer*> src;
    for (const LazyBuffer* s : sources(b)) {
      const LazyBuffer* now = done.contains(s) ? done.at(s) : s;
      const Tensor replaced = adds(b) && is_product(s) ? f(s, now) : Tensor();
      changes = changes || replaced;
      src.push_back(replaced ? replaced.buffer() : now);
    }
    done.emplace(b, graph.rebuild(b, src));
  }
  return changes ? done.at(value) : nullptr;
}

Tensor rounded_product(LazyGraph& graph, const LazyBuffer* product) {
  const Tensor whole(&graph, product->base);
  const LazyBuffer* bounded = whole.maximum(whole.full_like(-std::numeric_limits<float>::max())).buffer();
  return {&graph, graph.view(bounded, graph.stacked(bounded->st, product->st))};
}

}  // namespace etch
