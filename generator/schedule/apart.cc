#include "schedule/apart.h"

#include <algorithm>

#include "schedule/order.h"

namespace etch {
namespace {

constexpr std::int64_t kMostGrowth = 20;  // a part of the peak by which copies of floats may raise it

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
  const Reuse usual = options.orders_alike ? Reuse::Overlaps : Reuse::None;
  const std::int64_t peak = peak_bytes(schedule.items, outputs, usual);
  const std::int64_t in_place = peak_bytes(schedule.items, outputs, options.orders_alike ? usual : Reuse::InPlace);
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
    if (peak_bytes(items, outputs, usual) > peak) continue;
    const bool is_for_speed = written->dtype == DType::Float32 && !options.orders_alike;
    if (is_for_speed && peak_bytes(items, outputs, Reuse::InPlace) > in_place + in_place / kMostGrowth) continue;
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
