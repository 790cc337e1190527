#include "quant/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "lazy/rewrite.h"
#include "quant/choices.h"
#include "quant/form.h"
#include "quant/functions.h"
#include "quant/quantisation.h"
#include "quant/zero_points.h"

namespace etch {
namespace {

/// A float becomes an int32 without a bound of its own if it is nearer to 0.
constexpr double kSafeFloat = 1 << 30;

/// A value of integers that constants bound: min(max(inner, low), high).
struct Bounded {
  const LazyBuffer* inner = nullptr;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

class Rewriter {
 public:
  explicit Rewriter(LazyGraph& graph) : graph_(graph), forms_(graph), functions_(graph) {}

  /// In the rewritten graph of `outputs`: a sum whose integers are computed anyway is read in float from them, so that it is not computed
  /// twice.
  std::vector<const LazyBuffer*> with_shared_sums(const std::vector<const LazyBuffer*>& outputs) {
    const std::vector<const LazyBuffer*> bases = toposort_bases(outputs);
    const std::unordered_set<const LazyBuffer*> live(bases.begin(), bases.end());
    return rewrite(graph_, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
      const IntegerForm* form = rebuilt->is_reduction() ? forms_.of(rebuilt) : nullptr;
      if (form == nullptr || form->fill != 0 || form->scales.empty() || !live.contains(form->value.buffer()->base)) return rebuilt;
      OriginScope scope(graph_, rebuilt->origins);
      Tensor value = form->value.cast(DType::Float32) * product_of(form->scales);
      if (const Tensor divisor = product_of(form->divisors)) value = value / divisor;
      return value.buffer();
    });
  }

  /// What replaces `rebuilt`, whose sources are in their new form already.
  const LazyBuffer* replace(const LazyBuffer* rebuilt) {
    const LazyBuffer* result = replaced(rebuilt);
    forms_.bounds().visit(result);  // from the sources up, so that nothing ever walks a long chain
    return result;
  }

 private:
  const LazyBuffer* replaced(const LazyBuffer* rebuilt) {
    if (forms_.of(rebuilt) == nullptr) find_bounds(rebuilt);
    functions_.of(rebuilt);
    const std::optional<Quantisation> q = quantisation_of(rebuilt);
    OriginScope scope(graph_, rebuilt->origins);
    if (!q) {
      const std::optional<Tensor> result = functions_.simpler(rebuilt, nullptr, {});
      return result ? result->buffer() : rebuilt;
    }
    const Tensor zero = zero_of(*q);
    if (!zero) return rebuilt;
    std::optional<Tensor> result = simplified(rebuilt, *q, zero);
    if (!result) result = before_choice(*q, zero);
    return result ? result->buffer() : rebuilt;
  }

  /// In integers, or from a table where that is less.
  std::optional<Tensor> simplified(const LazyBuffer* b, const Quantisation& q, const Tensor& zero) {
    const std::optional<Tensor> integers = in_integers(q, zero);
    if (integers && !functions_.is_read(integers->buffer())) return integers;
    const std::optional<Tensor> simpler = functions_.simpler(b, q.x, zero);
    return simpler ? simpler : integers;
  }

  /// What is quantised is chosen from several values: these are quantised, each as is best.
  std::optional<Tensor> before_choice(const Quantisation& q, const Tensor& zero) {
    if (!q.x->is_base() || !is_op(q.x, Op::Div) || !is_choice(q.x->src[0])) return std::nullopt;
    const std::optional<Tensor> scale = forms_.scale_of(q.x->src[1]);
    const Scalar* point = const_value(zero.buffer());
    if (!scale || !scale->size().is_int(1) || point == nullptr) return std::nullopt;
    const auto quantised = [&](const LazyBuffer* value) {
      const Tensor v(&graph_, value), x = v / Tensor::full(graph_, v.shape(), scale->evaluate()->at(0));
      const Tensor point_there = Tensor::full(graph_, v.shape(), *point);
      const Tensor result = saturated(x.unary(Op::Rint) + point_there.cast(DType::Float32), q.dtype);
      functions_.of(result.buffer());
      return simplified(result.buffer(), {q.dtype, x.buffer(), nullptr}, point_there).value_or(result);
    };
    return before_choices(q.x->src[0], quantised, graph_, point->cast(q.dtype));
  }

