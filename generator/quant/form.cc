#include "quant/form.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "quant/collapse.h"

namespace etch {
namespace {

constexpr IntegerBounds kInt32{-2147483647 - 1, 2147483647};
constexpr std::int64_t kLargestScale = 1 << 16;    // elements of a scale, and of the product of all
constexpr std::size_t kMostFactors = 16;           // scales and divisors of a value
constexpr std::int64_t kLargestWindows = 1 << 22;  // elements of windows
// A bias has the scale of the product that it is added to, as its exporter rounded it.
constexpr double kSameScale = 1e-5;

bool is_one_value(const Tensor& t) {
  return std::ranges::all_of(t.shape(), [](const Sint& d) { return d.is_int(1); });
}

/// The shape that `a` and `b`, of one rank, broadcast to; nullopt: they do not, or it has too many elements.
std::optional<Shape> joint_shape(const Shape& a, const Shape& b) {
  Shape joint = a;
  for (std::size_t k = 0; k < a.size(); k++) {
    if (!a[k].is_int(1) && !b[k].is_int(1) && !(a[k] == b[k])) return std::nullopt;
    if (a[k].is_int(1)) joint[k] = b[k];
  }
  const Sint size = product(joint);
  return size.is_int() && size.as_int() <= kLargestScale ? std::optional(joint) : std::nullopt;
}

/// Scales / divisors; empty if there are no scales.
Tensor quotient(const IntegerForm& form) {
  const Tensor scale = product_of(form.scales), divisor = product_of(form.divisors);
  return scale && divisor ? scale / divisor : scale;
}

/// Whether both have nearly the same scale everywhere.
bool same_scale(const IntegerForm& a, const IntegerForm& b) {
  const Tensor x = quotient(a), y = quotient(b);
  if (!x || !y) return false;
  const std::optional<Shape> joint = joint_shape(x.shape(), y.shape());
  if (!joint) return false;
  const std::optional<Array> p = x.expand(*joint).evaluate(), q = y.expand(*joint).evaluate();
  if (!p || !q) return false;
  return std::ranges::equal(p->doubles(), q->doubles(), [](double v, double w) { return std::abs(v - w) <= kSameScale * v; });
}

/// Whether its factors are few, and their product short.
bool is_short(const IntegerForm& form) {
  if (form.scales.size() + form.divisors.size() > kMostFactors) return false;
  std::optional<Shape> joint = Shape(form.value.shape().size(), Sint(1));
  for (const auto* factors : {&form.scales, &form.divisors})
    for (const Tensor& factor : *factors)
      if (joint) joint = joint_shape(*joint, factor.shape());
  return joint.has_value();
}

/// Of constants alone.
bool is_known(const IntegerForm& form) { return form.value.buffer()->base->constant; }

}  // namespace

Tensor product_of(const std::vector<Tensor>& factors) {
  Tensor product;
  for (const Tensor& factor : factors) product = product ? product * factor : factor;
  return product;
}

std::optional<std::vector<double>> single_values(const std::vector<Tensor>& factors) {
  std::vector<double> values;
  for (const Tensor& factor : factors) {
    const std::optional<Array> array = factor.size().is_int(1) ? factor.evaluate() : std::nullopt;
    if (!array) return std::nullopt;
    values.push_back(array->double_at(0));
  }
  return values;
}

std::optional<double> single_scale(const IntegerForm& form) {
  const auto scales = single_values(form.scales), divisors = single_values(form.divisors);
  if (!scales || !divisors) return std::nullopt;
  const auto product = [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); };
  return product(*scales) / product(*divisors);
}

Sint count_along(const Shape& shape, const std::vector<int>& axes) {
  Sint count = 1;
  for (const int axis : axes) count = count * shape[static_cast<std::size_t>(axis)];
  return count;
}

bool repeats_along(LazyGraph& graph, const LazyBuffer* b, const std::vector<int>& axes) {
  if (b->base->shape().size() != b->shape().size()) return false;
  Shape once = b->shape();
  for (const int axis : axes) once[static_cast<std::size_t>(axis)] = 1;
  return b->base->shape() == once && Tensor(&graph, b->base).expand(b->shape()).buffer() == b;
}

