// Internal to lazy/: algebraic simplification of single operations. A rule must hold for every value of its type: for floats x * 0 is
// not always 0 (NaN, infinity), and x + 0.0 is not always x (-0.0).
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// A buffer equal to op(src...), or nullptr if no rule applies. Sources that are all constants give a constant.
const LazyBuffer* simplify_elementwise(LazyGraph& graph, Op op, const std::vector<const LazyBuffer*>& src);
/// The same for a reduction: one over no elements (its start value) or of one value.
const LazyBuffer* simplify_reduce(LazyGraph& graph, Op op, const LazyBuffer* a, const std::vector<int>& axes);
/// op(values...), computed by the reference.
Scalar fold_scalars(Op op, const std::vector<Scalar>& values);

}  // namespace etch
