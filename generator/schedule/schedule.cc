#include "schedule/schedule.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "interp/interp.h"
#include "lazy/ast.h"
#include "schedule/byte_signs.h"
#include "schedule/credits.h"
#include "schedule/fold.h"
#include "schedule/horizontal.h"
#include "schedule/join.h"
#include "schedule/loops.h"
#include "schedule/memory_order.h"
#include "schedule/order.h"
#include "schedule/padding.h"
#include "schedule/realize.h"
#include "schedule/region.h"
#include "schedule/select.h"
#include "schedule/shuffles.h"
#include "schedule/sum_order.h"
#include "schedule/unfold.h"
#include "schedule/winograd.h"

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

/// The call of the function that computes `b`; it writes all of its outputs, whether they are needed or not.
ScheduleItem external_item(LazyGraph& graph, const LazyBuffer* b, const LoopNests& nests) {
  std::vector<const LazyBuffer*> outs = graph.external(b->external, b->src);
  ScheduleItem item{nullptr, outs[0], b->src, {}, {}, nests.of(b)};
  item.more.assign(outs.begin() + 1, outs.end());
  item.external = b->external;
  return item;
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
    if (b->kind == LazyKind::External) {
      if (std::ranges::any_of(items, [&](const ScheduleItem& item) { return item.writes(b); })) continue;
      items.push_back(external_item(graph, b, nests));
    } else {
      Ast ast = build_ast(graph, b, in_memory);
      items.push_back({ast.store, b, std::move(ast.inputs), {}, {}, nests.of(b)});
    }
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

/// Origins of the graph that no item is credited with.
std::vector<std::string> origins_without(const LazyGraph& graph, const std::vector<ScheduleItem>& items) {
  std::vector<std::string> left = graph.all_origins();
  std::set<std::string> credited;
  for (const ScheduleItem& item : items) credited.insert(item.nodes.begin(), item.nodes.end());
  std::erase_if(left, [&](const std::string& o) { return credited.contains(o); });
  return left;
}

void verify_external(const ScheduleItem& item) {
  check(item.ast == nullptr, "a kernel has an AST or is a function in C");
  const std::vector<const LazyBuffer*> outs = item.outs();
  check(outs.size() == item.external->outputs.size(), "a function in C gets all of its outputs");
  for (std::size_t k = 0; k < outs.size(); k++) {
    const ExternalOutput& wanted = item.external->outputs[k];
    check(!is_list(outs[k]) && outs[k]->dtype == wanted.dtype && outs[k]->shape() == wanted.shape, "a function in C writes whole buffers");
  }
}

/// An item may list an input twice: if two inputs become one by folding, the argument numbers stay.
void verify_item(const ScheduleItem& item) {
  if (item.external != nullptr) return verify_external(item);
  check(item.ast != nullptr && item.ast->op == Op::Store, "a kernel stores its result");
  const std::vector<const LazyOp*> stores = stores_of(item.ast);
  const std::vector<const LazyBuffer*> outs = item.outs();
  check(stores.size() == outs.size(), "a kernel stores each of its outputs");
  for (std::size_t k = 0; k < outs.size(); k++) {
    Sint times = 1;
    if (is_list(outs[k]))  // once in each turn of its loop, and of those in it that give parts of its elements
      for (auto l = std::ranges::find(item.loops, outs[k]->loop); l != item.loops.end(); l++) times = times * (*l)->count;
    check(stores[k]->mem().index == static_cast<int>(k) && stores[k]->dtype == outs[k]->dtype, "a store writes its output");
    check(product(stores[k]->shape) * times == outs[k]->st.size(),
          "a kernel writes the whole of an output, or of a list what it adds in a turn");
  }
  for (const LazyOp* op : toposort(item.ast)) {
    if (op->op != Op::Load) continue;
    const auto index = static_cast<std::size_t>(op->mem().index), first = outs.size();
    check(index >= first && index < first + item.inputs.size(), "a load reads one of the inputs");
    check(op->dtype == item.inputs[index - first]->dtype, "a load has the type of its buffer");
  }
}

}  // namespace

