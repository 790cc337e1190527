// Which values get memory. All others are computed inside the kernels that need them, perhaps more than once.
#pragma once

#include <unordered_set>
#include <vector>

#include "lazy/graph.h"
#include "schedule/schedule.h"

namespace etch {

using BufferSet = std::unordered_set<const LazyBuffer*>;  // for look-up only, never walked

/// The bases (Compute and Contiguous) that become the output of a kernel:
///   - `outputs` and every Contiguous
///   - what a view shows more than once (the input of a convolution), unless it is computed from positions and constants alone
///   - what is expensive to recompute and needed by several kernels
///   - for each reduction its elementwise post-dominator: the last of the bias, residual and relu behind it
///   - what splits a kernel that reads too many buffers or is too long
BufferSet choose_realized(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options);

}  // namespace etch
