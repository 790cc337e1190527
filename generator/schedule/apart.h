// Internal to schedule/: what a kernel reads, written in another form by a kernel of its own.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/order.h"
#include "schedule/schedule.h"

namespace etch {

/// What one item did, done by several: a choice of that kind, and what the heuristics say.
struct Apart {
  std::vector<ScheduleItem> writes;  // one buffer each, which those behind it read
  ScheduleItem reads;                // writes what the item wrote
  const char* kind = "";
  bool pays = true;
};

/// What the peak of memory (see peak_bytes) may become by all passes that write apart. Where outputs may lie over parts of inputs it stays,
/// as it does for bytes; of floats it counts outputs that are written in place, and may rise by a twentieth: only time asks for them.
class PeakLimit {
 public:
  PeakLimit(const Schedule& schedule, const ScheduleOptions& options);
  /// Whether a buffer of `written` may be written apart by one of `items`.
  bool allows(const std::vector<ScheduleItem>& items, DType written) const;

 private:
  std::vector<const LazyBuffer*> outputs_;
  Reuse bytes_, floats_;
  std::int64_t most_of_bytes_ = 0, most_of_floats_ = 0;
};

/// For each item of which `split` makes several, these take its place if `limit` allows it; what an item
/// before it writes already is not written again, nor is what it reads already. Nothing is done where there are loops.
void write_each_apart(Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit,
                      const std::function<std::optional<Apart>(const ScheduleItem&)>& split);

/// The same by a class, `kKind` of which tells its choices from others', with three functions: what it finds in an item, if anything, and
/// whether that `pays`; the item that writes it; and the item that did both, which then reads what was written.
template <typename Pass>
void write_apart(Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit, Pass& pass) {
  write_each_apart(schedule, options, limit, [&](const ScheduleItem& item) -> std::optional<Apart> {
    const auto found = pass.found_in(item);
    if (!found || (!found->pays && !options.layouts.matter())) return std::nullopt;
    ScheduleItem writes = pass.writing(*found, item);
    ScheduleItem reads = pass.reading(item, *found, writes.out);
    return Apart{{std::move(writes)}, std::move(reads), Pass::kKind, found->pays};
  });
}

/// The item that writes `out`, which is `value` of argument 1, the buffer `x`: a part of the work of the nodes of `reader`.
ScheduleItem written_for(const ScheduleItem& reader, LazyOps& ops, const LazyOp* value, const LazyBuffer* out, const LazyBuffer* x);

/// Inputs that no Load reads any more leave; those behind them move forward.
void drop_unread(LazyOps& ops, ScheduleItem& item);

/// How many Loads of argument `index` an AST has.
std::int64_t loads_of(const LazyOp* root, int index);

}  // namespace etch
