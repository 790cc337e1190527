#include "schedule/loops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "ir/lazyop.h"
#include "lazy/rewrite.h"
#include "schedule/order.h"

namespace etch {
namespace {

using Loops = std::set<int>;  // numbers

/// The loops that each base depends on, and the loops there are.
struct Dependence {
  std::map<int, const LazyLoop*> loops;  // by number
  std::map<std::string, int> of_counter;
  std::unordered_map<const LazyBuffer*, Loops> of_base;
  std::map<int, Loops> around;  // of each loop: those that its results depend on

  explicit Dependence(const std::vector<const LazyBuffer*>& order) {
    for (const LazyBuffer* b : order)
      if (b->loop != nullptr) loops.emplace(b->loop->number, b->loop);
    for (const auto& [number, loop] : loops)
      for (const Node* v : variables(loop->counter)) of_counter[v->name] = number;
    if (loops.empty()) return;
    for (const LazyBuffer* b : order) add(b);
    for (bool grows = true; grows;) {  // a loop is also in those that the loops around it are in
      grows = false;
      for (auto& [loop, outer] : around)
        for (const int o : Loops(outer))
          for (const int further : Loops(around[o])) grows = outer.insert(further).second || grows;
    }
  }

 private:
  void add(const LazyBuffer* b) {
    Loops found;
    if (b->kind == LazyKind::Carried) found.insert(b->loop->number);
    for (const LazyBuffer* s : b->src) {
      const Loops& below = of_base.at(s->base);
      found.insert(below.begin(), below.end());
      for (const Node* v : s->st.variables())
        if (const auto it = of_counter.find(v->name); it != of_counter.end()) found.insert(it->second);
    }
    if (b->kind == LazyKind::LoopResult) {
      found.erase(b->loop->number);
      around[b->loop->number].insert(found.begin(), found.end());
    }
    of_base.emplace(b, std::move(found));
  }
};

/// The sources of a loop's results in the form that prepare_loops promises. `lists`: the results that are read.
std::vector<const LazyBuffer*> prepared(LazyGraph& graph, const LazyBuffer* result, const std::set<int>& lists,
                                        const std::function<bool(const LazyBuffer*)>& is_inside) {
  const auto carried = static_cast<std::size_t>(result->loop->carried);
  std::vector<const LazyBuffer*> src;
  const auto copy = [&](const LazyBuffer* b) {
    OriginScope scope(graph, b->origins.empty() ? result->origins : b->origins);
    return graph.copy(b);
  };
  for (std::size_t k = 0; k < result->src.size(); k++) {
    const LazyBuffer* b = result->src[k];
    if (k >= 2 * carried && !lists.contains(static_cast<int>(k - carried))) {
      src.push_back(graph.constant(Scalar::of_int(b->dtype, 0), b->shape()));
      continue;
    }
    const bool is_next = k >= carried && k < 2 * carried;
    const bool is_whole = shows_base(b) && is_computed(b->base) && b->base->shape() == b->shape() && is_inside(b->base);
    const bool is_new = std::ranges::find(src, b->base) == src.end();
    src.push_back(is_next && is_whole && is_new ? b->base : copy(b));
  }
  return src;
}

/// For each loop the results below `outputs` that are read; lists that only unread lists need do not count.
std::map<int, std::set<int>> results_read(const std::vector<const LazyBuffer*>& outputs) {
  std::map<int, std::set<int>> read;
  std::vector<const LazyBuffer*> open(outputs.begin(), outputs.end());
  std::unordered_map<const LazyBuffer*, bool> seen;
  const auto visit = [&](const LazyBuffer* b) {
    if (seen.emplace(b, true).second) open.push_back(b);
  };
  while (!open.empty()) {
    const LazyBuffer* b = open.back();
    open.pop_back();
    if (b->kind != LazyKind::LoopResult) {
      for (const LazyBuffer* s : sources(b)) visit(s);
      continue;
    }
    read[b->loop->number].insert(b->slot);
    const auto carried = static_cast<std::size_t>(b->loop->carried);
    for (std::size_t k = 0; k < 2 * carried; k++) visit(b->src[k]);
    if (is_list(b)) visit(b->src[static_cast<std::size_t>(b->slot) + carried]);
  }
  return read;
}

/// Stores a kernel's result as element `loop->counter` of a list.
const LazyOp* store_in_list(LazyGraph& graph, const LazyOp* store, const LazyBuffer* list) {
  ShapeTracker st = list->st;
  std::vector<Range> ranges;
  for (const Sint& d : list->shape()) ranges.emplace_back(0, d);
  ranges.front() = {list->loop->counter, list->loop->counter + 1};
  return graph.ops().store(0, store->src[0], st.shrink(ranges).reshape(store->shape));
}

/// Whether the item that computes the next value of `carried`, as its output number `output`, may write it where `carried` is: nothing
/// reads the old value later.
bool may_overwrite(const std::vector<ScheduleItem>& items, std::size_t writer, std::size_t output, std::size_t end,
                   const LazyBuffer* carried) {
  const ScheduleItem& item = items[writer];
  if (item.external != nullptr) {  // it reads what it likes when it likes
    if (std::ranges::find(item.inputs, carried) != item.inputs.end()) return false;
  } else {
    const LazyOp* store = stores_of(item.ast).at(output);
    for (const LazyOp* op : toposort(item.ast))
      if (op->op == Op::Load && item.input_of(op) == carried && !reads_in_place(op, store)) return false;
  }
  for (std::size_t i = writer + 1; i < end; i++)
    if (std::ranges::find(items[i].inputs, carried) != items[i].inputs.end()) return false;
  return true;
}

/// Makes `memory` what `next` is, in items before number `end`: the item that computes it writes it there, unless what `memory` was is
/// still read then. Returns the item for the end that copies it in this case.
std::optional<ScheduleItem> write_or_copy(LazyGraph& graph, std::vector<ScheduleItem>& items, std::size_t end, const LazyBuffer* next,
                                          const LazyBuffer* memory) {
  const auto writer = std::ranges::find_if(items, [&](const ScheduleItem& item) { return item.writes(next); });
  check(writer != items.end(), "what memory is to hold is computed");
  const auto w = static_cast<std::size_t>(writer - items.begin());
  const std::vector<const LazyBuffer*> outs = items[w].outs();
  const auto output = static_cast<std::size_t>(std::ranges::find(outs, next) - outs.begin());
  if (may_overwrite(items, w, output, end, memory)) {
    (output == 0 ? items[w].out : items[w].more[output - 1]) = memory;
    for (std::size_t i = w + 1; i < end; i++) std::ranges::replace(items[i].inputs, next, memory);
    return std::nullopt;
  }
  const LazyOp* store = graph.ops().store(0, graph.ops().load(1, next->dtype, next->st), next->st);
  return ScheduleItem{store, memory, {next}, items[w].nodes, items[w].main_node, items[w].loops};
}

/// The items at the end of a loop's body that make what a carried value becomes what it is; none where it is computed in its place.
std::vector<ScheduleItem> carry(LazyGraph& graph, std::vector<ScheduleItem>& items, const ScheduledLoop& range, const LazyBuffer* result) {
  const auto carried = static_cast<std::size_t>(result->loop->carried);
  std::vector<ScheduleItem> copies;
  for (std::size_t k = 0; k < carried; k++) {
    const LazyBuffer* next = result->src[carried + k];
    const LazyBuffer* memory = graph.carried(result->loop, static_cast<int>(k), next->dtype, next->shape());
    if (auto copy = write_or_copy(graph, items, static_cast<std::size_t>(range.end), next, memory)) copies.push_back(std::move(*copy));
  }
  return copies;
}

}  // namespace

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

LoopNests::LoopNests(const std::vector<const LazyBuffer*>& order) {
  const Dependence dependence(order);
  // A loop lies in those that its results depend on, the one that depends on fewer being the outer one.
  const auto depth = [&](int loop) {
    const auto found = dependence.around.find(loop);
    return found == dependence.around.end() ? std::size_t{0} : found->second.size();
  };
  const auto nest_of = [&](const Loops& numbers) {
    std::vector<int> sorted(numbers.begin(), numbers.end());
    std::ranges::sort(sorted, {}, [&](int loop) { return std::pair(depth(loop), loop); });
    LoopNest nest;
    for (std::size_t k = 0; k < sorted.size(); k++) {
      check(k == 0 || dependence.around.at(sorted[k]).contains(sorted[k - 1]), "loops lie in each other or apart");
      nest.push_back(dependence.loops.at(sorted[k]));
    }
    return nest;
  };
  for (const auto& [number, loop] : dependence.loops) {
    const auto found = dependence.around.find(number);
    Loops all = found == dependence.around.end() ? Loops() : found->second;
    all.insert(number);
    nests_.emplace(loop, nest_of(all));
  }
  for (const auto& [base, loops] : dependence.of_base) {
    if (loops.empty()) continue;
    Loops all = loops;  // what depends on an inner loop alone is computed in the outer one, too
    for (int loop : loops)
      if (const auto found = dependence.around.find(loop); found != dependence.around.end())
        all.insert(found->second.begin(), found->second.end());
    homes_.emplace(base, nest_of(all));
  }
  for (const LazyBuffer* b : order) {
    if (b->kind != LazyKind::LoopResult) continue;
    const LoopNest& inside = nests_.at(b->loop);
    const LoopNest around(inside.begin(), inside.end() - 1);
    for (std::size_t k = 0; k < b->src.size(); k++)  // they start anew whenever the loop does
      if (is_computed(b->src[k])) homes_[b->src[k]] = k < static_cast<std::size_t>(b->loop->carried) ? around : inside;
  }
}

const LoopNest& LoopNests::of(const LazyBuffer* base) const {
  static const LoopNest none;
  const auto found = homes_.find(base);
  return found == homes_.end() ? none : found->second;
}

std::vector<const LazyBuffer*> prepare_loops(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  const auto read = results_read(outputs);
  if (read.empty()) return outputs;
  std::map<int, std::vector<const LazyBuffer*>> done;  // by loop: all results of one have the same sources
  return rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
    if (rebuilt->kind != LazyKind::LoopResult) return rebuilt;
    const int number = rebuilt->loop->number;
    if (!done.contains(number)) {
      const Dependence dependence(toposort_bases({rebuilt}));
      const auto is_inside = [&](const LazyBuffer* b) { return dependence.of_base.at(b).contains(number); };
      const auto slots = read.find(number);
      done[number] = prepared(graph, rebuilt, slots == read.end() ? std::set<int>() : slots->second, is_inside);
    }
    return graph.loop_result(rebuilt->loop, rebuilt->slot, done.at(number));
  });
}

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

