// Instructions that cores with vectors execute for a multiply-accumulate, counted in their emulators.
#pragma once

#include "context.h"

namespace etch::bench {

/// Convolutions in float32, each alone, by each target's compiler. Says in a line what is left out, and why.
void measure_cores(Context& context);

}  // namespace etch::bench
