#include "quant/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lazy/graph.h"
#include "quant/functions.h"

namespace etch {
namespace {

constexpr int kPlaces = 30;                      // binary places of the table
constexpr std::int64_t kWidest = 65535;          // the largest difference of two values
constexpr std::int64_t kMostElements = 1 << 14;  // of a sum: each may be off by 2^-31
constexpr double kFinest = 1.0 / (1 << 17);      // of the result, which is off by 2^-31
constexpr double kCoarsest = 1 << 30;

/// exp(x) / sum(exp(x)) of x = value * scale.
struct Softmax {
  const LazyBuffer* whole = nullptr;
  Tensor value;  // int32
  double scale = 1;
  std::vector<int> axes;  // that are summed over
  std::int64_t widest = 0;
};

/// What `b` repeats along the axes that it was reduced over by `op`; nullptr: it is something else.
const LazyBuffer* repeated_reduction(LazyGraph& graph, const LazyBuffer* b, Op op) {
  const LazyBuffer* reduction = b->base;
  return is_op(reduction, op) && !reduction->scan && repeats_along(graph, b, reduction->axes) ? reduction : nullptr;
}

/// The input of exp without what is the same for all elements of a sum: their largest.
const LazyBuffer* without_largest(LazyGraph& graph, const LazyBuffer* x, const std::vector<int>& axes) {
  if (!x->is_base() || !is_op(x, Op::Sub)) return x;
  const LazyBuffer* largest = repeated_reduction(graph, x->src[1], Op::ReduceMax);
  return largest != nullptr && largest->src[0] == x->src[0] && largest->axes == axes ? x->src[0] : x;
}

/// The sum that `whole` divides by, or whose inverse it multiplies with.
const LazyBuffer* divisor_of(LazyGraph& graph, const LazyBuffer* whole) {
  if (is_op(whole, Op::Div)) return repeated_reduction(graph, whole->src[1], Op::ReduceSum);
  const LazyBuffer* inverse = is_op(whole, Op::Mul) ? whole->src[1]->base : nullptr;
  if (inverse == nullptr || !is_op(inverse, Op::Div) || number_of(graph, inverse->src[0]) != 1.0) return nullptr;
  const LazyBuffer* sum = inverse->src[1];
  return sum->is_base() && is_op(sum, Op::ReduceSum) && !sum->scan && repeats_along(graph, whole->src[1], sum->axes) ? sum : nullptr;
}

std::optional<Softmax> softmax_of(LazyGraph& graph, FormFinder& forms, const LazyBuffer* whole) {
  const LazyBuffer* sum = divisor_of(graph, whole);
  if (sum == nullptr || (!is_op(whole->src[0], Op::Exp) && !is_op(whole->src[0], Op::ExpNonPos))) return std::nullopt;
  const LazyBuffer* e = whole->src[0];
  if (sum->src[0] != e) return std::nullopt;
  if (count_along(e->shape(), sum->axes).max() > kMostElements) return std::nullopt;
  const IntegerForm* x = forms.of(without_largest(graph, e->src[0], sum->axes));
  if (x == nullptr || x->fill != 0) return std::nullopt;
  const std::int64_t widest = x->bounds.high - x->bounds.low;
  const std::optional<double> scale = single_scale(*x);
  if (!scale || widest > kWidest) return std::nullopt;
  return Softmax{whole, x->stored ? x->stored.cast(DType::Int32) : x->value, *scale, sum->axes, widest};
}

Tensor wide(const Tensor& v) { return v.cast(DType::Int64); }

/// 2^30 * exp(-step * index), rounded; `index` is at most 255.
Tensor exponential(LazyGraph& graph, const Tensor& index, double step) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < kBytes; i++) values.push_back(std::llrint(std::ldexp(std::exp(-step * static_cast<double>(i)), kPlaces)));
  return read_table(Tensor::constant(graph, Array::of_ints(DType::Int32, {kBytes}, values)), index);
}

/// 2^30 * exp(x - max(x)), rounded.
Tensor exponentials(LazyGraph& graph, const Softmax& s) {
  const Tensor largest(&graph, graph.reduce(Op::ReduceMax, s.value.buffer(), s.axes));
  const Tensor d = largest.expand(s.value.shape()) - s.value;
  if (s.widest < kBytes) return exponential(graph, d, s.scale);
  const Tensor upper = exponential(graph, shifted(d, 8), s.scale * kBytes);
  const Tensor product = wide(upper) * wide(exponential(graph, Tensor::binary(Op::And, d, number_like(d, kBytes - 1)), s.scale));
  return shifted(product + number_like(product, std::int64_t{1} << (kPlaces - 1)), kPlaces).cast(DType::Int32);
}

}  // namespace

std::optional<Tensor> quantised_softmax(LazyGraph& graph, FormFinder& forms, const Quantisation& q, const Tensor& zero) {
  if (!q.x->is_base() || !is_op(q.x, Op::Div) || is_masked(q.x->src[0]->st)) return std::nullopt;
  const std::optional<Tensor> divisor = forms.scale_of(q.x->src[1]);
  const Scalar* point = const_value(zero.buffer());
  if (!divisor || !divisor->size().is_int(1) || point == nullptr) return std::nullopt;
  const double scale = divisor->evaluate()->double_at(0);
  if (scale < kFinest || scale > kCoarsest) return std::nullopt;
  const std::optional<Softmax> s = softmax_of(graph, forms, q.x->src[0]->base);
  if (!s) return std::nullopt;
  // The largest k for which R is less than 2^31, as the sum is at least 2^30, and no step passes 2^63.
  const int k = std::min(2 * kPlaces + std::ilogb(scale), 61 - 8 * static_cast<int>(bytes_of(q.dtype)));
  const OriginScope scope(graph, s->whole->origins);
  const Tensor e = exponentials(graph, *s), sum(&graph, graph.reduce(Op::ReduceSum, wide(e).buffer(), s->axes));
  const Tensor dividend = number_like(sum, std::llrint(std::ldexp(1 / scale, k))) + shifted(sum, 1);
  const Tensor factor = Tensor::binary(Op::Div, dividend, sum).cast(DType::Int32), product = wide(e) * wide(factor.expand(e.shape()));
  const std::int64_t half = std::int64_t{1} << (k - 1), zero_point = point->as_int();
  const Tensor result = shifted(product + number_like(product, 2 * zero_point * half + half), k).cast(DType::Int32);
  const std::int64_t high = bounds_of_type(q.dtype).high;
  const Tensor bounded =
      1 / scale + static_cast<double>(zero_point) + 1 > static_cast<double>(high) ? result.minimum(number_like(result, high)) : result;
  const LazyBuffer* bytes = bounded.cast(q.dtype).buffer();
  return Tensor(&graph, graph.view(bytes, graph.stacked(bytes->st, q.x->src[0]->st)));
}

}  // namespace etch