  /// Remembers `b` if it is a largest or least of a constant and an integer form, which may be bounded already.
  void find_bounds(const LazyBuffer* b) {
    if (!b->is_base() || !(is_op(b, Op::Max) || is_op(b, Op::Min)) || b->dtype != DType::Float32) return;
    for (const std::size_t k : {0, 1}) {
      const Scalar* c = const_value(b->src[k]);
      const LazyBuffer* x = b->src[1 - k];
      const auto before = bounded_.find(x);
      if (c == nullptr || std::isnan(c->as_double()) || (before == bounded_.end() && forms_.of(x) == nullptr)) continue;
      Bounded bounded = before == bounded_.end() ? Bounded{.inner = x} : before->second;
      const auto apply = [&](double v) { return b->op == Op::Max ? std::max(v, c->as_double()) : std::min(v, c->as_double()); };
      bounded.low = apply(bounded.low);
      bounded.high = apply(bounded.high);
      bounded_.emplace(b, bounded);
      return;
    }
  }

  std::optional<Tensor> in_integers(const Quantisation& q, const Tensor& zero) {
    const IntegerForm* form = forms_.of(q.x);
    const Bounded* bounded = nullptr;
    if (form == nullptr && q.x->is_base() && is_op(q.x, Op::Div)) {  // x / scale, where x is bounded: the bounds move behind it
      const auto found = bounded_.find(q.x->src[0]);
      if (found == bounded_.end()) return std::nullopt;
      bounded = &found->second;
      form = forms_.of(graph_.elementwise(Op::Div, {bounded->inner, q.x->src[1]}));
    }
    if (form == nullptr) return std::nullopt;
    const std::optional<Tensor> result = requantised(*form, zero, q.dtype);
    return result && bounded != nullptr ? with_bounds(*result, form->divisors.back(), *bounded, zero, q.dtype) : result;
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
    if (fills_saturate(form, zero, static_cast<float>(least), static_cast<float>(most), dtype)) return result;
    const IntegerBounds type = bounds_of_type(dtype);
    return form.inside.where(result, result.full_like(static_cast<double>(form.fill < 0 ? type.low : type.high)));
  }

  /// Whether what stands for an infinity ends at the bound of the type, for the least favourable of the factors.
  static bool fills_saturate(const IntegerForm& form, const Tensor& zero, float least, float most, DType dtype) {
    if (form.fill == 0) return true;
    const std::optional<Array> zeros = zero.evaluate();
    if (!zeros) return false;
    const IntegerBounds type = bounds_of_type(dtype);
    const std::vector<double> values = zeros->doubles();
    const auto [low, high] = std::ranges::minmax(values);
    const auto rounded = [](std::int64_t fill, float factor) { return std::rint(static_cast<float>(fill) * factor); };
    const std::int64_t lowest = form.bounds.low, highest = form.bounds.high;
    if (form.fill < 0) return rounded(lowest, lowest > 0 ? most : least) + high <= static_cast<double>(type.low);
    return rounded(highest, highest > 0 ? least : most) + low >= static_cast<double>(type.high);
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

  /// A bound c of what is quantised is a bound of the result, quantised alike: both are monotonic.
  Tensor with_bounds(Tensor result, const Tensor& divisor, const Bounded& bounded, const Tensor& zero, DType dtype) {
    const auto quantised = [&](double bound) {
      const Tensor value = Tensor::full(graph_, divisor.shape(), Scalar::of_double(DType::Float32, bound)) / divisor;
      return saturated(value.unary(Op::Rint) + zero.cast(DType::Float32), dtype).expand(result.shape());
    };
    if (bounded.low > -std::numeric_limits<double>::infinity()) result = result.maximum(quantised(bounded.low));
    if (bounded.high < std::numeric_limits<double>::infinity()) result = result.minimum(quantised(bounded.high));
    return result;
  }

  LazyGraph& graph_;
  FormFinder forms_;
  ByteFunctions functions_;
  std::unordered_map<const LazyBuffer*, Bounded> bounded_;  // for look-up only
};

}  // namespace

std::vector<const LazyBuffer*> to_integers(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  Rewriter rewriter(graph);
  const auto integers = rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) { return rewriter.replace(rebuilt); });
  return rewrite(graph, rewriter.with_shared_sums(integers), [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
    OriginScope scope(graph, rebuilt->origins);
    const LazyBuffer* without = without_zero_point(graph, rebuilt);
    return without == nullptr ? rebuilt : without;
  });
}

}  // namespace etch
