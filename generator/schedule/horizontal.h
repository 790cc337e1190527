// Horizontal fusion: of two products in a loop, one of which waits for its weights while the other multiplies, one kernel whose loops do
// both (see codegen/horizontal.h).
#pragma once

#include "schedule/schedule.h"

namespace etch {

/// In each innermost loop: a product of one row and of weights that the first cache does not hold, and one of several rows and other
/// weights that needs nothing of what the loop computes, and of which the loop needs nothing, become one kernel.
void fuse_horizontally(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options);

}  // namespace etch
