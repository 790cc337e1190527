// Internal to lazy/: what an operation is equal to without computing anything. A rule holds for every value of its type:
// x * 0 is not 0 for floats (NaN, infinity), x + 0.0 is not x (-0.0).
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// A buffer equal to op(src...), or nullptr if no rule applies. Sources that are all constants give a constant.
const LazyBuffer* simplify_elementwise(LazyGraph& graph, Op op, const std::vector<const LazyBuffer*>& src);
/// The same for a reduction: of nothing (the identity) and of one value.
const LazyBuffer* simplify_reduce(LazyGraph& graph, Op op, const LazyBuffer* a, const std::vector<int>& axes);
/// op(values...), computed by the reference.
Scalar fold_scalars(Op op, const std::vector<Scalar>& values);

}  // namespace etch
