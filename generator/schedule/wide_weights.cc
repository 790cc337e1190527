#include "schedule/wide_weights.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/contraction.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

class Widening {
 public:
  Widening(LazyGraph& graph, Schedule& schedule, const std::vector<TargetInstruction>& instructions)
      : graph_(graph), schedule_(schedule), instructions_(instructions) {}

  std::int64_t run() {
    for (ScheduleItem& item : schedule_.items)
      if (item.ast != nullptr)
        if (const LazyOp* weights = weights_of(item)) widen(item, weights);
    return added_;
  }

 private:
  /// The Load of the constant that is to be widened, the only reader of its buffer in the item; nullptr if there is none.
  const LazyOp* weights_of(const ScheduleItem& item) const {
    for (const LazyOp* op : toposort(item.ast)) {
      const auto sum = contraction_of(op);
      if (!sum || !sum->casts.empty()) continue;
      const LazyOp *a = load_of_shown(sum->a()), *b = load_of_shown(sum->b());
      if (a == nullptr || b == nullptr) return nullptr;
      if (item.input_of(a)->kind == LazyKind::Data) std::swap(a, b);
      const auto same = [&](const LazyOp* o) { return o->op == Op::Load && o->mem().index == b->mem().index; };
      const bool is_alone = std::ranges::count_if(toposort(item.ast), same) == 1;
      const bool is_constant = item.input_of(b)->kind == LazyKind::Data && item.input_of(a)->kind != LazyKind::Data;
      return is_constant && is_alone && fits(*sum, a, b) ? b : nullptr;
    }
    return nullptr;
  }

  bool fits(const Contraction& sum, const LazyOp* a, const LazyOp* b) const {
    if (b->dtype != DType::Int8 && b->dtype != DType::UInt8) return false;
    const auto strides = a->st().real_strides();
    return std::ranges::any_of(instructions_, [&](const TargetInstruction& row) {
      if (row.b != name_of(DType::Int16) || row.a != name_of(a->dtype) || row.sum != name_of(sum.sum->dtype)) return false;
      return std::ranges::any_of(sum.sum->axes(), [&](int axis) {
        const auto k = static_cast<std::size_t>(axis);
        const Sint& size = a->shape[k];
        return strides[k] && strides[k]->is_int(1) && size.is_int() && size.as_int() % (row.macs * row.steps) == 0;
      });
    });
  }

  void widen(ScheduleItem& item, const LazyOp* weights) {
    const LazyBuffer* narrow = item.input_of(weights);
    const LazyBuffer*& wide = wide_[narrow];
    if (wide == nullptr) {
      OriginScope scope(graph_, narrow->origins);
      wide = graph_.data(Array::of_ints(DType::Int16, narrow->data.shape(), narrow->data.ints()), narrow->name);
      added_ += narrow->data.size();
    }
    item.ast = rewrite_ast(graph_.ops(), item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) {
      return op == weights ? graph_.ops().load(op->mem().index, DType::Int16, op->st()) : nullptr;
    });
    for (const LazyBuffer*& input : item.inputs)
      if (input == narrow) input = wide;
  }

  LazyGraph& graph_;
  Schedule& schedule_;
  const std::vector<TargetInstruction>& instructions_;
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> wide_;  // by the narrow one; look-up only
  std::int64_t added_ = 0;
};

}  // namespace

std::int64_t widen_weights(LazyGraph& graph, Schedule& schedule, const std::vector<TargetInstruction>& instructions) {
  return Widening(graph, schedule, instructions).run();
}

}  // namespace etch
