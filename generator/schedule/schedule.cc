#include "schedule/schedule.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "interp/interp.h"
#include "lazy/ast.h"
#include "schedule/credits.h"
#include "schedule/fold.h"
#include "schedule/loops.h"
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
    const bool taken = std::ranges::find(buffers, v->base) != buffers.end();
    if (is_empty(v->shape())) {
      buffers.push_back(v);
      continue;
    }
    OriginScope scope(graph, v->origins);
    buffers.push_back(shows_base(v) && (is_computed(v->base) || is_list(v->base)) && !taken ? v->base : graph.copy(v));
  }
  return buffers;
}

/// Stores a kernel's result as element `loop->counter` of a list.
const LazyOp* store_in_list(LazyGraph& graph, const LazyOp* store, const LazyBuffer* list) {
  ShapeTracker st = list->st;
  std::vector<Range> ranges;
  for (const Sint& d : list->shape()) ranges.emplace_back(0, d);
  ranges.front() = {list->loop->counter, list->loop->counter + 1};
  return graph.ops().store(0, store->src[0], st.shrink(ranges).reshape(store->shape));
}

/// What the items that compute the sources of loops write instead of these: the memory of carried values, and lists.
void write_for_loops(LazyGraph& graph, std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& order) {
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> target;  // for look-up only
  for (const LazyBuffer* b : order) {
    if (b->kind != LazyKind::LoopResult) continue;
    const auto carried = static_cast<std::size_t>(b->loop->carried);
    for (std::size_t k = 0; k < carried; k++) {
      const LazyBuffer* first = b->src[k];
      target[first] = graph.carried(b->loop, static_cast<int>(k), first->dtype, first->shape());
    }
    if (is_list(b)) target[b->src[static_cast<std::size_t>(b->slot) + carried]] = b;
  }
  for (ScheduleItem& item : items) {
    if (const auto found = target.find(item.out); found != target.end()) item.out = found->second;
    if (is_list(item.out)) item.ast = store_in_list(graph, item.ast, item.out);
  }
}

std::vector<ScheduleItem> make_items(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options) {
  std::vector<const LazyBuffer*> roots;
  for (const LazyBuffer* o : outputs)
    if (o->is_base()) roots.push_back(o);
  const std::vector<const LazyBuffer*> order = toposort_bases(roots);
  const LoopNests nests(order);
  const BufferSet realized = choose_realized(graph, roots, options);
  const auto in_memory = [&](const LazyBuffer* b) { return realized.contains(b); };
  std::vector<ScheduleItem> items;
  std::vector<Region> regions;
  for (const LazyBuffer* b : order) {
    if (!realized.contains(b)) continue;
    Ast ast = b->kind == LazyKind::External ? Ast{nullptr, b->src} : build_ast(graph, b, in_memory);
    items.push_back({ast.store, b, std::move(ast.inputs), {}, {}, nests.of(b), b->external});
    regions.push_back(region_of(b, in_memory));
  }
  std::vector<Credit> credits = credit_nodes(graph, regions);
  for (std::size_t i = 0; i < items.size(); i++) {
    items[i].nodes = std::move(credits[i].nodes);
    items[i].main_node = std::move(credits[i].main);
  }
  write_for_loops(graph, items, order);
  return items;
}

/// Replaces kernels that read only constants by constants, except those that write an output or for a loop.
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
    const bool constant = item.ast != nullptr && arrays.size() == item.inputs.size() && variables(item.ast).empty();
    if (!constant || !is_computed(item.out) || !item.loops.empty() || std::ranges::find(outputs, item.out) != outputs.end()) {
      left.push_back(std::move(item));
      continue;
    }
    folded[item.out] = graph.data(interp_evaluate(item.ast, arrays), name);
  }
  return left;
}

std::vector<const LazyOp*> ops_of(const ScheduleItem& item) {
  return item.ast == nullptr ? std::vector<const LazyOp*>() : toposort(item.ast);
}

/// Whether the item that computes the next value of `carried` may write it where `carried` is: nothing reads the old value later.
bool may_overwrite(const std::vector<ScheduleItem>& items, std::size_t writer, int end, const LazyBuffer* carried) {
  const ScheduleItem& item = items[writer];
  if (item.ast == nullptr && std::ranges::find(item.inputs, carried) != item.inputs.end()) return false;
  for (const LazyOp* op : ops_of(item))
    if (op->op == Op::Load && item.inputs.at(static_cast<std::size_t>(op->mem().index) - 1) == carried && !reads_in_place(op, item.ast))
      return false;
  for (std::size_t i = writer + 1; i < static_cast<std::size_t>(end); i++)
    if (std::ranges::find(items[i].inputs, carried) != items[i].inputs.end()) return false;
  return true;
}

/// The items at the end of a loop's body that make what a carried value becomes what it is; none where it is computed in its place.
std::vector<ScheduleItem> carry(LazyGraph& graph, std::vector<ScheduleItem>& items, const ScheduledLoop& range, const LazyBuffer* result) {
  const auto carried = static_cast<std::size_t>(result->loop->carried);
  std::vector<ScheduleItem> copies;
  for (std::size_t k = 0; k < carried; k++) {
    const LazyBuffer* next = result->src[carried + k];
    const LazyBuffer* memory = graph.carried(result->loop, static_cast<int>(k), next->dtype, next->shape());
    const auto writer = std::ranges::find(items, next, &ScheduleItem::out);
    check(writer != items.end(), "what a carried value becomes is computed");
    const auto w = static_cast<std::size_t>(writer - items.begin());
    if (may_overwrite(items, w, range.end, memory)) {
      items[w].out = memory;
      for (std::size_t i = w + 1; i < static_cast<std::size_t>(range.end); i++) std::ranges::replace(items[i].inputs, next, memory);
      continue;
    }
    const LazyOp* store = graph.ops().store(0, graph.ops().load(1, next->dtype, next->st), next->st);
    copies.push_back({store, memory, {next}, items[w].nodes, items[w].main_node, items[w].loops, {}});
  }
  return copies;
}

