// Internal to schedule/: what a kernel reads, written in another form by a kernel of its own.
#pragma once

#include <functional>
#include <optional>

#include "schedule/schedule.h"

namespace etch {

/// What one item did, done by two.
struct Apart {
  ScheduleItem writes, reads;
};

/// For each item of which `split` makes two, both take its place if the peak of memory (see peak_bytes) stays what it is; what an item
/// before it writes already is not written again. Nothing is done where there are loops.
void write_apart(Schedule& schedule, const ScheduleOptions& options, const std::function<std::optional<Apart>(const ScheduleItem&)>& split);

/// The item that writes `out`, which is `value` of argument 1, the buffer `x`: a part of the work of the nodes of `reader`.
ScheduleItem written_for(const ScheduleItem& reader, LazyOps& ops, const LazyOp* value, const LazyBuffer* out, const LazyBuffer* x);

/// How many Loads of argument `index` an AST has.
std::int64_t loads_of(const LazyOp* root, int index);

}  // namespace etch
