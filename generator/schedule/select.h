// Sums of which only one term can differ from 0 become indexed loads.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// Equal outputs without a sum over n elements, where x and w are in memory:
///   sum over k of (i == k ? x[k] : 0)      ->  x[i] where 0 <= i < n, else 0
///   sum over k of (i == k ? 1 : 0) * w[k]  ->  w[i] likewise; of floats only if w is known and finite, as 0 * infinity is not 0
std::vector<const LazyBuffer*> select_by_index(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
