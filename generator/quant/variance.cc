#include "quant/variance.h"

#include <algorithm>
#include <cmath>

#include "lazy/graph.h"

namespace etch {
namespace {

constexpr double kWholeFloats = 9007199254740992;  // 2^53: the reference converts whole numbers by way of float64
constexpr double kNearly = 1e-6;                   // as 1 / n is rounded to float32

}  // namespace

std::optional<Tensor> sum_of_squared_distances(LazyGraph& graph, FormFinder& forms, const LazyBuffer* sum) {
  const LazyBuffer* square = sum->src[0];
  if (!is_op(sum, Op::ReduceSum) || sum->scan || !is_op(square, Op::Mul) || square->src[0] != square->src[1]) return std::nullopt;
  const LazyBuffer* distance = square->src[0];
  if (!is_op(distance, Op::Sub)) return std::nullopt;
  const LazyBuffer *x = distance->src[0], *mean = distance->src[1]->base;
  if (!repeats_along(graph, distance->src[1], sum->axes)) return std::nullopt;
  const IntegerForm *form = forms.of(x), *total = forms.of(mean);
  const Sint count = count_along(x->shape(), sum->axes);
  if (form == nullptr || total == nullptr || form->fill != 0 || !count.is_int()) return std::nullopt;
  const Tensor sums(&graph, graph.reduce(Op::ReduceSum, form->value.buffer(), sum->axes));
  const std::optional<double> scale = single_scale(*form), mean_scale = single_scale(*total);
  if (total->value.buffer() != sums.buffer() || !scale || !mean_scale) return std::nullopt;
  const double most = std::max(std::abs(static_cast<double>(form->bounds.low)), std::abs(static_cast<double>(form->bounds.high)));
  const auto n = static_cast<double>(count.as_int());
  if (std::abs(*mean_scale * n / *scale - 1) > kNearly || most * n * most * n >= kWholeFloats) return std::nullopt;
  const DType type = most * most * n < int_max(DType::Int32) ? DType::Int32 : DType::Int64;
  const Tensor v = form->value.cast(type), squares = Tensor(&graph, graph.reduce(Op::ReduceSum, (v * v).buffer(), sum->axes));
  const Tensor wide = squares.cast(DType::Int64), wide_sums = sums.cast(DType::Int64);
  const Tensor distances = (wide * number_like(wide, count.as_int()) - wide_sums * wide_sums).cast(DType::Float32);
  return distances * Tensor::full(graph, distances.shape(), Scalar::of_double(DType::Float32, *scale * *scale / n));
}

}  // namespace etch
