#include "schedule/apart.h"

#include <algorithm>

#include "schedule/order.h"

namespace etch {
namespace {

constexpr double kGrowth = 0.05;  // of the peak, by copies of floats: only time asks for them

/// What the peak of memory may become.
class Limit {
 public:
  Limit(const Schedule& schedule, const std::vector<const LazyBuffer*>& outputs, Reuse reuse, double growth)
      : outputs_(outputs), reuse_(reuse), most_(static_cast<double>(peak_bytes(schedule.items, outputs, reuse)) * (1 + growth)) {}

  bool allows(const std::vector<ScheduleItem>& items) const { return static_cast<double>(peak_bytes(items, outputs_, reuse_)) <= most_; }

 private:
  const std::vector<const LazyBuffer*>& outputs_;
  Reuse reuse_;
  double most_;
};

/// Whether an item is made two, where the heuristics say `pays`.
bool is_made_two(Schedule& schedule, const ScheduleOptions& options, const ScheduleItem& item, const char* kind, bool pays) {
  if (!options.layouts.matter()) return pays;
  const LayoutQuestion question{kind, item.out->shape(), to_text(item.ast), 2, pays ? 1 : 0};
  return take_way(options.layouts, question, [](int) { return true; }, schedule) == 1;
}

}  // namespace

void write_each_apart(Schedule& schedule, const ScheduleOptions& options,
                      const std::function<std::optional<Apart>(const ScheduleItem&)>& split) {
  if (!schedule.loops.empty()) return;
  std::vector<const LazyBuffer*> outputs;
  for (const ScheduledOutput& o : schedule.outputs) outputs.push_back(o.buffer);
  const Limit of_bytes(schedule, outputs, options.orders_alike ? Reuse::Overlaps : Reuse::None, 0);
  const Limit of_floats(schedule, outputs, options.orders_alike ? Reuse::Overlaps : Reuse::InPlace, options.orders_alike ? 0 : kGrowth);
  for (std::size_t i = 0; i < schedule.items.size(); i++) {
    std::optional<Apart> apart = split(schedule.items[i]);
    if (!apart) continue;
    std::vector<ScheduleItem> items = schedule.items;
    const auto here = items.begin() + static_cast<std::ptrdiff_t>(i);
    const LazyBuffer* written = apart->writes.out;
    const bool is_there = std::ranges::find(here->inputs, written) != here->inputs.end();  // x itself has that form
    const bool is_written = is_there || std::any_of(items.begin(), here, [&](const ScheduleItem& item) { return item.out == written; });
    *here = std::move(apart->reads);
    if (!is_written) items.insert(here, std::move(apart->writes));
    if (!(written->dtype == DType::Float32 ? of_floats : of_bytes).allows(items)) continue;
    if (!is_made_two(schedule, options, schedule.items[i], apart->kind, apart->pays)) continue;
    schedule.items = std::move(items);
    if (!is_written) i++;
  }
}

ScheduleItem written_for(const ScheduleItem& reader, LazyOps& ops, const LazyOp* value, const LazyBuffer* out, const LazyBuffer* x) {
  ScheduleItem item;
  item.ast = ops.store(0, value, ShapeTracker::from_shape(out->shape()));
  item.out = out;
  item.inputs = {x};
  item.nodes = {reader.main_node};
  item.main_node = reader.main_node;
  return item;
}

std::int64_t loads_of(const LazyOp* root, int index) {
  return std::ranges::count_if(toposort(root), [&](const LazyOp* o) { return o->op == Op::Load && o->mem().index == index; });
}

}  // namespace etch