std::vector<ScheduledLoop> find_loops(const std::vector<ScheduleItem>& items) {
  std::vector<ScheduledLoop> loops;
  for (int i = 0; i < static_cast<int>(items.size()); i++)
    for (const LazyLoop* loop : items[static_cast<std::size_t>(i)].loops) {
      const auto found = std::ranges::find(loops, loop, &ScheduledLoop::loop);
      if (found == loops.end()) {
        loops.push_back({loop, i, i + 1});
        continue;
      }
      check(found->end == i, "a loop is one piece");
      found->end = i + 1;
    }
  return loops;
}

/// Adds the end of each loop: carried values become what the turn has computed for the next one.
void close_loops(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, Schedule& schedule) {
  std::vector<const LazyBuffer*> roots;
  for (const LazyBuffer* o : outputs)
    if (o->is_base()) roots.push_back(o);
  std::set<const LazyLoop*> closed;
  for (const LazyBuffer* b : toposort_bases(roots)) {
    if (b->kind != LazyKind::LoopResult || !closed.insert(b->loop).second) continue;
    const auto loops = find_loops(schedule.items);
    const ScheduledLoop range = *std::ranges::find(loops, b->loop, &ScheduledLoop::loop);
    std::vector<ScheduleItem> copies = carry(graph, schedule.items, range, b);
    schedule.items.insert(schedule.items.begin() + range.end, std::make_move_iterator(copies.begin()),
                          std::make_move_iterator(copies.end()));
  }
  schedule.loops = find_loops(schedule.items);
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
  if (item.external != nullptr) {
    check(item.ast == nullptr && !is_list(item.out), "a function in C has no AST, and writes whole buffers");
    return;
  }
  check(item.ast != nullptr && item.ast->op == Op::Store, "a kernel stores its result");
  const Sint times = is_list(item.out) ? item.out->loop->count : Sint(1);
  check(item.ast->dtype == item.out->dtype && product(item.ast->shape) * times == item.out->st.size(),
        "a kernel writes the whole of its output, or one element of a list");
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
  values = prepare_loops(graph, fold_constants(graph, fold_scales(graph, select_by_index(graph, values))));
  const std::vector<const LazyBuffer*> buffers = output_buffers(graph, values);

  Schedule schedule;
  schedule.items = order_items(fold_items(graph, make_items(graph, buffers, options), buffers), buffers);
  close_loops(graph, buffers, schedule);
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
  const auto is_done = [&](const LazyBuffer* b, int i) {  // the loop that leaves it behind
    const auto found = std::ranges::find(schedule.loops, b->loop, &ScheduledLoop::loop);
    return found != schedule.loops.end() && found->end <= i;
  };
  for (int i = 0; i < static_cast<int>(schedule.items.size()); i++) {
    const ScheduleItem& item = schedule.items[static_cast<std::size_t>(i)];
    verify_item(item);
    for (const LazyBuffer* b : item.inputs) {
      const bool is_given = b->kind == LazyKind::Input || b->kind == LazyKind::Data;
      check(b->kind == LazyKind::LoopResult ? is_done(b, i) : is_given || written.contains(b), "a kernel reads what is there");
    }
    const bool is_new = written.emplace(item.out, true).second;
    check(is_new || item.out->kind == LazyKind::Carried, "a buffer is written by one kernel");
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
    for (const ScheduledLoop& loop : schedule.loops)
      if (loop.first == static_cast<int>(i))
        text += "\nloop over kernels " + std::to_string(loop.first) + " to " + std::to_string(loop.end - 1) + ": " +
                to_text(loop.loop->counter) + " from 0, " + to_text(loop.loop->count) + " turns\n";
    std::string line = "\nkernel " + std::to_string(i) + ": t" + std::to_string(i) + describe(item.out) + " from";
    for (const LazyBuffer* b : item.inputs) {
      if (!names.contains(b)) {
        names[b] = "c" + std::to_string(constants++);
        text += "constant " + names[b] + describe(b) + (b->name.empty() ? "" : " '" + b->name + "'") + "\n";
      }
      line += " " + names[b];
    }
    for (std::size_t n = 0; n < item.nodes.size(); n++) line += (n == 0 ? "   # " : ", ") + item.nodes[n];
    text += line + "\n" + (item.ast != nullptr ? to_text(item.ast) : "  " + item.external->op + " by " + item.external->place() + "\n");
  }
  text += "\n";
  for (const ScheduledOutput& o : schedule.outputs) {
    text += "output '" + o.name + "' " + std::string(name_of(o.buffer->dtype)) + " " + shape_text(o.shape);
    text += names.contains(o.buffer) ? " = " + names[o.buffer] + "\n" : " (no elements)\n";
  }
  return text;
}

}  // namespace etch
