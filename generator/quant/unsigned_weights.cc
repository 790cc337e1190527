#include "quant/unsigned_weights.h"

#include <algorithm>
#include <unordered_map>

#include "lazy/rewrite.h"
#include "lazy/tensor.h"

namespace etch {
namespace {

constexpr std::int64_t kLeastShared = 4, kLeastProducts = 8;  // outputs that share a sum, and of how many elements

/// What is left to add to a sum of products with unsigned weights.
struct SplitSum {
  const LazyBuffer *products = nullptr, *rest = nullptr;
};

class UnsignedWeights {
 public:
  explicit UnsignedWeights(LazyGraph& graph) : graph_(graph) {}

  const LazyBuffer* replace(const LazyBuffer* b) {
    OriginScope scope(graph_, b->origins);
    if (b->is_base() && (is_op(b, Op::Add) || is_op(b, Op::Sub))) return with_bias_first(b);
    const bool is_sum = b->is_base() && b->is_reduction() && b->op == Op::ReduceSum && !b->scan && b->dtype == DType::Int32;
    const LazyBuffer* product = is_sum ? b->src[0] : nullptr;
    if (product == nullptr || !product->is_base() || !is_op(product, Op::Mul)) return b;
    for (const std::size_t k : {0, 1}) {
      const LazyBuffer *x = product->src[k], *w = product->src[1 - k];
      if (!w->base->constant || x->base->constant || !is_shared(x, b)) continue;
      const LazyBuffer* unsigned_w = with_offset(w);
      return unsigned_w == nullptr ? b : split(b, x, unsigned_w);
    }
    return b;
  }

 private:
  /// Whether `x` is the same along an axis of the result, and enough of it is summed.
  static bool is_shared(const LazyBuffer* x, const LazyBuffer* sum) {
    const LazyBuffer* seen = x->is_base() && is_op(x, Op::Cast) ? x->src[0] : x;
    const auto strides = seen->st.real_strides();
    std::int64_t products = 1, shared = 1;
    for (std::size_t axis = 0; axis < strides.size(); axis++) {
      const Sint& size = seen->shape()[axis];
      if (!size.is_int()) return false;
      if (std::ranges::find(sum->axes, static_cast<int>(axis)) != sum->axes.end())
        products *= size.as_int();
      else if (strides[axis] && strides[axis]->is_int(0))
        shared *= size.as_int();
    }
    return products >= kLeastProducts && shared >= kLeastShared;
  }

  /// The same constant of int8 with 128 added, as a cast of unsigned bytes; nullptr if it is another or has no negative values.
  const LazyBuffer* with_offset(const LazyBuffer* w) {
    const LazyBuffer* bytes = is_op(w->base, Op::Cast) ? w->base->src[0] : nullptr;
    if (bytes == nullptr || bytes->dtype != DType::Int8 || is_masked(w->st)) return nullptr;
    const Array& values = graph_.evaluate(w->base);
    std::vector<std::int64_t> moved = values.ints();
    if (std::ranges::none_of(moved, [](std::int64_t v) { return v < 0; })) return nullptr;
    for (std::int64_t& v : moved) v += kSignOffset;
    const LazyBuffer* data = graph_.data(Array::of_ints(DType::UInt8, values.shape(), moved), bytes->base->name);
    return graph_.view(graph_.cast(data, DType::Int32), w->st);
  }

  const LazyBuffer* split(const LazyBuffer* sum, const LazyBuffer* x, const LazyBuffer* w) {
    const Tensor products(&graph_, graph_.reduce(Op::ReduceSum, graph_.elementwise(Op::Mul, {x, w}), sum->axes));
    const Tensor plain(&graph_, graph_.reduce(Op::ReduceSum, x, sum->axes));
    const Tensor rest = plain * Tensor::full(graph_, plain.shape(), Scalar::of_int(DType::Int32, -kSignOffset));
    const LazyBuffer* both = (products + rest).buffer();
    parts_[both] = {products.buffer(), rest.buffer()};
    return both;
  }

  /// Constants are added to the products first: their sum begins with them.
  const LazyBuffer* with_bias_first(const LazyBuffer* b) {
    for (const std::size_t k : {0, 1}) {
      const auto found = shows_base(b->src[k]) ? parts_.find(b->src[k]->base) : parts_.end();
      const LazyBuffer* constant = b->src[1 - k];
      if (found == parts_.end() || !constant->base->constant || (k == 1 && b->op == Op::Sub)) continue;
      if (b->op == Op::Sub) constant = graph_.view(graph_.elementwise(Op::Neg, {constant->base}), constant->st);
      const LazyBuffer* moved = graph_.view(constant, constant->st.reshape(found->first->shape()));
      const SplitSum parts{graph_.elementwise(Op::Add, {found->second.products, moved}), found->second.rest};
      const LazyBuffer* both = graph_.elementwise(Op::Add, {parts.products, parts.rest});
      parts_[both] = parts;
      return graph_.view(both, both->st.reshape(b->shape()));
    }
    return b;
  }

  LazyGraph& graph_;
  std::unordered_map<const LazyBuffer*, SplitSum> parts_;  // of sums that are split; look-up only
};

}  // namespace

std::vector<const LazyBuffer*> to_unsigned_weights(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  UnsignedWeights weights(graph);
  return rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) { return weights.replace(rebuilt); });
}

}  // namespace etch
