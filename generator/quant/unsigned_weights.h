// Weights as unsigned bytes, for cores that load these in fewer instructions than signed ones.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// What replaces `outputs`: sum(x * w), w constants of int8, becomes sum(x * (w + 128)) - 128 * sum(x), in int32, which wraps around. The
/// second sum is the same for all outputs that share x, as the channels of a convolution do; where none do, nothing changes.
std::vector<const LazyBuffer*> to_unsigned_weights(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
