// Requantisation without floats, for cores that compute these in software.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// What replaces `outputs`, of a graph that to_integers() has made: saturate(rint(float(v) * M) + zero) becomes a product of integers and
/// a shift, unless the product is near a tie, where rounding to float32 could decide; it is then computed as before.
///   product_bits  64: by the upper half of the product of two int32; 32: by two products that fit int32
/// What could not be bounded stays as it is.
std::vector<const LazyBuffer*> to_fixed_point(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t product_bits);

}  // namespace etch
