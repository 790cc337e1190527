// Internal to quant/: bytes of the signedness that dot products want.
#pragma once

#include <vector>

#include "lazy/graph.h"

namespace etch {

/// Computed bytes of the other signedness become bytes of type `stored`, int8 or uint8: x = y + 128 or y - 128. Only those that nothing
/// reads but conversions to int32, which are then int32(y) + 128: the constant joins the zero point. What the model's outputs are stays.
std::vector<const LazyBuffer*> store_bytes_as(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, DType stored);

}  // namespace etch
