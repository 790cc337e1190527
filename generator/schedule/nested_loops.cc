// Loops that lie in each other: leaves out copies of values that pass from the outer loop to the inner one and back, and of the inner one's
// lists into those of the outer one.
#include <algorithm>
#include <iterator>

#include "ir/lazyop.h"
#include "schedule/loops.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

/// Whether the loop is the innermost one that the item is in.
bool is_just_in(const ScheduleItem& item, const LazyLoop* loop) { return !item.loops.empty() && item.loops.back() == loop; }
bool is_in(const ScheduleItem& item, const LazyLoop* loop) { return std::ranges::find(item.loops, loop) != item.loops.end(); }

bool is_carried(const LazyBuffer* b, const LazyLoop* loop, int slot) {
  return (b->kind == LazyKind::Carried || b->kind == LazyKind::LoopResult) && b->loop == loop && b->slot == slot;
}

/// The buffer of which an item with one output stores all elements in their order; nullptr if it does anything else.
const LazyBuffer* copied_by(const ScheduleItem& item) {
  if (item.ast == nullptr || item.ast->op != Op::Store || item.ast->src.size() != 1) return nullptr;
  const LazyOp* load = item.ast->src[0];
  if (load->op != Op::Load || is_indexed(load) || !load->st().contiguous()) return nullptr;
  const LazyBuffer* copied = item.input_of(load);
  return load->st().size() == copied->st.size() ? copied : nullptr;
}

class NestedLoops {
 public:
  NestedLoops(LazyGraph& graph, Schedule& schedule) : graph_(graph), schedule_(schedule), items_(schedule.items) {}

  void run() {
    const std::vector<ScheduledLoop> loops = schedule_.loops;
    for (auto inner = loops.rbegin(); inner != loops.rend(); inner++) {
      const auto first = std::ranges::find_if(items_, [&](const ScheduleItem& i) { return is_in(i, inner->loop); });
      const std::vector<const LazyLoop*> nest = first->loops;
      const auto at = std::ranges::find(nest, inner->loop);
      if (at == nest.begin()) continue;
      const LazyLoop* outer = *(at - 1);
      for (int slot = 0; slot < inner->loop->carried; slot++) share_carried(outer, inner->loop, slot);
      share_lists(outer, inner->loop);
      schedule_.loops = find_loops(items_);
    }
  }

 private:
  using Item = std::vector<ScheduleItem>::iterator;

  /// One memory for a value that a turn of `outer` only gives to `inner`, and gets back from it.
  void share_carried(const LazyLoop* outer, const LazyLoop* inner, int slot) {
    const auto starts = [&](const ScheduleItem& i) { return is_just_in(i, outer) && is_carried(i.out, inner, slot); };
    const Item start = std::ranges::find_if(items_, starts);
    const LazyBuffer* memory = start == items_.end() ? nullptr : copied_by(*start);
    if (memory == nullptr || memory->kind != LazyKind::Carried || memory->loop != outer || !start->ast->st().contiguous()) return;
    const auto ends = [&](const ScheduleItem& i) { return is_just_in(i, outer) && i.out == memory; };
    const Item end = std::ranges::find_if(items_, ends);
    const LazyBuffer* result = end == items_.end() ? nullptr : copied_by(*end);
    if (result == nullptr || !is_carried(result, inner, slot) || !end->ast->st().contiguous()) return;
    for (Item i = items_.begin(); i != items_.end(); i++) {
      const bool uses = i->writes(memory) || std::ranges::find(i->inputs, memory) != i->inputs.end();
      if (uses && i != start && i != end && is_in(*i, outer)) return;
    }
    for (ScheduleItem& i : items_) {
      const auto replace = [&](const LazyBuffer*& b) { b = is_carried(b, inner, slot) ? memory : b; };
      replace(i.out);
      std::ranges::for_each(i.more, replace);
      std::ranges::for_each(i.inputs, replace);
    }
    items_.erase(end);  // behind the start
    items_.erase(start);
  }

  /// Lists of `inner` that a turn of `outer` only adds to a list as an element lie there from the beginning.
  void share_lists(const LazyLoop* outer, const LazyLoop* inner) {
    for (Item copy = items_.begin(); copy != items_.end();) {
      const LazyBuffer* list = is_just_in(*copy, outer) && is_list(copy->out) && copy->out->loop == outer ? copied_by(*copy) : nullptr;
      const bool lies_there = list != nullptr && is_list(list) && list->loop == inner && is_read_once(list) && adds_element(*copy) &&
                              write_into(list, copy->out);
      copy = lies_there ? items_.erase(copy) : copy + 1;
    }
  }

  bool is_read_once(const LazyBuffer* list) const {
    const auto reads = [&](const ScheduleItem& i) { return std::ranges::find(i.inputs, list) != i.inputs.end(); };
    const auto is_it = [&](const ScheduledOutput& o) { return o.buffer == list; };
    return std::ranges::count_if(items_, reads) == 1 && std::ranges::none_of(schedule_.outputs, is_it);
  }

  /// Where a turn of the list's loop adds to it.
  static ShapeTracker element_of(const LazyBuffer* list) {
    std::vector<Range> ranges;
    for (const Sint& d : list->shape()) ranges.emplace_back(0, d);
    ranges.front() = {list->loop->counter, list->loop->counter + 1};
    return list->st.shrink(ranges);
  }

  /// Whether the item stores its only output as the whole element that a turn adds to a list.
  static bool adds_element(const ScheduleItem& item) {
    const ShapeTracker element = element_of(item.out);
    return product(item.ast->shape) == element.size() && item.ast->st() == element.reshape(item.ast->shape);
  }

  /// What writes into `list` writes where `whole` has that, of which the list becomes an element.
  bool write_into(const LazyBuffer* list, const LazyBuffer* whole) {
    const Item writer = std::ranges::find_if(items_, [&](const ScheduleItem& i) { return i.writes(list); });
    if (writer == items_.end() || writer->ast == nullptr) return false;
    const std::vector<const LazyBuffer*> outs = writer->outs();
    const auto output = static_cast<std::size_t>(std::ranges::find(outs, list) - outs.begin());
    const LazyOp* store = stores_of(writer->ast).at(output);
    if (product(list->shape()) != element_of(whole).size()) return false;  // of variable sizes, as far as is known
    const ShapeTracker there = (element_of(whole).reshape(list->shape()) + store->st()).simplify();
    if (there.views().size() != 1) return false;
    writer->ast = rewrite_ast(graph_.ops(), writer->ast, [&](const LazyOp* op, const std::vector<const LazyOp*>& src) {
      return op == store ? graph_.ops().store(store->mem().index, src[0], there, {src.begin() + 1, src.end()}) : nullptr;
    });
    (output == 0 ? writer->out : writer->more[output - 1]) = whole;
    return true;
  }

  LazyGraph& graph_;
  Schedule& schedule_;
  std::vector<ScheduleItem>& items_;
};

}  // namespace

void share_between_loops(LazyGraph& graph, Schedule& schedule) { NestedLoops(graph, schedule).run(); }

}  // namespace etch
