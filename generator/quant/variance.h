// Internal to quant/: sums of squared distances to a mean, from sums of integers.
#pragma once

#include <optional>
#include <vector>

#include "lazy/tensor.h"
#include "quant/form.h"

namespace etch {

/// Values that are one scale times integers, as distances from their mean or from 0.
struct Distances {
  const IntegerForm* form = nullptr;  // of the values
  Tensor sums = {};                   // int32, of the form's integers, where it is their mean; empty: it is 0
  double scale = 1;
  std::int64_t count = 0;  // of which a mean is taken
};
/// Of `distance`, x - mean(x) or x, where the mean is taken along `axes`; nullopt: it is none.
std::optional<Distances> distances_of(LazyGraph& graph, FormFinder& forms, const LazyBuffer* distance, const std::vector<int>& axes);

/// Where `sum` adds (x - mean(x))^2 along the axes of the mean, x = v * s: float(n * sum(v^2) - sum(v)^2) * (s^2 / n), in which nothing is
/// rounded before it is a float. nullopt: it adds something else, or more than 2^53.
std::optional<Tensor> sum_of_squared_distances(LazyGraph& graph, FormFinder& forms, const LazyBuffer* sum);

}  // namespace etch