Schedule create_schedule(LazyGraph& graph, const std::vector<OutputSpec>& outputs, const ScheduleOptions& options,
                         const std::vector<StateSpec>& states) {
  std::vector<const LazyBuffer*> values;
  for (const OutputSpec& o : outputs) values.push_back(o.value.buffer());
  std::vector<const LazyBuffer*> changing;  // states; the others stay as they are
  for (const StateSpec& s : states)
    if (s.next.buffer() != s.state.buffer()) {
      values.push_back(s.next.buffer());
      changing.push_back(s.state.buffer());
    }
  values = prepare_loops(graph, fold_constants(graph, fold_scales(graph, select_by_index(graph, values))));
  const std::vector<const LazyBuffer*> buffers = output_buffers(graph, values);
  const std::vector<const LazyBuffer*> next(buffers.begin() + static_cast<std::ptrdiff_t>(outputs.size()), buffers.end());

  Schedule schedule;
  for (const StateSpec& s : states) {
    const LazyBuffer* state = s.state.buffer();
    check(state->kind == LazyKind::State && state->shape() == s.next.shape() && state->dtype == s.next.dtype(),
          "a state keeps shape and type");
    check(std::ranges::find(schedule.states, state) == schedule.states.end(), "a state becomes one value");
    schedule.states.push_back(state);
  }
  schedule.items = join_items(graph, fold_items(graph, make_items(graph, buffers, options), buffers), buffers, options);
  close_loops(graph, buffers, schedule);
  for (std::size_t i = 0; i < outputs.size(); i++) schedule.outputs.push_back({outputs[i].name, buffers[i], outputs[i].value.shape()});
  share_between_loops(graph, schedule);
  const std::vector<const LazyBuffer*> kept(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(outputs.size()));
  close_states(graph, changing, next, kept, schedule);
  for (const ScheduleItem& item : schedule.items)
    for (const LazyBuffer* b : item.inputs)
      if (b->kind == LazyKind::Input && std::ranges::find(schedule.inputs, b) == schedule.inputs.end()) schedule.inputs.push_back(b);
  std::ranges::sort(schedule.inputs, {}, &LazyBuffer::number);
  schedule.folded = origins_without(graph, schedule.items);
  cut_at_shuffles(graph, schedule);
  const PeakLimit limit(schedule, options);
  winograd_convolutions(graph, schedule, options, limit);
  write_padding_once(graph, schedule, options, limit);
  unfold_windows(graph, schedule, options, limit);
  copy_with_sign(graph, schedule, options, limit);
  choose_memory_orders(graph, schedule, options);
  order_sums(graph, schedule);
  if (options.fuses_horizontally) fuse_horizontally(graph, schedule, options);
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
      const bool is_state = std::ranges::find(schedule.states, b) != schedule.states.end();
      const bool is_given = b->kind == LazyKind::Input || b->kind == LazyKind::Data || is_state;
      check(b->kind == LazyKind::LoopResult ? is_done(b, i) : is_given || written.contains(b), "a kernel reads what is there");
    }
    for (const LazyBuffer* out : item.outs()) {
      const bool is_new = written.emplace(out, true).second;
      check(is_new || out->kind == LazyKind::Carried, "a buffer is written by one kernel");
    }
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
  for (const LazyBuffer* b : schedule.states) {
    names[b] = "'" + b->name + "'";
    text += "state " + names[b] + describe(b) + "\n";
  }
  int constants = 0;
  for (std::size_t i = 0; i < schedule.items.size(); i++) {
    const ScheduleItem& item = schedule.items[i];
    const auto name = [&](const LazyBuffer* b, const std::string& own) { b->kind == LazyKind::State ? names.at(b) : names[b] = own; };
    name(item.out, "t" + std::to_string(i));
    for (std::size_t k = 0; k < item.more.size(); k++) name(item.more[k], "t" + std::to_string(i) + "_" + std::to_string(k + 1));
    for (const ScheduledLoop& loop : schedule.loops)
      if (loop.first == static_cast<int>(i))
        text += "\nloop over kernels " + std::to_string(loop.first) + " to " + std::to_string(loop.end - 1) + ": " +
                to_text(loop.loop->counter) + " from 0, " + to_text(loop.loop->count) + " turns\n";
    std::string line = "\nkernel " + std::to_string(i) + ": " + names[item.out] + describe(item.out);
    for (const LazyBuffer* out : item.more) line += ", " + names[out] + describe(out);
    line += " from";
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
