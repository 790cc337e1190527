// Internal to quant/: floats that are integers times constant scales.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lazy/tensor.h"
#include "quant/bounds.h"

namespace etch {

/// A float value: `value` times all of `scales`, divided by all of `divisors`.
struct IntegerForm {
  Tensor value;          // int32, of the float's shape
  IntegerBounds bounds;  // of `value`
  /// Positive, finite constants in float32, of the float's rank; an axis along which one is the same everywhere has size 1.
  std::vector<Tensor> scales, divisors;
  /// -1: bounds.low also stands for -infinity, which pads windows of which the largest value is taken; 1: bounds.high for infinity; 0:
  /// neither.
  int fill = 0;
  Tensor inside = {};  // where the value is another than the fill: bool, of the float's shape; empty if fill is 0
  /// If the value is quantised in memory: `value` is stored - zero, elementwise.
  Tensor stored = {};
  std::int64_t zero = 0;
  /// Whether it is a sum or a product of several values: then its factors may be multiplied before it is. One value that is moved, bounded
  /// or chosen is multiplied by each factor in turn, as the graph says.
  bool is_computed = false;
};

/// The forms of a graph's buffers, each found once; whoever asks from the sources up never waits for a long chain.
class FormFinder {
 public:
  explicit FormFinder(LazyGraph& graph) : graph_(graph), bounds_(graph) {}
  /// nullptr: `buffer` is no such value.
  const IntegerForm* of(const LazyBuffer* buffer);
  /// A constant of positive, finite numbers in float32, not too many, without repetitions; nullopt: it is none.
  std::optional<Tensor> scale_of(const LazyBuffer* constant);
  BoundsFinder& bounds() { return bounds_; }

 private:
  std::optional<IntegerForm> find(const LazyBuffer* buffer);
  std::optional<IntegerForm> of_view(const LazyBuffer* view);
  std::optional<IntegerForm> of_cast(const LazyBuffer* cast);
  std::optional<IntegerForm> of_product(const LazyBuffer* product);
  std::optional<IntegerForm> of_quotient(const LazyBuffer* quotient);
  std::optional<IntegerForm> of_sum(const LazyBuffer* sum);
  /// A sum and the constant that is added to it.
  std::optional<IntegerForm> of_biased(const LazyBuffer* sum);
  /// A sum of elements of one value times constants, of which one is not the same everywhere: what resampling computes.
  std::optional<IntegerForm> of_weighted(const LazyBuffer* sum);
  /// What is joined of values of one scale.
  std::optional<IntegerForm> of_joined(const LazyBuffer* where);
  std::optional<IntegerForm> of_gather(const LazyBuffer* gather);
  std::optional<IntegerForm> of_rectified(const LazyBuffer* max);
  std::optional<IntegerForm> of_padded(const LazyBuffer* where);
  std::optional<IntegerForm> of_reduction(const LazyBuffer* reduction);
  /// The form of a largest or least value of windows that padding fills, of `x`; no fill is left if each window has an element of its own.
  void reduce_inside(const IntegerForm& x, const LazyBuffer* reduction, IntegerForm& form);
  /// The same scale as a view of `view` sees it; nullopt if it differs where the view is masked, or in ways that have no short form.
  std::optional<Tensor> seen(const Tensor& scale, const LazyBuffer* view);

  LazyGraph& graph_;
  BoundsFinder bounds_;
  std::unordered_map<const LazyBuffer*, std::optional<IntegerForm>> known_;
};

/// The product of all, in float32 in their order; of none: nothing.
Tensor product_of(const std::vector<Tensor>& factors);
/// The numbers of factors that are the same for all elements; nullopt: one is not.
std::optional<std::vector<double>> single_values(const std::vector<Tensor>& factors);
/// The scales of `form` over its divisors in float64, if they are the same for all elements; nullopt: one is not.
std::optional<double> single_scale(const IntegerForm& form);

/// The number of elements of `shape` along `axes`.
Sint count_along(const Shape& shape, const std::vector<int>& axes);
/// Whether `b` repeats its base, which has one element along each of `axes`, along these.
bool repeats_along(LazyGraph& graph, const LazyBuffer* b, const std::vector<int>& axes);
/// The constant that is the same everywhere; nullopt: `b` is none.
std::optional<double> number_of(LazyGraph& graph, const LazyBuffer* b);

/// An integer, of the type and shape of `like`.
Tensor number_like(const Tensor& like, std::int64_t value);
/// v >> places
Tensor shifted(const Tensor& v, int places);

}  // namespace etch
