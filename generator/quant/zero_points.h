// Internal to quant/: zero points leave the sums that they are in.
#pragma once

#include "lazy/graph.h"

namespace etch {

/// If `reduction` is a sum of products of constants w with x - z in int32, z one constant: sum(x * w) - z * sum(w), else nullptr. Padding,
/// which is 0 in x - z, is z in x. Integers wrap around, so the result is the same in every bit.
const LazyBuffer* without_zero_point(LazyGraph& graph, const LazyBuffer* reduction);

}  // namespace etch
