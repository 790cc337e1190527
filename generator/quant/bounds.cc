#include "quant/bounds.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace etch {
namespace {

constexpr std::int64_t kMostEvaluated = 1 << 20;  // elements of a constant that is computed to know its bounds

/// Whether `base` is a constant that takes little to compute.
bool is_evaluated(const LazyBuffer* base) {
  if (base->kind != LazyKind::Compute || !base->constant || is_empty(base->shape())) return false;
  const auto fits = [](const LazyBuffer* b) { return b->st.size().is_int() && b->st.size().as_int() <= kMostEvaluated; };
  return fits(base) && std::ranges::all_of(base->src, fits);
}

std::optional<IntegerBounds> difference_of(const IntegerBounds& a, const IntegerBounds& b) {
  IntegerBounds r;
  if (__builtin_sub_overflow(a.low, b.high, &r.low) || __builtin_sub_overflow(a.high, b.low, &r.high)) return std::nullopt;
  return r;
}

IntegerBounds of_values(const Array& array) {
  const std::vector<std::int64_t> values = array.ints();
  const auto [low, high] = std::ranges::minmax_element(values);
  return {*low, *high};
}

}  // namespace

IntegerBounds bounds_of_type(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  if (dtype == DType::UInt64) return {0, int_max(DType::Int64)};  // read as int64
  return {int_min(dtype), int_max(dtype)};
}

std::optional<IntegerBounds> sum_of(const IntegerBounds& a, const IntegerBounds& b) {
  IntegerBounds r;
  if (__builtin_add_overflow(a.low, b.low, &r.low) || __builtin_add_overflow(a.high, b.high, &r.high)) return std::nullopt;
  return r;
}

std::optional<IntegerBounds> product_of(const IntegerBounds& a, const IntegerBounds& b) {
  std::array<std::int64_t, 4> ends{};
  std::size_t k = 0;
  for (const std::int64_t x : {a.low, a.high})
    for (const std::int64_t y : {b.low, b.high})
      if (__builtin_mul_overflow(x, y, &ends[k++])) return std::nullopt;
  return IntegerBounds{*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
}

IntegerBounds BoundsFinder::of(const LazyBuffer* buffer) {
  check(!is_float(buffer->dtype), "bounds are of integers");
  if (const auto found = known_.find(buffer); found != known_.end()) return found->second;
  const IntegerBounds bounds = computed(buffer);
  known_.emplace(buffer, bounds);
  return bounds;
}

void BoundsFinder::visit(const LazyBuffer* buffer) {
  if (!is_float(buffer->dtype) && !is_evaluated(buffer->base)) of(buffer);
}

IntegerBounds BoundsFinder::computed(const LazyBuffer* buffer) {
  if (buffer->is_base()) return of_base(buffer);
  IntegerBounds bounds = of(buffer->base);
  if (is_masked(buffer->st)) bounds = {std::min<std::int64_t>(bounds.low, 0), std::max<std::int64_t>(bounds.high, 0)};
  return bounds;
}

IntegerBounds BoundsFinder::of_base(const LazyBuffer* base) {
  const IntegerBounds type = bounds_of_type(base->dtype);
  if (base->dtype == DType::UInt64) return type;
  if (base->kind == LazyKind::Const) return {base->value.as_int(), base->value.as_int()};
  if (base->kind == LazyKind::Data && base->data.size() > 0) return of_values(base->data);
  if (base->kind == LazyKind::Gather) return of(base->src[0]);  // one of the table's values
  if (base->kind == LazyKind::Index) {
    const IntegerBounds positions{0, std::max<std::int64_t>(base->st.size().max() - 1, 0)};
    return positions.within(type) ? positions : type;
  }
  if (is_evaluated(base)) return of_values(graph_.evaluate(base));
  if (base->kind != LazyKind::Compute || base->op == Op::Bitcast) return type;
  if (base->is_reduction()) return of_reduction(base);
  std::vector<IntegerBounds> src;
  for (const LazyBuffer* s : base->src) {
    if (is_float(s->dtype) || s->dtype == DType::UInt64) return type;  // half of uint64 is negative in int64
    src.push_back(of(s));
  }
  std::optional<IntegerBounds> bounds;
  if (base->op == Op::Cast) bounds = src[0];
  if (base->op == Op::Add) bounds = sum_of(src[0], src[1]);
  if (base->op == Op::Sub) bounds = difference_of(src[0], src[1]);
  if (base->op == Op::Mul) bounds = product_of(src[0], src[1]);
  if (base->op == Op::Max) bounds = {std::max(src[0].low, src[1].low), std::max(src[0].high, src[1].high)};
  if (base->op == Op::Min) bounds = {std::min(src[0].low, src[1].low), std::min(src[0].high, src[1].high)};
  return bounds && bounds->within(type) ? *bounds : type;  // what does not fit wraps around
}

IntegerBounds BoundsFinder::of_reduction(const LazyBuffer* reduction) {
  const IntegerBounds type = bounds_of_type(reduction->dtype);
  const LazyBuffer* x = reduction->src[0];
  if (is_float(x->dtype) || is_empty(x->shape())) return type;
  const IntegerBounds one = of(x);
  switch (reduction->op) {
    case Op::ReduceMax:
    case Op::ReduceMin:
      return one;
    case Op::ReduceSum: {
      std::optional<IntegerBounds> sum = one;
      for (const int axis : reduction->axes) {
        const Sint& count = x->shape()[static_cast<std::size_t>(axis)];
        sum = sum ? product_of(*sum, {reduction->scan ? 1 : count.min(), count.max()}) : std::nullopt;
      }
      return sum && sum->within(type) ? *sum : type;
    }
    default:
      return type;
  }
}

}  // namespace etch
