// Runs a Schedule by the reference, item after item.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "interp/interp.h"
#include "schedule/schedule.h"

namespace etch::test {

/// Runs items and loops; what was written is kept by buffer.
class ScheduleRunner {
 public:
  ScheduleRunner(const Schedule& schedule, const std::map<std::string, Array>& inputs, VarValues vars)
      : schedule_(schedule), vars_(std::move(vars)) {
    for (const LazyBuffer* b : schedule.inputs) memory_.emplace(b, inputs.at(b->name));
    run(0, static_cast<int>(schedule.items.size()), 0);
  }
  /// Null if no item wrote it.
  const Array* find(const LazyBuffer* b) const {
    const auto it = memory_.find(b);
    return it == memory_.end() ? nullptr : &it->second;
  }

 private:
  void run(int first, int end, std::size_t loop) {
    for (int i = first; i < end;) {
      while (loop < schedule_.loops.size() && schedule_.loops[loop].first < i) loop++;
      if (loop == schedule_.loops.size() || schedule_.loops[loop].first != i) {
        run_item(schedule_.items[static_cast<std::size_t>(i++)]);
        continue;
      }
      const ScheduledLoop& l = schedule_.loops[loop];
      const std::int64_t count = evaluate(l.loop->count, vars_);
      for (std::int64_t turn = 0; turn < count; turn++) {
        for (const Node* v : variables(l.loop->counter)) vars_[v->name] = turn;
        run(l.first, l.end, loop + 1);
      }
      i = l.end;
    }
  }

  void run_item(const ScheduleItem& item) {
    static const Array none;
    std::vector<const Array*> arrays(item.more.size(), &none);  // in the places of further outputs
    for (const LazyBuffer* b : item.inputs) {
      if (b->kind == LazyKind::LoopResult && !memory_.contains(b)) {
        for (const auto& [memory, value] : memory_)
          if (memory->kind == LazyKind::Carried && memory->loop == b->loop && memory->slot == b->slot) arrays.push_back(&value);
        continue;
      }
      arrays.push_back(b->kind == LazyKind::Data ? &b->data : &memory_.at(b));
    }
    std::vector<Array> made;
    for (const LazyOp* store : stores_of(item.ast)) made.push_back(interp_evaluate(store, arrays, vars_));
    const std::vector<const LazyBuffer*> outs = item.outs();
    for (std::size_t k = 0; k < outs.size(); k++)
      memory_[outs[k]] = outs[k]->kind == LazyKind::LoopResult ? extended(outs[k], made[k]) : made[k];
  }

  /// A list with one more element.
  Array extended(const LazyBuffer* list, const Array& element) const {
    std::vector<std::byte> all;
    if (const Array* before = find(list); before != nullptr && evaluate(list->loop->counter, vars_) > 0)
      all.assign(before->bytes().begin(), before->bytes().end());
    all.insert(all.end(), element.bytes().begin(), element.bytes().end());
    return {element.dtype(), {static_cast<std::int64_t>(all.size()) / bytes_of(element.dtype())}, std::move(all)};
  }

  const Schedule& schedule_;
  VarValues vars_;
  std::map<const LazyBuffer*, Array> memory_;
};

/// The outputs in order, given the inputs by name and the values of variables.
inline std::vector<Array> run_schedule(const Schedule& schedule, const std::map<std::string, Array>& inputs, const VarValues& vars = {}) {
  const ScheduleRunner runner(schedule, inputs, vars);
  std::vector<Array> outputs;
  for (const ScheduledOutput& o : schedule.outputs) {
    std::vector<std::int64_t> shape;
    for (const Sint& d : o.shape) shape.push_back(evaluate(d, vars));
    const Array* made = runner.find(o.buffer);
    outputs.push_back(made == nullptr ? Array::filled(o.buffer->dtype, shape, Scalar::of_int(o.buffer->dtype, 0)) : made->reshaped(shape));
  }
  return outputs;
}

}  // namespace etch::test
