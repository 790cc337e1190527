// Internal to schedule/: padding that is written once.
#pragma once

#include "schedule/apart.h"

namespace etch {

/// Where a sum of products reads narrow integers (floats with float_orders_alike) with padding around them, and each of them many times (a
/// convolution to many channels), a kernel of its own writes them with their padding, and the sum tests nothing; sums with the same padding
/// read the same. Only where the peak of memory (see peak_bytes) stays what it is. With integer_orders_alike such a kernel copies vectors,
/// which takes so little that fewer reads of each are enough. Of floats the peak counts outputs that are written in place, and may rise by
/// a twentieth.
void write_padding_once(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit);

}  // namespace etch
