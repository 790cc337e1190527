#include "quant/integers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "lazy/rewrite.h"
#include "quant/form.h"
#include "quant/zero_points.h"

namespace etch {
namespace {

/// A float becomes an int32 without a bound of its own if it is nearer to 0.
constexpr double kSafeFloat = 1 << 30;

/// saturate(rint(x) + zero), as an importer writes it: clamped in float, zero point included.
struct Quantisation {
  DType dtype{};
  const LazyBuffer* x = nullptr;     // before rint
  const LazyBuffer* zero = nullptr;  // in float32; nullptr: 0
};

bool is_quantised_type(DType dtype) {
  return dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Int16 || dtype == DType::UInt16;
}

/// The other operand of `b`, op(x, c) where c is one constant `value`; nullptr if it is not that.
const LazyBuffer* operand_beside(const LazyBuffer* b, Op op, double value) {
  if (!b->is_base() || !is_op(b, op)) return nullptr;
  for (const std::size_t k : {0, 1})
    if (const Scalar* c = const_value(b->src[1 - k]); c != nullptr && c->as_double() == value) return b->src[k];
  return nullptr;
}

std::optional<Quantisation> quantisation_of(const LazyBuffer* b) {
  if (!b->is_base() || !is_op(b, Op::Cast) || !is_quantised_type(b->dtype) || b->src[0]->dtype != DType::Float32) return std::nullopt;
  const IntegerBounds type = bounds_of_type(b->dtype);
  const LazyBuffer* x = operand_beside(b->src[0], Op::Min, static_cast<double>(type.high));
  x = x == nullptr ? nullptr : operand_beside(x, Op::Max, static_cast<double>(type.low));
  if (x == nullptr || !x->is_base()) return std::nullopt;
  Quantisation q{.dtype = b->dtype};
  if (is_op(x, Op::Add)) {
    for (const std::size_t k : {0, 1})
      if (x->src[k]->is_base() && is_op(x->src[k], Op::Rint) && x->src[1 - k]->base->constant) {
        q.zero = x->src[1 - k];
        x = x->src[k];
        break;
      }
  }
  if (!is_op(x, Op::Rint)) return std::nullopt;
  q.x = x->src[0];
  return q;
}

/// A bound by one constant before the quantisation.
struct Bound {
  Op op{};  // Max or Min
  double value = 0;
};

class Rewriter {
 public:
  explicit Rewriter(LazyGraph& graph) : graph_(graph), forms_(graph) {}

  /// What replaces `rebuilt`, whose sources are in their new form already.
  const LazyBuffer* replace(const LazyBuffer* rebuilt) {
    if (!is_float(rebuilt->dtype) && !rebuilt->base->constant) forms_.bounds().of(rebuilt);  // from the sources up
    forms_.of(rebuilt);
    const std::optional<Quantisation> q = quantisation_of(rebuilt);
    if (!q) return rebuilt;
    OriginScope scope(graph_, rebuilt->origins);
    const std::optional<Tensor> integers = in_integers(*q);
    return integers ? integers->buffer() : rebuilt;
  }

 private:
  std::optional<Tensor> in_integers(const Quantisation& q) {
    std::vector<Bound> bounds;
    const IntegerForm* form = forms_.of(q.x);
    std::optional<IntegerForm> bounded;
    if (form == nullptr) {
      bounded = behind_bounds(q.x, bounds);
      if (!bounded) return std::nullopt;
      form = &*bounded;
    }
    const Tensor zero = zero_of(q);
    if (!zero) return std::nullopt;
    const std::optional<Tensor> result = requantised(*form, zero, q.dtype);
    if (!result) return std::nullopt;
    return with_bounds(*result, *form, bounds, zero, q.dtype);
  }

  /// x / scale where x is bounded by constants: the form without the bounds, which are listed from the outside in.
  std::optional<IntegerForm> behind_bounds(const LazyBuffer* x, std::vector<Bound>& bounds) {
    if (!x->is_base() || !is_op(x, Op::Div)) return std::nullopt;
    const LazyBuffer* e = x->src[0];
    while (e->is_base() && (is_op(e, Op::Max) || is_op(e, Op::Min)) && forms_.of(e) == nullptr) {
      const Scalar *a = const_value(e->src[0]), *b = const_value(e->src[1]);
      const Scalar* c = a != nullptr ? a : b;
      if (c == nullptr || std::isnan(c->as_double())) return std::nullopt;
      bounds.push_back({e->op, c->as_double()});
      e = a != nullptr ? e->src[1] : e->src[0];
    }
    const IntegerForm* below = forms_.of(e);
    if (below == nullptr || bounds.empty()) return std::nullopt;
    const LazyBuffer* quotient = graph_.elementwise(Op::Div, {e, x->src[1]});
    const IntegerForm* form = forms_.of(quotient);
    return form == nullptr ? std::nullopt : std::optional(*form);
  }

  /// In int32, an axis along which it is the same has size 1; empty if it is not an integer everywhere.
  Tensor zero_of(const Quantisation& q) {
    if (q.zero == nullptr) return Tensor::full(graph_, Shape(q.x->shape().size(), Sint(1)), Scalar::of_int(DType::Int32, 0));
    const LazyBuffer* source = q.zero->base;
    if (!is_op(source, Op::Cast) || is_float(source->src[0]->dtype)) return {};
    return as_one_value(Tensor(&graph_, graph_.view(graph_.cast(source->src[0], DType::Int32), q.zero->st)));
  }

