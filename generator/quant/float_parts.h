// What a quantised model computes in float all the same.
#pragma once

#include <string>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// The nodes of the model that are computed in float from integers and become integers again, in the order of computation: between a
/// conversion to float and a quantisation. Conversions themselves (integers times constant scales, divided by one, rounded) are none of
/// them, nor is what an output in float ends with.
std::vector<std::string> float_parts(const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
