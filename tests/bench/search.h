// How long etch tune takes for one kernel and for a network, where programs are timed here and where they are counted in an emulator.
#pragma once

#include "context.h"

namespace etch::bench {

void measure_searches(Context& context);

}  // namespace etch::bench
