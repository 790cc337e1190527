#include "quant/variance.h"

#include <algorithm>
#include <cmath>

#include "lazy/graph.h"

namespace etch {
namespace {

constexpr double kWholeFloats = 9007199254740992;  // 2^53: the reference converts whole numbers by way of float64
constexpr double kNearly = 1e-6;                   // as 1 / n is rounded to float32

}  // namespace

std::optional<Distances> distances_of(LazyGraph& graph, FormFinder& forms, const LazyBuffer* distance, const std::vector<int>& axes) {
  const bool is_centred = distance->is_base() && is_op(distance, Op::Sub) && repeats_along(graph, distance->src[1], axes);
  const LazyBuffer* x = is_centred ? distance->src[0] : distance;
  const IntegerForm* form = forms.of(x);
  const Sint count = count_along(x->shape(), axes);
  if (form == nullptr || form->fill != 0 || !count.is_int()) return std::nullopt;
  const std::optional<double> scale = single_scale(*form);
  if (!scale) return std::nullopt;
  Distances result{.form = form, .scale = *scale, .count = count.as_int()};
  if (!is_centred) return result;
  const IntegerForm* total = forms.of(distance->src[1]->base);
  result.sums = {&graph, graph.reduce(Op::ReduceSum, form->value.buffer(), axes)};
  if (total == nullptr || total->value.buffer() != result.sums.buffer()) return std::nullopt;
  const std::optional<double> mean_scale = single_scale(*total);
  if (!mean_scale || std::abs(*mean_scale * static_cast<double>(result.count) / *scale - 1) > kNearly) return std::nullopt;
  return result;
}

std::optional<Tensor> sum_of_squared_distances(LazyGraph& graph, FormFinder& forms, const LazyBuffer* sum) {
  const LazyBuffer* square = sum->src[0];
  if (!is_op(sum, Op::ReduceSum) || sum->scan || !is_op(square, Op::Mul) || square->src[0] != square->src[1]) return std::nullopt;
  const std::optional<Distances> found = distances_of(graph, forms, square->src[0], sum->axes);
  if (!found || !found->sums) return std::nullopt;
  const IntegerForm& form = *found->form;
  const double most = std::max(std::abs(static_cast<double>(form.bounds.low)), std::abs(static_cast<double>(form.bounds.high)));
  const auto n = static_cast<double>(found->count);
  if (most * n * most * n >= kWholeFloats) return std::nullopt;
  const DType type = most * most * n < int_max(DType::Int32) ? DType::Int32 : DType::Int64;
  const Tensor v = form.value.cast(type), squares = Tensor(&graph, graph.reduce(Op::ReduceSum, (v * v).buffer(), sum->axes));
  const Tensor wide = squares.cast(DType::Int64), wide_sums = found->sums.cast(DType::Int64);
  const Tensor distances = (wide * number_like(wide, found->count) - wide_sums * wide_sums).cast(DType::Float32);
  return distances * Tensor::full(graph, distances.shape(), Scalar::of_double(DType::Float32, found->scale * found->scale / n));
}

}  // namespace etch
