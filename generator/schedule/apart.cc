#include "schedule/apart.h"

#include <algorithm>

#include "base/subscript.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

constexpr std::int64_t kGrowth = 20;  // a part of the peak

/// Whether an item is made several, where the heuristics say `pays`.
bool is_made_several(Schedule& schedule, const ScheduleOptions& options, const ScheduleItem& item, const char* kind, bool pays) {
  if (!options.layouts.matter()) return pays;
  const LayoutQuestion question{kind, item.out->shape(), to_text(item.ast), 2, pays ? 1 : 0};
  return take_way(options.layouts, question, [](int) { return true; }, schedule) == 1;
}

}  // namespace

PeakLimit::PeakLimit(const Schedule& schedule, const ScheduleOptions& options)
    : bytes_(options.orders_alike ? Reuse::Overlaps : Reuse::None), floats_(options.orders_alike ? Reuse::Overlaps : Reuse::InPlace) {
  for (const ScheduledOutput& o : schedule.outputs) outputs_.push_back(o.buffer);
  most_of_bytes_ = peak_bytes(schedule.items, outputs_, bytes_);
  most_of_floats_ = peak_bytes(schedule.items, outputs_, floats_);
  if (!options.orders_alike) most_of_floats_ += most_of_floats_ / kGrowth;
}

bool PeakLimit::allows(const std::vector<ScheduleItem>& items, DType written) const {
  const bool is_float = written == DType::Float32;
  return peak_bytes(items, outputs_, is_float ? floats_ : bytes_) <= (is_float ? most_of_floats_ : most_of_bytes_);
}

void write_each_apart(Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit,
                      const std::function<std::optional<Apart>(const ScheduleItem&)>& split) {
  for (std::size_t i = 0; i < schedule.items.size(); i++) {
    std::optional<Apart> apart = split(schedule.items[i]);
    if (!apart) continue;
    std::vector<ScheduleItem> items = schedule.items;
    const ScheduleItem& item = schedule.items[i];
    const DType written = apart->writes[0].out->dtype;
    auto here = items.begin() + static_cast<std::ptrdiff_t>(i);
    *here = std::move(apart->reads);
    for (ScheduleItem& writes : apart->writes) {
      const bool is_there = std::ranges::find(item.inputs, writes.out) != item.inputs.end();  // x itself has that form
      const bool is_written =
          is_there || std::any_of(items.begin(), here, [&](const ScheduleItem& other) { return other.out == writes.out; });
      if (!is_written) here = std::next(items.insert(here, std::move(writes)));
    }
    if (!limit.allows(items, written)) continue;
    if (!is_made_several(schedule, options, item, apart->kind, apart->pays)) continue;
    const auto more = static_cast<int>(items.size() - schedule.items.size());
    for (ScheduledLoop& loop : schedule.loops)
      if (loop.first > static_cast<int>(i)) loop.first += more, loop.end += more;
    i = static_cast<std::size_t>(here - items.begin());
    schedule.items = std::move(items);
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

void drop_unread(LazyOps& ops, ScheduleItem& item) {
  const int first = static_cast<int>(item.outs().size());
  std::vector<bool> is_read(item.inputs.size(), false);
  for (const LazyOp* op : toposort(item.ast))
    if (op->op == Op::Load) is_read[at(op->mem().index - first)] = true;
  std::vector<int> moved(is_read.size());
  std::vector<const LazyBuffer*> inputs;
  for (std::size_t k = 0; k < is_read.size(); k++) {
    moved[k] = first + static_cast<int>(inputs.size());
    if (is_read[k]) inputs.push_back(item.inputs[k]);
  }
  item.ast = rewrite_ast(ops, item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>& src) -> const LazyOp* {
    if (op->op != Op::Load) return nullptr;
    const int index = moved[at(op->mem().index - first)];
    return src.empty() ? ops.load(index, op->dtype, op->st()) : ops.load_at(index, op->dtype, op->st(), src[0]);
  });
  item.inputs = std::move(inputs);
}

std::int64_t loads_of(const LazyOp* root, int index) {
  return std::ranges::count_if(toposort(root), [&](const LazyOp* o) { return o->op == Op::Load && o->mem().index == index; });
}

}  // namespace etch
