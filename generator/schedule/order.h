// In which order kernels run: any order in which sources come first is right, some need less memory.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace etch {

/// The items in an order of low peak memory: the better of depth first from the outputs and greedy by what is freed.
std::vector<ScheduleItem> order_items(std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs);

/// Largest sum of bytes of the intermediate results that are alive during one item, sizes at their largest. Outputs count
/// from when they are written to the end.
std::int64_t peak_bytes(const std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
