// Rewrites before scheduling: what depends on constants alone is computed, and scales and offsets by constants move into
// the weights of the product before them, so that Conv + BatchNormalization costs what Conv does.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// Equal outputs from fewer operations:
///   sum(a * w) * s         ->  sum(a * (w * s))        w, s constant; the sum is used nowhere else
///   (y + c) * s            ->  y * s + c * s           c, s constant, y * s folds as above
///   (y + c) + d            ->  y + (c + d)             c, d constant
/// Skipped where folding would overflow or underflow a weight: the new constant infinite or NaN, or 0 or subnormal though w is a
/// normal number and s is not 0.
std::vector<const LazyBuffer*> fold_scales(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

/// Constants that are computed from data become data, except those that are larger than what they are made from and cheap.
std::vector<const LazyBuffer*> fold_constants(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