void close_loops(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, Schedule& schedule) {
  std::set<const LazyLoop*> closed;
  for (const LazyBuffer* b : toposort_bases(outputs)) {
    if (b->kind != LazyKind::LoopResult || !closed.insert(b->loop).second) continue;
    const auto loops = find_loops(schedule.items);
    const ScheduledLoop range = *std::ranges::find(loops, b->loop, &ScheduledLoop::loop);
    std::vector<ScheduleItem> copies = carry(graph, schedule.items, range, b);
    schedule.items.insert(schedule.items.begin() + range.end, std::make_move_iterator(copies.begin()),
                          std::make_move_iterator(copies.end()));
  }
  schedule.loops = find_loops(schedule.items);
}

namespace {

bool reads(const ScheduleItem& item, const LazyBuffer* b) { return std::ranges::find(item.inputs, b) != item.inputs.end(); }

bool reads_any(const ScheduleItem& item, const std::vector<const LazyBuffer*>& buffers) {
  return std::ranges::any_of(buffers, [&](const LazyBuffer* b) { return reads(item, b); });
}

/// The items with the one that writes `next`, and those that need it, behind the last that reads `memory`; nullopt if there is no such
/// order.
std::optional<std::vector<ScheduleItem>> written_last(const std::vector<ScheduleItem>& items, const LazyBuffer* next,
                                                      const LazyBuffer* memory) {
  const auto first = std::ranges::find_if(items, [&](const ScheduleItem& item) { return item.writes(next); });
  auto last = items.end();
  for (auto i = first; i != items.end(); i++)
    if (i != first && reads(*i, memory)) last = i;
  if (last == items.end()) return std::nullopt;
  std::vector<ScheduleItem> stay, move;
  std::vector<const LazyBuffer*> made;  // by those that move
  for (auto i = first; i <= last; i++) {
    if (!i->loops.empty()) return std::nullopt;
    if (i != first && !reads_any(*i, made)) {
      // It may write, in place, what those that move read.
      for (const ScheduleItem& m : move)
        if (reads_any(m, i->outs())) return std::nullopt;
      stay.push_back(*i);
      continue;
    }
    if (i != first && reads(*i, memory)) return std::nullopt;
    const std::vector<const LazyBuffer*> outs = i->outs();
    made.insert(made.end(), outs.begin(), outs.end());
    move.push_back(*i);
  }
  std::vector<ScheduleItem> result(items.begin(), first);
  result.insert(result.end(), stay.begin(), stay.end());
  result.insert(result.end(), move.begin(), move.end());
  result.insert(result.end(), last + 1, items.end());
  return result;
}

}  // namespace