std::optional<double> number_of(LazyGraph& graph, const LazyBuffer* b) {
  if (!b->base->constant || is_masked(b->st) || !b->base->st.size().is_int(1)) return std::nullopt;
  return graph.evaluate(b->base).double_at(0);
}

Tensor number_like(const Tensor& like, std::int64_t value) {
  return Tensor::full(like.graph(), like.shape(), Scalar::of_int(like.dtype(), value));
}

Tensor shifted(const Tensor& v, int places) { return places == 0 ? v : Tensor::binary(Op::Shr, v, number_like(v, places)); }

const IntegerForm* FormFinder::of(const LazyBuffer* buffer) {
  auto found = known_.find(buffer);
  if (found == known_.end()) {
    std::optional<IntegerForm> form = find(buffer);
    if (form && !is_short(*form)) form.reset();
    if (form) bounds_.visit(form->value.buffer());  // its sources are known by now: a long chain is never walked at once
    found = known_.emplace(buffer, std::move(form)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<IntegerForm> FormFinder::find(const LazyBuffer* buffer) {
  OriginScope scope(graph_, buffer->origins);
  if (buffer->dtype != DType::Float32 || is_empty(buffer->shape())) return std::nullopt;
  if (!buffer->is_base()) return of_view(buffer);
  if (buffer->kind == LazyKind::Gather) return of_gather(buffer);
  if (buffer->kind != LazyKind::Compute || buffer->scan) return std::nullopt;
  switch (buffer->op) {
    case Op::Cast:
      return of_cast(buffer);
    case Op::Mul:
      return of_product(buffer);
    case Op::Div:
      return of_quotient(buffer);
    case Op::Add:
      return of_sum(buffer);
    case Op::Max:
      return of_rectified(buffer);
    case Op::Where:
      return of_padded(buffer);
    case Op::ReduceSum:
    case Op::ReduceMax:
    case Op::ReduceMin:
      return of_reduction(buffer);
    default:
      return std::nullopt;
  }
}

std::optional<Tensor> FormFinder::scale_of(const LazyBuffer* constant) {
  if (!constant->base->constant || constant->dtype != DType::Float32) return std::nullopt;
  const Tensor scale = collapsed({&graph_, constant});
  if (!scale.size().is_int() || scale.size().as_int() > kLargestScale) return std::nullopt;
  const std::optional<Array> values = scale.evaluate();
  if (!values || !std::ranges::all_of(values->doubles(), [](double v) { return v > 0 && std::isfinite(v); })) return std::nullopt;
  return scale;
}

std::optional<Tensor> FormFinder::seen(const Tensor& scale, const LazyBuffer* view) {
  if (is_one_value(scale)) return scale.reshape(Shape(view->shape().size(), Sint(1)));
  if (is_masked(view->st)) return std::nullopt;
  const Tensor whole = scale.expand(view->base->shape());
  Tensor through = collapsed({&graph_, graph_.view(whole.buffer(), graph_.stacked(whole.buffer()->st, view->st))});
  if (!through.size().is_int() || through.size().as_int() > kLargestScale) return std::nullopt;
  return through;
}

std::optional<IntegerForm> FormFinder::of_view(const LazyBuffer* view) {
  const IntegerForm* below = of(view->base);
  if (below == nullptr) return std::nullopt;
  const auto through = [&](const Tensor& t) { return Tensor(&graph_, graph_.view(t.buffer(), graph_.stacked(t.buffer()->st, view->st))); };
  if (below->fill != 0 && is_masked(view->st)) return std::nullopt;
  IntegerForm form{through(below->value), below->bounds, {}, {}, below->fill};
  form.is_computed = below->is_computed;
  if (below->inside) form.inside = through(below->inside);
  for (const auto& [from, to] : {std::pair(&below->scales, &form.scales), std::pair(&below->divisors, &form.divisors)})
    for (const Tensor& scale : *from) {
      std::optional<Tensor> moved = seen(scale, view);
      if (!moved) return std::nullopt;
      to->push_back(*std::move(moved));
    }
  if (is_masked(view->st)) {
    form.bounds = {std::min<std::int64_t>(form.bounds.low, 0), std::max<std::int64_t>(form.bounds.high, 0)};
  } else if (below->stored) {
    form.stored = through(below->stored);
    form.zero = below->zero;
  }
  return form;
}

/// float(integers): where these are what is stored less a constant zero point, or what is stored itself, that is remembered.
std::optional<IntegerForm> FormFinder::of_cast(const LazyBuffer* cast) {
  const LazyBuffer* integers = cast->src[0];
  if (is_float(integers->dtype) || integers->dtype == DType::Bool) return std::nullopt;
  const IntegerBounds bounds = bounds_.of(integers);
  if (!bounds.within(kInt32)) return std::nullopt;
  IntegerForm form{Tensor(&graph_, integers).cast(DType::Int32), bounds, {}, {}};
  const LazyBuffer* difference = integers->base;
  if (bytes_of(integers->dtype) <= 2) {
    form.stored = {&graph_, integers};
  } else if (is_op(difference, Op::Sub) && integers->is_base() && is_op(difference->src[0]->base, Op::Cast)) {
    const LazyBuffer *wide = difference->src[0], *zero = difference->src[1];
    const LazyBuffer* narrow = wide->base->src[0];
    const IntegerBounds zeros = zero->base->constant ? bounds_.of(zero) : bounds_of_type(zero->dtype);
    if (wide->is_base() && !is_float(narrow->dtype) && bytes_of(narrow->dtype) <= 2 && zeros.low == zeros.high) {
      form.stored = {&graph_, narrow};
      form.zero = zeros.low;
      form.value = form.stored.cast(DType::Int32) - Tensor::full(graph_, form.stored.shape(), Scalar::of_int(DType::Int32, form.zero));
    }
  }
  return form;
}

std::optional<IntegerForm> FormFinder::of_product(const LazyBuffer* product) {
  const LazyBuffer *a = product->src[0], *b = product->src[1];
  const IntegerForm *left = of(a), *right = of(b);
  if (left != nullptr && right != nullptr) {
    if (left->fill != 0 || right->fill != 0) return std::nullopt;
    const std::optional<IntegerBounds> bounds = product_of(left->bounds, right->bounds);
    if (!bounds || !bounds->within(kInt32)) return std::nullopt;
    IntegerForm form{left->value * right->value, *bounds, left->scales, left->divisors};
    form.is_computed = true;
    form.scales.insert(form.scales.end(), right->scales.begin(), right->scales.end());
    form.divisors.insert(form.divisors.end(), right->divisors.begin(), right->divisors.end());
    return form;
  }
  if (left == nullptr) std::swap(left, right), std::swap(a, b);
  if (left == nullptr) return std::nullopt;
  std::optional<Tensor> scale = scale_of(b);
  if (!scale) return std::nullopt;
  IntegerForm form = *left;
  form.scales.push_back(*std::move(scale));
  return form;
}

std::optional<IntegerForm> FormFinder::of_quotient(const LazyBuffer* quotient) {
  const IntegerForm* below = of(quotient->src[0]);
  if (below == nullptr) return std::nullopt;
  std::optional<Tensor> divisor = scale_of(quotient->src[1]);
  if (!divisor) return std::nullopt;
  IntegerForm form = *below;
  form.divisors.push_back(*std::move(divisor));
  return form;
}

std::optional<IntegerForm> FormFinder::of_sum(const LazyBuffer* sum) {
  std::optional<IntegerForm> form = of_biased(sum);
  return form ? form : of_weighted(sum);
}

std::optional<IntegerForm> FormFinder::of_biased(const LazyBuffer* sum) {
  const IntegerForm *a = of(sum->src[0]), *b = of(sum->src[1]);
  if (a == nullptr || b == nullptr || a->fill != 0 || b->fill != 0) return std::nullopt;
  if (is_known(*a)) std::swap(a, b);
  // The scale of what is computed counts, not that of a bias. All other values are dequantised before they are added.
  if (!is_known(*b) || b->stored || a->scales.size() < 2) return std::nullopt;
  const std::optional<IntegerBounds> bounds = sum_of(a->bounds, b->bounds);
  if (!bounds || !bounds->within(kInt32) || !same_scale(*a, *b)) return std::nullopt;
  return IntegerForm{.value = a->value + b->value, .bounds = *bounds, .scales = a->scales, .divisors = a->divisors, .is_computed = true};
}

/// max(x, 0)
std::optional<IntegerForm> FormFinder::of_rectified(const LazyBuffer* max) {
  for (const std::size_t k : {0, 1}) {
    const IntegerForm* x = of(max->src[k]);
    const Scalar* zero = const_value(max->src[1 - k]);
    if (x == nullptr || x->fill != 0 || zero == nullptr || zero->as_double() != 0) continue;
    if (x->bounds.low >= 0) return *x;
    const IntegerBounds bounds{std::max<std::int64_t>(x->bounds.low, 0), std::max<std::int64_t>(x->bounds.high, 0)};
    const Tensor rectified = x->value.maximum(x->value.full_like(0));
    return IntegerForm{.value = rectified, .bounds = bounds, .scales = x->scales, .divisors = x->divisors, .is_computed = x->is_computed};
  }
  return std::nullopt;
}

/// inside ? x : -infinity, or infinity: what pads a window of which the largest, or least, value is taken.
std::optional<IntegerForm> FormFinder::of_padded(const LazyBuffer* where) {
  const IntegerForm* x = of(where->src[1]);
  const Scalar* fill = const_value(where->src[2]);
  if (fill == nullptr) return of_joined(where);
  if (x == nullptr || x->fill != 0 || !std::isinf(fill->as_double())) return std::nullopt;
  const bool is_low = fill->as_double() < 0;
  const Tensor bound = x->value.full_like(static_cast<double>(is_low ? x->bounds.low : x->bounds.high));
  const Tensor inside(&graph_, where->src[0]);
  IntegerForm form{inside.where(x->value, bound), x->bounds, x->scales, x->divisors, is_low ? -1 : 1, inside};
  form.is_computed = x->is_computed;
  return form;
}

std::optional<IntegerForm> FormFinder::of_reduction(const LazyBuffer* reduction) {
  const IntegerForm* x = of(reduction->src[0]);
  if (x == nullptr || (x->fill == -1 && reduction->op != Op::ReduceMax) || (x->fill == 1 && reduction->op != Op::ReduceMin))
    return std::nullopt;
  for (const int axis : reduction->axes) {
    const auto is_the_same = [axis](const Tensor& scale) { return scale.shape()[static_cast<std::size_t>(axis)].is_int(1); };
    const bool one = x->value.shape()[static_cast<std::size_t>(axis)].is_int(1);
    if (!one && !(std::ranges::all_of(x->scales, is_the_same) && std::ranges::all_of(x->divisors, is_the_same))) return std::nullopt;
  }
  IntegerBounds bounds = x->bounds;
  if (reduction->op == Op::ReduceSum) {
    const Sint count = count_along(reduction->src[0]->shape(), reduction->axes);
    const std::optional<IntegerBounds> sum = product_of(bounds, {count.min(), count.max()});
    if (!sum || !sum->within(kInt32)) return std::nullopt;
    bounds = *sum;
  }
  IntegerForm form{{&graph_, graph_.reduce(reduction->op, x->value.buffer(), reduction->axes)}, bounds, x->scales, x->divisors};
  form.is_computed = x->is_computed || reduction->op == Op::ReduceSum;
  if (x->fill != 0) reduce_inside(*x, reduction, form);
  return form;
}

void FormFinder::reduce_inside(const IntegerForm& x, const LazyBuffer* reduction, IntegerForm& form) {
  const Tensor masks = along_masks(x.inside).cast(DType::UInt8);
  const Tensor inside(&graph_, graph_.reduce(Op::ReduceMax, masks.buffer(), reduction->axes));
  const bool is_known = inside.buffer()->base->constant && masks.size().is_int() && masks.size().as_int() <= kLargestWindows;
  const std::optional<Array> windows = is_known ? inside.evaluate() : std::nullopt;
  if (windows && std::ranges::all_of(windows->ints(), [](std::int64_t v) { return v != 0; })) return;
  form.fill = x.fill;
  form.inside = inside.expand(form.value.shape()).cast(DType::Bool);
}

}  // namespace etch
