#include "quant/products.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/toposort.h"
#include "lazy/graph.h"

namespace etch {
namespace {

constexpr std::size_t kMostNodes = 1024;

bool adds(const LazyBuffer* b) { return is_op(b, Op::Add) || is_op(b, Op::Sub); }

bool is_elementwise(const LazyBuffer* b) {
  return is_float(b->dtype) && b->kind == LazyKind::Compute && !b->is_reduction() && b->op != Op::Bitcast;
}
/// What a quantisation ends with.
bool ends(const LazyBuffer* b) { return is_float(b->dtype) && (adds(b) || is_op(b, Op::Div) || is_op(b, Op::Max) || is_op(b, Op::Min)); }

/// `value` and what it is computed from by operations that `passes` lets through, sources first.
std::vector<const LazyBuffer*> order_below(const LazyBuffer* value, bool (*passes)(const LazyBuffer*)) {
  const auto below = [passes](const LazyBuffer* b) {
    std::vector<const LazyBuffer*> next;
    for (const LazyBuffer* s : sources(b))
      if (!s->base->constant && passes(s->base)) next.push_back(s);
    return next;
  };
  return toposort<LazyBuffer>({value}, below);
}

bool reads_reduction(const LazyBuffer* b) {
  return std::ranges::any_of(sources(b), [](const LazyBuffer* s) { return is_float(s->dtype) && s->base->is_reduction(); });
}

/// A product, or what it is less than 0: that is no rounding in between.
bool is_product(const LazyBuffer* b) {
  const LazyBuffer* base = b->base;
  while (is_op(base, Op::Neg)) base = base->src[0]->base;
  return is_op(base, Op::Mul) && !base->constant;
}

}  // namespace

const LazyBuffer* with_products(LazyGraph& graph, const LazyBuffer* value, const ReplaceProduct& f) {
  if (!is_elementwise(value->base)) return nullptr;
  std::vector<const LazyBuffer*> order = order_below(value, is_elementwise);
  // Sums of floats differ from backend to backend anyway, and what reads them (a softmax) is left in one piece.
  if (std::ranges::any_of(order, reads_reduction)) order = ends(value->base) ? order_below(value, ends) : std::vector<const LazyBuffer*>();
  if (order.empty() || order.size() > kMostNodes) return nullptr;
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