void close_states(LazyGraph& graph, const std::vector<const LazyBuffer*>& states, const std::vector<const LazyBuffer*>& next,
                  const std::vector<const LazyBuffer*>& outputs, Schedule& schedule) {
  const auto close = [&](std::vector<ScheduleItem>& items, std::size_t k) {
    return write_or_copy(graph, items, items.size(), next[k], states[k]);
  };
  std::vector<ScheduleItem> copies;
  for (std::size_t k = 0; k < states.size(); k++) {
    std::optional<std::vector<ScheduleItem>> later;
    if (schedule.loops.empty()) later = written_last(schedule.items, next[k], states[k]);
    std::optional<ScheduleItem> copy = close(schedule.items, k);
    if (!copy) continue;
    if (later && !close(*later, k)) {
      // A copy costs time; waiting may cost memory.
      std::vector<ScheduleItem> copied = schedule.items;
      copied.push_back(*copy);
      if (peak_bytes(*later, outputs) <= peak_bytes(copied, outputs)) {
        schedule.items = std::move(*later);
        continue;
      }
    }
    copies.push_back(std::move(*copy));
  }
  std::ranges::move(copies, std::back_inserter(schedule.items));
  for (const LazyBuffer* state : states)
    check(std::ranges::any_of(schedule.items, [&](const ScheduleItem& item) { return item.writes(state); }), "a state gets its next value");
}

}  // namespace etch
