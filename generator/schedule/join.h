// Several kernels as one with several outputs: what they read is loaded once, and what one computes for the other is not loaded at all.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace etch {

/// The items in an order of low peak memory (see order.h), some of them joined: of equal shape and in the same loops, without scans and
/// without outputs of the shape that a kernel reduces,
///   - an item and one that reads what it writes, element by element or as a whole for each of its rows (argmax with its value)
///   - two reductions of the same axes that load the same values (mean and maximum)
/// A join that would raise the peak memory of the schedule (see peak_bytes) is not made, whatever results may lie over.
std::vector<ScheduleItem> join_items(LazyGraph& graph, std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs,
                                     const ScheduleOptions& options);

}  // namespace etch
