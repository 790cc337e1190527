// The order in which kernels run: every order with sources first is correct, but some need less memory.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace etch {

/// The items in an order of low peak memory, those of a loop together: the better of a depth-first order from the outputs and a greedy
/// order by freed bytes.
std::vector<ScheduleItem> order_items(std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs);

/// What an item may write over results that it is the last to read.
enum class Reuse : std::uint8_t {
  None,
  InPlace,  // one that it reads element by element as it writes, of that size
  Overlaps  // a part of the largest one, as loops that follow each other in memory allow
};

/// Largest sum of bytes of the intermediate results that are alive during one item or one loop, with variable sizes at their largest. An
/// output counts from the item that writes it to the end. Of loops nothing inside counts, and what they carry only until they end.
std::int64_t peak_bytes(const std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& outputs, Reuse reuse = Reuse::None);

}  // namespace etch
