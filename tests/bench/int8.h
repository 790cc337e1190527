// Figures of int8 networks on the emulated Cortex-M4F: arenas, and instructions of the kinds of kernels that they are made of.
#pragma once

#include "context.h"

namespace etch::bench {

void measure_int8(Context& context);

}  // namespace etch::bench
