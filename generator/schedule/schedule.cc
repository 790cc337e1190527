#include "schedule/schedule.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "interp/interp.h"
#include "lazy/ast.h"
#include "schedule/credits.h"
#include "schedule/fold.h"
#include "schedule/order.h"
#include "schedule/realize.h"
#include "schedule/region.h"
#include "schedule/select.h"

namespace etch {
namespace {

/// The base that holds each output: the value's own base if the value shows all its elements in order and no other output has this
/// base, else a copy.
std::vector<const LazyBuffer*> output_buffers(LazyGraph& graph, const std::vector<const LazyBuffer*>& values) {
  std::vector<const LazyBuffer*> buffers;
  for (const LazyBuffer* v : values) {
    const bool whole = v->st.contiguous() && v->st.size() == v->base->st.size();
    const bool taken = std::ranges::find(buffers, v->base) != buffers.end();
    if (is_empty(v->shape())) {
      buffers.push_back(v);
      continue;
    }
    OriginScope scope(graph, v->origins);
    buffers.push_back(whole && is_computed(v->base) && !taken ? v->base : graph.copy(v));
  }
  return buffers;
}

std::vector<ScheduleItem> make_items(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options) {
  std::vector<const LazyBuffer*> roots;
  for (const LazyBuffer* o : outputs)
    if (o->is_base()) roots.push_back(o);
  const BufferSet realized = choose_realized(graph, roots, options);
  const auto in_memory = [&](const LazyBuffer* b) { return realized.contains(b); };
  std::vector<ScheduleItem> items;
  std::vector<Region> regions;
  for (const LazyBuffer* b : toposort_bases(roots)) {
    if (!realized.contains(b)) continue;
    Ast ast = build_ast(graph, b, in_memory);
    items.push_back({ast.store, b, std::move(ast.inputs), {}, {}});
    regions.push_back(region_of(b, in_memory));
  }
  std::vector<Credit> credits = credit_nodes(graph, regions);
  for (std::size_t i = 0; i < items.size(); i++) {
    items[i].nodes = std::move(credits[i].nodes);
    items[i].main_node = std::move(credits[i].main);
  }
  return items;
}

/// Replaces kernels that read only constants by constants, except those that write an output.
std::vector<ScheduleItem> fold_items(LazyGraph& graph, const std::vector<ScheduleItem>& items,
                                     const std::vector<const LazyBuffer*>& outputs) {
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> folded;
  std::vector<ScheduleItem> left;
  for (ScheduleItem item : items) {
    std::vector<const Array*> arrays;
    std::string name;
    for (const LazyBuffer*& b : item.inputs) {
      if (const auto it = folded.find(b); it != folded.end()) b = it->second;
      if (b->kind != LazyKind::Data) continue;
      arrays.push_back(&b->data);
      if (name.empty()) name = b->name;
    }
    const bool constant = arrays.size() == item.inputs.size() && variables(item.ast).empty();
    if (!constant || std::ranges::find(outputs, item.out) != outputs.end()) {
      left.push_back(std::move(item));
      continue;
    }
    folded[item.out] = graph.data(interp_evaluate(item.ast, arrays), name);
  }
  return left;
}

/// Origins of the graph that no item is credited with.
std::vector<std::string> origins_without(const LazyGraph& graph, const std::vector<ScheduleItem>& items) {
  std::vector<std::string> left = graph.all_origins();
  std::set<std::string> credited;
  for (const ScheduleItem& item : items) credited.insert(item.nodes.begin(), item.nodes.end());
  std::erase_if(left, [&](const std::string& o) { return credited.contains(o); });
  return left;
}

/// An item may list an input twice: if two inputs become one by folding, the argument numbers stay.
void verify_item(const ScheduleItem& item) {
  check(item.ast != nullptr && item.ast->op == Op::Store, "a kernel stores its result");
  check(item.ast->dtype == item.out->dtype && product(item.ast->shape) == item.out->st.size(), "a kernel writes the whole of its output");
  for (const LazyOp* op : toposort(item.ast)) {
    if (op->op != Op::Load) continue;
    const auto index = static_cast<std::size_t>(op->mem().index);
    check(index >= 1 && index <= item.inputs.size(), "a load reads one of the inputs");
    check(op->dtype == item.inputs[index - 1]->dtype, "a load has the type of its buffer");
  }
}

}  // namespace

Schedule create_schedule(LazyGraph& graph, const std::vector<OutputSpec>& outputs, const ScheduleOptions& options) {
  std::vector<const LazyBuffer*> values;
  for (const OutputSpec& o : outputs) values.push_back(o.value.buffer());
  values = fold_constants(graph, fold_scales(graph, select_by_index(graph, values)));
  const std::vector<const LazyBuffer*> buffers = output_buffers(graph, values);

  Schedule schedule;
  schedule.items = order_items(fold_items(graph, make_items(graph, buffers, options), buffers), buffers);
  for (std::size_t i = 0; i < outputs.size(); i++) schedule.outputs.push_back({outputs[i].name, buffers[i], outputs[i].value.shape()});
  for (const ScheduleItem& item : schedule.items)
    for (const LazyBuffer* b : item.inputs)
      if (b->kind == LazyKind::Input && std::ranges::find(schedule.inputs, b) == schedule.inputs.end()) schedule.inputs.push_back(b);
  std::ranges::sort(schedule.inputs, {}, &LazyBuffer::number);
  schedule.folded = origins_without(graph, schedule.items);
  verify(schedule);
  return schedule;
}

void verify(const Schedule& schedule) {
  std::unordered_map<const LazyBuffer*, bool> written;
  for (const ScheduleItem& item : schedule.items) {
    verify_item(item);
    for (const LazyBuffer* b : item.inputs)
      check(b->kind == LazyKind::Input || b->kind == LazyKind::Data || written.contains(b), "a kernel reads what is there");
    check(written.emplace(item.out, true).second, "a buffer is written by one kernel");
  }
  for (const ScheduledOutput& o : schedule.outputs)
    check(is_empty(o.shape) || written.contains(o.buffer), "every output with elements is written");
}

std::string to_text(const Schedule& schedule) {
  std::unordered_map<const LazyBuffer*, std::string> names;  // for look-up only
  const auto describe = [](const LazyBuffer* b) { return " " + std::string(name_of(b->dtype)) + " " + shape_text(b->shape()); };
  std::string text;
  for (std::size_t i = 0; i < schedule.inputs.size(); i++) {
    const LazyBuffer* b = schedule.inputs[i];
    names[b] = "'" + b->name + "'";
    text += "input " + names[b] + describe(b) + "\n";
  }
  int constants = 0;
  for (std::size_t i = 0; i < schedule.items.size(); i++) {
    const ScheduleItem& item = schedule.items[i];
    names[item.out] = "t" + std::to_string(i);
    std::string line = "\nkernel " + std::to_string(i) + ": t" + std::to_string(i) + describe(item.out) + " from";
    for (const LazyBuffer* b : item.inputs) {
      if (!names.contains(b)) {
        names[b] = "c" + std::to_string(constants++);
        text += "constant " + names[b] + describe(b) + (b->name.empty() ? "" : " '" + b->name + "'") + "\n";
      }
      line += " " + names[b];
    }
    for (std::size_t n = 0; n < item.nodes.size(); n++) line += (n == 0 ? "   # " : ", ") + item.nodes[n];
    text += line + "\n" + to_text(item.ast);
  }
  text += "\n";
  for (const ScheduledOutput& o : schedule.outputs) {
    text += "output '" + o.name + "' " + std::string(name_of(o.buffer->dtype)) + " " + shape_text(o.shape);
    text += names.contains(o.buffer) ? " = " + names[o.buffer] + "\n" : " (no elements)\n";
  }
  return text;
}

}  // namespace etch
