// Rewrites before scheduling: values that depend on constants alone are computed, and constant scales and offsets move into the
// weights of the product before them, so that Conv + BatchNormalization costs no more than Conv.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// Equal outputs from fewer operations:
///   sum(a * w) * s         ->  sum(a * (w * s))        w, s constant; the sum is used nowhere else
///   (y + c) * s            ->  y * s + c * s           c, s constant, y * s folds as above
///   (y + c) + d            ->  y + (c + d)             c, d constant; of integers too
/// Skipped where folding would overflow or underflow a weight: the new constant infinite or NaN, or 0 or subnormal though w is a
/// normal number and s is not 0.
std::vector<const LazyBuffer*> fold_scales(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

/// Replaces constants that are computed from data by their values, except those that are cheap and larger than the data they are
/// computed from.
std::vector<const LazyBuffer*> fold_constants(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
