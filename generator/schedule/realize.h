// Decides which values are stored in memory. All others are computed inside the kernels that need them, perhaps more than once.
#pragma once

#include <unordered_set>
#include <vector>

#include "lazy/graph.h"
#include "schedule/schedule.h"

namespace etch {

using BufferSet = std::unordered_set<const LazyBuffer*>;  // for look-up only, never walked

/// The bases (Compute and Contiguous) that become the output of a kernel:
///   - `outputs`, every Contiguous, and what a Gather reads
///   - values whose elements a view repeats (the input of a convolution), unless they are computed from positions and constants alone
///   - values that are expensive to recompute and needed by several kernels
///   - for each reduction its elementwise post-dominator: the last operation of the bias, residual and relu that follow it. Where its
///     result is brought back to the shape that it reduced, that also passes through further reductions over the same axes (softmax).
///   - values that split a kernel that reads too many buffers or has too many operations
BufferSet choose_realized(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options);

}  // namespace etch
