#include "quant/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "lazy/rewrite.h"
#include "quant/choices.h"
#include "quant/form.h"
#include "quant/functions.h"
#include "quant/normalisation.h"
#include "quant/products.h"
#include "quant/quantisation.h"
#include "quant/softmax.h"
#include "quant/stored_bytes.h"
#include "quant/variance.h"
#include "quant/zero_points.h"

namespace etch {
namespace {

/// What RintSmall takes, with room for what is rounded before it.
constexpr double kSmallFloat = 1 << 29;

/// A value of integers that constants bound: min(max(inner, low), high).
struct Bounded {
  const LazyBuffer* inner = nullptr;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

class Rewriter {
 public:
  explicit Rewriter(LazyGraph& graph) : graph_(graph), forms_(graph), functions_(graph, forms_.bounds()) {}

  /// In the rewritten graph of `outputs`: a sum whose integers are computed anyway, or that ends in a quantisation, is read in float from
  /// them. It is not computed twice, and the same in any order. A largest or least value stays equal to the element that it is.
  std::vector<const LazyBuffer*> with_shared_sums(const std::vector<const LazyBuffer*>& outputs) {
    const std::vector<const LazyBuffer*> bases = toposort_bases(outputs);
    const std::unordered_set<const LazyBuffer*> live(bases.begin(), bases.end()), quantised = below_quantisations(outputs);
    return rewrite(graph_, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) {
      if (!rebuilt->is_reduction() || rebuilt->dtype != DType::Float32) return rebuilt;
      OriginScope scope(graph_, rebuilt->origins);
      const bool is_quantised = quantised.contains(old);
      const IntegerForm* form = forms_.of(rebuilt);
      if (form == nullptr) {
        const std::optional<Tensor> squares = is_quantised ? sum_of_squared_distances(graph_, forms_, rebuilt) : std::nullopt;
        return squares ? squares->buffer() : rebuilt;
      }
      if (form->fill != 0 || form->scales.empty()) return rebuilt;
      const bool is_sum = is_op(rebuilt, Op::ReduceSum), is_live = live.contains(form->value.buffer()->base);
      if (!is_live && !(is_sum && is_quantised)) return rebuilt;
      if (!is_sum) return form->is_computed || !form->divisors.empty() ? rebuilt : in_turn(*form).buffer();
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
  /// One value, which has no divisors: what the graph computes of it, bit by bit.
  static Tensor in_turn(const IntegerForm& form) {
    Tensor value = form.value.cast(DType::Float32);
    for (const Tensor& scale : form.scales) value = value * scale;
    return value;
  }

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
    if (!result) result = quantised_softmax(graph_, forms_, *q, zero);
    if (!result) result = quantised_normalisation(graph_, forms_, *q, zero);
    if (!result) result = before_choice(*q, zero);
    if (!result) result = functions_.polynomials(q->x, zero, q->dtype);
    return result ? result->buffer() : rebuilt;
  }

  /// In integers, or from a table where that is less.
  std::optional<Tensor> simplified(const LazyBuffer* b, const Quantisation& q, const Tensor& zero) {
    const Found found = form_of(q);
    const std::optional<Tensor> integers = found.form == nullptr ? std::nullopt : in_integers(found, q.dtype, zero);
    if (!integers) return functions_.simpler(b, q.x, zero);
    const std::optional<Tensor> read = found.form->is_computed || rescaling_of(*found.form)->is_one
                                           ? functions_.simpler(integers->buffer(), nullptr, {})
                                           : functions_.simpler(b, nullptr, {});
    return read ? read : integers;
  }

  /// What is quantised is chosen from several values, of which at least one is simpler quantised: all are, each as is best.
  std::optional<Tensor> before_choice(const Quantisation& q, const Tensor& zero) {
    if (!q.x->is_base() || !is_op(q.x, Op::Div) || !is_choice(q.x->src[0])) return std::nullopt;
    const std::optional<Tensor> scale = forms_.scale_of(q.x->src[1]);
    const Scalar* point = const_value(zero.buffer());
    if (!scale || !scale->size().is_int(1) || point == nullptr) return std::nullopt;
    bool is_simpler = false;
    const auto quantised = [&](const LazyBuffer* value) {
      const Tensor v(&graph_, value), x = v / Tensor::full(graph_, v.shape(), scale->evaluate()->at(0));
      const Tensor point_there = Tensor::full(graph_, v.shape(), *point);
      const Tensor result = saturated(x.unary(Op::Rint) + point_there.cast(DType::Float32), q.dtype);
      functions_.of(result.buffer());
      std::optional<Tensor> simpler = simplified(result.buffer(), {q.dtype, x.buffer(), nullptr}, point_there);
      if (!simpler) simpler = functions_.polynomials(x.buffer(), point_there, q.dtype);
      is_simpler = is_simpler || simpler;
      return simpler.value_or(result);
    };
    const Tensor chosen = before_choices(q.x->src[0], quantised, graph_, point->cast(q.dtype));
    return is_simpler ? std::optional(chosen) : std::nullopt;
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

  struct Found {
    const IntegerForm* form = nullptr;  // nullptr: there is none
    const Bounded* bounded = nullptr;   // bounds in front of the division by the scale
  };

  Found form_of(const Quantisation& q) {
    if (const IntegerForm* form = forms_.of(q.x)) return {form, nullptr};
    const auto bounded = q.x->is_base() && is_op(q.x, Op::Div) ? bounded_.find(q.x->src[0]) : bounded_.end();
    if (bounded == bounded_.end()) return {};
    return {forms_.of(graph_.elementwise(Op::Div, {bounded->second.inner, q.x->src[1]})), &bounded->second};
  }

  std::optional<Tensor> in_integers(const Found& found, DType dtype, const Tensor& zero) {
    const std::optional<Tensor> result = requantised(*found.form, zero, dtype);
    if (!result || found.bounded == nullptr) return result;
    return with_bounds(*result, found.form->divisors.back(), *found.bounded, zero, dtype);
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

  /// What an int32 is multiplied by, then divided by unless that is empty; both broadcast to its shape.
  struct Rescaling {
    Tensor scale, divisor;
    bool is_one = false;  // it leaves every value as it is
    double most = 0;      // about the largest factor
  };

  /// Of a sum or product by M = scales / divisors, of one value by its scale and divisor. nullopt: a factor is not finite, or there are
  /// others.
  std::optional<Rescaling> rescaling_of(const IntegerForm& form) {
    const Tensor scale = product_of(form.scales), divisor = product_of(form.divisors);
    if (!scale) return std::nullopt;
    const Tensor factor = as_one_value(divisor ? scale / divisor : scale);
    const std::optional<Array> known = factor.evaluate();
    if (!known) return std::nullopt;
    const std::vector<double> values = known->doubles();
    if (!std::ranges::all_of(values, [](double m) { return m > 0 && std::isfinite(m); })) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(values);
    const bool is_one = least == 1 && most == 1;
    if (form.is_computed || is_one) return Rescaling{factor, {}, is_one, most};
    if (form.scales.size() > 1 || form.divisors.size() > 1) return std::nullopt;
    return Rescaling{as_one_value(scale), divisor ? as_one_value(divisor) : divisor, false, most};
  }

  static Tensor rounded(const Tensor& value, const Rescaling& r, Op round = Op::Rint) {
    const Tensor product = value.cast(DType::Float32) * r.scale.expand(value.shape());
    return (r.divisor ? product / r.divisor.expand(value.shape()) : product).unary(round);
  }

  /// saturate(rint(float(value) rescaled) + zero)
  std::optional<Tensor> requantised(const IntegerForm& form, const Tensor& zero, DType dtype) {
    const std::optional<Rescaling> r = rescaling_of(form);
    if (!r) return std::nullopt;
    // At least 1, so that what keeps products small keeps factors small.
    const double reach = std::max({1.0, std::abs(static_cast<double>(form.bounds.low)), std::abs(static_cast<double>(form.bounds.high))});
    const bool is_safe = reach * r->most < kSafeFloat;
    Tensor result;
    if (!r->is_one || !is_safe) {
      const Tensor rescaled = rounded(form.value, *r, reach * r->most <= kSmallFloat ? Op::RintSmall : Op::Rint),
                   whole = is_safe ? rescaled.cast(DType::Int32) : rescaled;  // else saturated as a float
      result = saturated(whole + zero.cast(whole.dtype()).expand(form.value.shape()), dtype);
    } else {
      result = is_stored_so(form, zero, dtype) ? form.stored : saturated(form.value + zero.expand(form.value.shape()), dtype);
    }
    if (fills_saturate(form, *r, zero, dtype)) return result;
    const IntegerBounds type = bounds_of_type(dtype);
    return form.inside.where(result, result.full_like(static_cast<double>(form.fill < 0 ? type.low : type.high)));
  }

  /// Whether what stands for an infinity ends at the bound of the type, whatever the factor and the zero point.
  bool fills_saturate(const IntegerForm& form, const Rescaling& r, const Tensor& zero, DType dtype) {
    if (form.fill == 0) return true;
    Shape shape;
    for (int axis = 0; axis < r.scale.rank(); axis++)
      shape.push_back(r.divisor && r.scale.dim(axis).is_int(1) ? r.divisor.dim(axis) : r.scale.dim(axis));
    const std::int64_t fill = form.fill < 0 ? form.bounds.low : form.bounds.high;
    const std::optional<Array> ends = rounded(Tensor::full(graph_, shape, Scalar::of_int(DType::Int32, fill)), r).evaluate();
    const std::optional<Array> zeros = zero.evaluate();
    if (!ends || !zeros) return false;
    const std::vector<double> all_ends = ends->doubles(), points = zeros->doubles();
    const auto [lowest, highest] = std::ranges::minmax(all_ends);
    const auto [low, high] = std::ranges::minmax(points);
    const IntegerBounds type = bounds_of_type(dtype);
    return form.fill < 0 ? highest + high <= static_cast<double>(type.low) : lowest + low >= static_cast<double>(type.high);
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
  NarrowFunctions functions_;
  std::unordered_map<const LazyBuffer*, Bounded> bounded_;  // for look-up only
};

}  // namespace

std::vector<const LazyBuffer*> to_integers(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs,
                                           std::vector<DeadChannels>* removed, const ByteOptions& options) {
  Rewriter rewriter(graph);
  const auto integers = rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) { return rewriter.replace(rebuilt); });
  WithoutDeadChannels alive = remove_dead_channels(graph, rewriter.with_shared_sums(integers), options.tile);
  if (removed != nullptr) *removed = std::move(alive.removed);
  if (options.stored) alive.outputs = store_bytes_as(graph, alive.outputs, *options.stored);
  const auto fewer = rewrite(graph, alive.outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
    OriginScope scope(graph, rebuilt->origins);
    const LazyBuffer* without = without_zero_point(graph, rebuilt);
    return without == nullptr ? rebuilt : without;
  });
  return with_rounded_products(graph, fewer);
}

}  // namespace etch
