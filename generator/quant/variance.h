// Internal to quant/: sums of squared distances to a mean, from sums of integers.
#pragma once

#include <optional>

#include "lazy/tensor.h"
#include "quant/form.h"

namespace etch {

/// Where `sum` adds (x - mean(x))^2 along the axes of the mean, x = v * s: float(n * sum(v^2) - sum(v)^2) * (s^2 / n), in which nothing is
/// rounded before it is a float. nullopt: it adds something else, or more than 2^53.
std::optional<Tensor> sum_of_squared_distances(LazyGraph& graph, FormFinder& forms, const LazyBuffer* sum);

}  // namespace etch
