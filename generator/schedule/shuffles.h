// Internal to schedule/: axes along which what is read jumps.
#pragma once

#include "schedule/schedule.h"

namespace etch {

/// Where a kernel runs along an axis whose elements were shuffled (channels of groups, taken one of each), the axis becomes two, each with
/// a step of its own: indices need no quotients, and what lies below windows is one view.
///   before: out[c] = in[68 * (c % 4) + c / 4]
///   after:  out[4 * n + c] = in[68 * c + n]
void cut_at_shuffles(LazyGraph& graph, Schedule& schedule);

}  // namespace etch