  /// A constant that is the same everywhere needs no memory.
  Tensor as_one_value(const Tensor& constant) {
    if (!constant.buffer()->base->st.size().is_int(1) || is_masked(constant.buffer()->st)) return constant;
    return Tensor::full(graph_, constant.shape(), graph_.evaluate(constant.buffer()->base).at(0));
  }

  /// saturate(rint(float(value) * M) + zero) with M = scales / divisors.
  std::optional<Tensor> requantised(const IntegerForm& form, const Tensor& zero, DType dtype) {
    const Tensor scale = product_of(form.scales), divisor = product_of(form.divisors);
    if (!scale) return std::nullopt;
    const Tensor factor = as_one_value(divisor ? scale / divisor : scale);
    const std::optional<Array> known = factor.evaluate();
    if (!known) return std::nullopt;
    const std::vector<double> values = known->doubles();
    if (!std::ranges::all_of(values, [](double m) { return m > 0 && std::isfinite(m); })) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(values);
    const double reach = std::max(std::abs(static_cast<double>(form.bounds.low)), std::abs(static_cast<double>(form.bounds.high)));
    const bool is_safe = reach * most < kSafeFloat;
    const Shape& shape = form.value.shape();
    Tensor result;
    if (least != 1 || most != 1 || !is_safe) {
      const Tensor rounded = (form.value.cast(DType::Float32) * factor.expand(shape)).unary(Op::Rint);
      const Tensor whole = is_safe ? rounded.cast(DType::Int32) : rounded;  // else saturated as a float
      result = saturated(whole + zero.cast(whole.dtype()).expand(shape), dtype);
    } else {
      result = is_stored_so(form, zero, dtype) ? form.stored : saturated(form.value + zero.expand(shape), dtype);
    }
    if (fills_saturate(form, zero, least, dtype)) return result;
    const IntegerBounds type = bounds_of_type(dtype);
    return form.inside.where(result, result.full_like(static_cast<double>(form.fill < 0 ? type.low : type.high)));
  }

  /// Whether what stands for an infinity ends at the bound of the type.
  static bool fills_saturate(const IntegerForm& form, const Tensor& zero, double least, DType dtype) {
    if (form.fill == 0) return true;
    const std::optional<Array> zeros = zero.evaluate();
    if (!zeros) return false;
    const IntegerBounds type = bounds_of_type(dtype);
    const std::vector<double> values = zeros->doubles();
    const auto [low, high] = std::ranges::minmax(values);
    if (form.fill < 0) return std::rint(static_cast<double>(form.bounds.low) * least) + high <= static_cast<double>(type.low);
    return std::rint(static_cast<double>(form.bounds.high) * least) + low >= static_cast<double>(type.high);
  }

  static bool is_stored_so(const IntegerForm& form, const Tensor& zero, DType dtype) {
    if (!form.stored || form.stored.dtype() != dtype) return false;
    const std::optional<Array> zeros = zero.evaluate();
    return zeros && std::ranges::all_of(zeros->ints(), [&](std::int64_t z) { return z == form.zero; });
  }

  static Tensor saturated(const Tensor& x, DType dtype) {
    const IntegerBounds type = bounds_of_type(dtype);
    return x.clip(static_cast<double>(type.low), static_cast<double>(type.high)).cast(dtype);
  }

  /// A bound c of what is quantised is a bound of the result: both are monotonic. The innermost comes first.
  std::optional<Tensor> with_bounds(Tensor result, const IntegerForm& form, const std::vector<Bound>& bounds, const Tensor& zero,
                                    DType dtype) {
    if (bounds.empty()) return result;
    const Tensor divisor = form.divisors.back();
    const IntegerBounds type = bounds_of_type(dtype);
    for (auto bound = bounds.rbegin(); bound != bounds.rend(); bound++) {
      const Tensor value = Tensor::full(graph_, divisor.shape(), Scalar::of_double(DType::Float32, bound->value)) / divisor;
      const Tensor at = (value.unary(Op::Rint) + zero.cast(DType::Float32))
                            .clip(static_cast<double>(type.low), static_cast<double>(type.high))
                            .cast(dtype)
                            .expand(result.shape());
      result = bound->op == Op::Max ? result.maximum(at) : result.minimum(at);
    }
    return result;
  }

  LazyGraph& graph_;
  FormFinder forms_;
};

}  // namespace

std::vector<const LazyBuffer*> to_integers(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs,
                                           std::vector<DeadChannels>* removed) {
  Rewriter rewriter(graph);
  const auto integers = rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) { return rewriter.replace(rebuilt); });
  WithoutDeadChannels alive = remove_dead_channels(graph, integers);
  if (removed != nullptr) *removed = std::move(alive.removed);
  return rewrite(graph, alive.outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
    OriginScope scope(graph, rebuilt->origins);
    const LazyBuffer* without = without_zero_point(graph, rebuilt);
    return without == nullptr ? rebuilt : without;
  });
}

}  // namespace etch
