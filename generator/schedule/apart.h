// Internal to schedule/: what a kernel reads, written in another form by a kernel of its own.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "schedule/schedule.h"

namespace etch {

/// What one item did, done by two: a choice of that kind, and what the heuristics say.
struct Apart {
  ScheduleItem writes, reads;
  const char* kind = "";
  bool pays = true;
};

/// For each item of which `split` makes two, both take its place if the peak of memory (see peak_bytes) stays what it is; what an item
/// before it writes already is not written again, nor is what it reads already. Nothing is done where there are loops.
void write_each_apart(Schedule& schedule, const ScheduleOptions& options,
                      const std::function<std::optional<Apart>(const ScheduleItem&)>& split);

/// The same by a class, `kKind` of which tells its choices from others', with three functions: what it finds in an item, if anything, and
/// whether that `pays`; the item that writes it; and the item that did both, which then reads what was written.
template <typename Pass>
void write_apart(Schedule& schedule, const ScheduleOptions& options, Pass& pass) {
  write_each_apart(schedule, options, [&](const ScheduleItem& item) -> std::optional<Apart> {
    const auto found = pass.found_in(item);
    if (!found || (!found->pays && !options.layouts.matter())) return std::nullopt;
    ScheduleItem writes = pass.writing(*found, item);
    ScheduleItem reads = pass.reading(item, *found, writes.out);
    return Apart{std::move(writes), std::move(reads), Pass::kKind, found->pays};
  });
}

/// The item that writes `out`, which is `value` of argument 1, the buffer `x`: a part of the work of the nodes of `reader`.
ScheduleItem written_for(const ScheduleItem& reader, LazyOps& ops, const LazyOp* value, const LazyBuffer* out, const LazyBuffer* x);

/// How many Loads of argument `index` an AST has.
std::int64_t loads_of(const LazyOp* root, int index);

}  // namespace etch
