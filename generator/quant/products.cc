#include "quant/products.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <vector>

#include "base/toposort.h"
#include "lazy/graph.h"
#include "lazy/rewrite.h"

namespace etch {
namespace {

constexpr std::size_t kMostNodes = 1024;

bool adds(const LazyBuffer* b) { return is_op(b, Op::Add) || is_op(b, Op::Sub); }

bool is_elementwise(const LazyBuffer* b) {
  return is_float(b->dtype) && b->kind == LazyKind::Compute && !b->is_reduction() && b->op != Op::Bitcast;
}

/// `value` and what it is computed from by operations on single elements, sources first.
std::vector<const LazyBuffer*> order_below(const LazyBuffer* value) {
  const auto below = [](const LazyBuffer* b) {
    std::vector<const LazyBuffer*> next;
    for (const LazyBuffer* s : sources(b))
      if (!s->base->constant && is_elementwise(s->base)) next.push_back(s);
    return next;
  };
  return toposort<LazyBuffer>({value}, below);
}

/// A product, or what it is less than 0: that is no rounding in between.
bool is_product(const LazyBuffer* b) {
  const LazyBuffer* base = b->base;
  while (is_op(base, Op::Neg)) base = base->src[0]->base;
  return is_op(base, Op::Mul) && !base->constant;
}

constexpr int kMostInside = 6;                // operations within operations
constexpr std::int64_t kMostKnown = 1 << 16;  // elements of a constant

/// 1: never less than 0, -1: never more, 0: not known.
int sign_between(double low, double high) { return low >= 0 ? 1 : high <= 0 ? -1 : 0; }

/// The same of all elements of `b`. What compilers know of a value, too.
int sign_of(LazyGraph& graph, BoundsFinder& bounds, const LazyBuffer* b, int depth) {
  b = b->base;
  if (!is_float(b->dtype)) {
    const IntegerBounds known = bounds.of(b);
    if (const int sign = sign_between(static_cast<double>(known.low), static_cast<double>(known.high)); sign != 0) return sign;
  } else if (b->constant && !is_empty(b->shape()) && b->st.size().max() <= kMostKnown) {
    const std::vector<double> values = graph.evaluate(b).doubles();
    const auto [low, high] = std::ranges::minmax_element(values);
    return sign_between(*low, *high);
  }
  if (b->kind != LazyKind::Compute || depth == 0) return 0;
  const auto of = [&](std::size_t i) { return sign_of(graph, bounds, b->src[i], depth - 1); };
  const auto joint = [](int one, int other) { return one == other ? one : 0; };
  switch (b->op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Sigmoid:
    case Op::Sqrt:
      return 1;
    case Op::Neg:
      return -of(0);
    case Op::Mul:
      return b->src[0] == b->src[1] ? 1 : of(0) * of(1);
    case Op::Div:
      return of(0) * of(1);
    case Op::Max:
      return of(0) == 1 || of(1) == 1 ? 1 : joint(of(0), of(1));
    case Op::Min:
      return of(0) == -1 || of(1) == -1 ? -1 : joint(of(0), of(1));
    case Op::Add:
      return joint(of(0), of(1));
    case Op::Where:
      return joint(of(1), of(2));
    case Op::Cast:
    case Op::ReduceSum:
    case Op::ReduceMax:
    case Op::ReduceMin:
      return of(0);
    default:
      return 0;
  }
}

bool is_rounded(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }

/// Whether an operand of the products that are summed up is seen again for other sums.
bool is_matrix_product(const LazyBuffer* sum) {
  const LazyBuffer* product = sum->src[0];
  if (!product->is_base() || !is_op(product, Op::Mul)) return false;
  return std::ranges::any_of(product->src, [&](const LazyBuffer* operand) {
    if (operand->base->st.size().is_int(1)) return false;
    const auto strides = operand->st.real_strides(true);  // a mask repeats nothing
    for (std::size_t axis = 0; axis < strides.size(); axis++) {
      const bool is_kept = std::ranges::find(sum->axes, static_cast<int>(axis)) == sum->axes.end();
      if (is_kept && !operand->shape()[axis].is_int(1) && strides[axis] && strides[axis]->is_int(0)) return true;
    }
    return false;
  });
}

/// Whether it may leave one of its operands as it is, or less than 0: a compiler that knows which one has the operand alone.
bool chooses(const LazyBuffer* base) {
  return is_op(base, Op::Where) || is_op(base, Op::Max) || is_op(base, Op::Min) || is_op(base, Op::Neg);
}

/// `b` where it, or what is chosen in it, is a rounded product.
const LazyBuffer* with_rounded_branches(LazyGraph& graph, BoundsFinder& bounds, const LazyBuffer* b, int depth) {
  if (b->base->constant || !is_float(b->dtype)) return b;
  if (is_product(b)) return rounded_product(graph, bounds, b).buffer();
  if (!chooses(b->base) || depth == 0) return b;
  std::vector<const LazyBuffer*> src;
  for (const LazyBuffer* s : b->base->src) src.push_back(with_rounded_branches(graph, bounds, s, depth - 1));
  const LazyBuffer* chosen = graph.rebuild(b->base, src);
  return graph.view(chosen, graph.stacked(chosen->st, b->st));
}

}  // namespace

const LazyBuffer* with_products(LazyGraph& graph, const LazyBuffer* value, const ReplaceProduct& f) {
  if (!is_elementwise(value->base)) return nullptr;
  const std::vector<const LazyBuffer*> order = order_below(value);
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

Tensor rounded_product(LazyGraph& graph, BoundsFinder& bounds, const LazyBuffer* product) {
  const Tensor whole(&graph, product->base);
  const double most = product->dtype == DType::Float64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  const bool is_positive = sign_of(graph, bounds, product, kMostInside) > 0;
  const Tensor bounded = is_positive ? whole.minimum(whole.full_like(most)) : whole.maximum(whole.full_like(-most));
  return {&graph, graph.view(bounded.buffer(), graph.stacked(bounded.buffer()->st, product->st))};
}

std::unordered_set<const LazyBuffer*> below_quantisations(const std::vector<const LazyBuffer*>& outputs) {
  const std::vector<const LazyBuffer*> order = toposort<LazyBuffer>(outputs, sources);
  std::unordered_set<const LazyBuffer*> ends, found;  // between the two steps; before the first
  for (auto it = order.rbegin(); it != order.rend(); it++) {
    const LazyBuffer* b = *it;
    const bool is_end = ends.contains(b), rounds = is_end && (is_op(b, Op::Rint) || is_op(b, Op::RintSmall));
    const bool passes = !b->is_base() || is_op(b, Op::Min) || is_op(b, Op::Max) || is_op(b, Op::Add);
    for (const LazyBuffer* s : sources(b)) {
      if (s->base->constant) continue;
      if (is_float(s->dtype) && ((is_end && passes && !rounds) || (is_op(b, Op::Cast) && is_int(b->dtype)))) ends.insert(s);
      const bool is_condition = s->dtype == DType::Bool;
      if (rounds || (found.contains(b) && (is_float(s->dtype) || is_condition))) found.insert(s);
    }
  }
  return found;
}

std::vector<const LazyBuffer*> with_rounded_products(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  const std::unordered_set<const LazyBuffer*> quantised = below_quantisations(outputs);
  if (quantised.empty()) return outputs;
  BoundsFinder bounds(graph);
  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) {
    bounds.visit(rebuilt);  // from the sources up, so that nothing ever walks a long chain
    const bool sums = is_op(rebuilt, Op::ReduceSum) && rebuilt->is_base();
    if (!quantised.contains(old) || !rebuilt->is_base() || !is_rounded(rebuilt->dtype) || !(sums || adds(rebuilt))) return rebuilt;
    if (sums && is_matrix_product(rebuilt)) return rebuilt;
    OriginScope scope(graph, rebuilt->origins);
    std::vector<const LazyBuffer*> src;
    for (const LazyBuffer* s : rebuilt->src) src.push_back(with_rounded_branches(graph, bounds, s, kMostInside));
    return src == rebuilt->src ? rebuilt : graph.rebuild(rebuilt, src);
  });
}

}  // namespace etch
