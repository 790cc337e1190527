// Weighted sums of elements of one value, as resampling makes them: with weights that are fractions of small numbers they are sums
// of integers.
#include <algorithm>
#include <cmath>

#include "quant/collapse.h"
#include "quant/form.h"

namespace etch {
namespace {

constexpr std::int64_t kLargestWeights = 1 << 16;  // elements of the weights of one term
constexpr std::size_t kMostTerms = 16;
constexpr int kMostSteps = 64;  // from a term to what it is picked from
constexpr int kMostParts = 4096;

struct Term {
  const LazyBuffer* x = nullptr;
  const LazyBuffer* weights = nullptr;  // constant; nullptr: 1
};

/// The terms of a tree of sums, left to right; none: too many.
std::vector<Term> terms_of(const LazyBuffer* sum) {
  std::vector<Term> terms;
  std::vector<const LazyBuffer*> left{sum};
  while (!left.empty()) {
    const LazyBuffer* b = left.back();
    left.pop_back();
    if (terms.size() + left.size() >= kMostTerms) return {};
    if (b->is_base() && is_op(b, Op::Add)) {
      left.push_back(b->src[1]);
      left.push_back(b->src[0]);
      continue;
    }
    Term term{b};
    if (b->is_base() && is_op(b, Op::Mul))
      for (const std::size_t k : {0, 1})
        if (b->src[k]->base->constant && !b->src[1 - k]->base->constant) term = {b->src[1 - k], b->src[k]};
    terms.push_back(term);
  }
  return terms;
}

/// What a value is made of by moving, picking and joining elements; nullptr: of several values, or by too many steps.
const LazyBuffer* picked_from(const LazyBuffer* b, int& steps) {
  while (b->base->kind == LazyKind::Gather) b = b->base->src[0];
  if (!is_op(b->base, Op::Where)) return b->base;
  if (steps-- <= 0) return nullptr;
  const LazyBuffer* one = picked_from(b->base->src[1], steps);
  return one != nullptr && one == picked_from(b->base->src[2], steps) ? one : nullptr;
}

/// Whether all elements of both have the same factors.
bool same_factors(const IntegerForm& a, const IntegerForm& b) {
  const auto scales = single_values(a.scales), divisors = single_values(a.divisors);
  return scales && divisors && scales == single_values(b.scales) && divisors == single_values(b.divisors);
}

/// The weights of a term in few elements; nullopt: they are too many, or not finite.
std::optional<Array> weights_of(LazyGraph& graph, const Term& term) {
  if (term.weights == nullptr)
    return Array::filled(DType::Float32, std::vector<std::int64_t>(term.x->shape().size(), 1), Scalar::of_double(DType::Float32, 1));
  const Tensor few = collapsed({&graph, term.weights});
  if (!few.size().is_int() || few.size().as_int() > kLargestWeights) return std::nullopt;
  std::optional<Array> values = few.evaluate();
  if (!values || !std::ranges::all_of(values->doubles(), [](double v) { return std::isfinite(v); })) return std::nullopt;
  return values;
}

/// The least number of parts of which all weights are whole numbers, as exactly as float32 has them; nullopt: too many.
std::optional<int> parts_of(const std::vector<Array>& weights) {
  const auto is_whole = [](double w, int parts) { return static_cast<float>(std::rint(w * parts) / parts) == static_cast<float>(w); };
  for (int parts = 1; parts <= kMostParts; parts++)
    if (std::ranges::all_of(weights, [&](const Array& array) {
          return std::ranges::all_of(array.doubles(), [&](double w) { return is_whole(w, parts); });
        }))
      return parts;
  return std::nullopt;
}

}  // namespace

std::optional<IntegerForm> FormFinder::of_weighted(const LazyBuffer* sum) {
  const std::vector<Term> terms = terms_of(sum);
  if (terms.empty()) return std::nullopt;
  std::vector<Array> weights;
  int steps = kMostSteps;
  const LazyBuffer* source = picked_from(terms[0].x, steps);
  for (const Term& term : terms) {
    steps = kMostSteps;
    if (source == nullptr || picked_from(term.x, steps) != source) return std::nullopt;
    std::optional<Array> values = weights_of(graph_, term);
    if (!values) return std::nullopt;
    weights.push_back(*std::move(values));
  }
  // Of one number for all elements it is a function of each, which another part finds.
  const bool is_resampled = std::ranges::any_of(weights, [](const Array& w) { return w.size() > 1; });
  const std::optional<int> parts = is_resampled ? parts_of(weights) : std::nullopt;
  if (!parts) return std::nullopt;
  IntegerForm form;
  for (std::size_t t = 0; t < terms.size(); t++) {
    const IntegerForm* x = of(terms[t].x);
    if (x == nullptr || x->fill != 0) return std::nullopt;
    std::vector<std::int64_t> whole;
    for (const double w : weights[t].doubles()) whole.push_back(static_cast<std::int64_t>(std::rint(w * *parts)));
    const auto [low, high] = std::ranges::minmax(whole);
    const std::optional<IntegerBounds> bounds = product_of(x->bounds, {low, high});
    const std::optional<IntegerBounds> all = bounds ? sum_of(form.bounds, *bounds) : std::nullopt;
    if (!all || !all->within(bounds_of_type(DType::Int32))) return std::nullopt;
    const Tensor factor = Tensor::constant(graph_, Array::of_ints(DType::Int32, weights[t].shape(), whole)).expand(x->value.shape());
    const Tensor part = x->value * factor;
    if (t == 0) form = {.value = {}, .bounds = {}, .scales = x->scales, .divisors = x->divisors, .is_computed = true};
    if (!same_factors(form, *x)) return std::nullopt;
    form.value = t == 0 ? part : form.value + part;
    form.bounds = *all;
  }
  if (*parts > 1)
    form.divisors.push_back(Tensor::full(graph_, Shape(form.value.shape().size(), Sint(1)), Scalar::of_double(DType::Float32, *parts)));
  return form;
}

std::optional<IntegerForm> FormFinder::of_gather(const LazyBuffer* gather) {
  const IntegerForm* table = of(gather->src[0]);
  if (table == nullptr || table->fill != 0) return std::nullopt;
  const auto pick = [&](const Tensor& t) { return Tensor(&graph_, graph_.gather(t.buffer(), gather->src[1])); };
  IntegerForm form{.value = {}, .bounds = table->bounds, .scales = {}, .divisors = {}, .is_computed = table->is_computed};
  for (const auto& [from, to] : {std::pair(&table->scales, &form.scales), std::pair(&table->divisors, &form.divisors)})
    for (const Tensor& factor : *from) {
      if (!factor.size().is_int(1)) return std::nullopt;
      to->push_back(factor.reshape(Shape(gather->shape().size(), Sint(1))));
    }
  if (table->stored) {
    form.stored = pick(table->stored);
    form.zero = table->zero;
    form.value = form.stored.cast(DType::Int32) - Tensor::full(graph_, form.stored.shape(), Scalar::of_int(DType::Int32, form.zero));
  } else {
    form.value = pick(table->value);
  }
  return form;
}

std::optional<IntegerForm> FormFinder::of_joined(const LazyBuffer* where) {
  const IntegerForm *a = of(where->src[1]), *b = of(where->src[2]);
  if (a == nullptr || b == nullptr || a->fill != 0 || b->fill != 0 || !same_factors(*a, *b)) return std::nullopt;
  const IntegerBounds bounds{std::min(a->bounds.low, b->bounds.low), std::max(a->bounds.high, b->bounds.high)};
  return IntegerForm{.value = Tensor(&graph_, where->src[0]).where(a->value, b->value),
                     .bounds = bounds,
                     .scales = a->scales,
                     .divisors = a->divisors,
                     .is_computed = a->is_computed || b->is_computed};
}

}  // namespace etch
