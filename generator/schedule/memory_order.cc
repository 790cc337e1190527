#include "schedule/memory_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/subscript.h"
#include "ir/contraction.h"

namespace etch {
namespace {

bool has_fixed_shape(const LazyBuffer* b) {
  return std::ranges::all_of(b->shape(), [](const Sint& d) { return d.is_int(); });
}

/// The strides of a buffer of `shape` whose axis `last` is the innermost in memory, the others in their order.
ShapeTracker ordered(const std::vector<Sint>& shape, int last) {
  std::vector<Sint> strides(shape.size());
  Sint stride = shape[at(last)];
  strides[at(last)] = 1;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; axis--) {
    if (axis == last) continue;
    strides[at(axis)] = stride;
    stride = stride * shape[at(axis)];
  }
  return ShapeTracker({View::create(shape, strides)});
}

/// A buffer that may get another order, and what its consumers want.
struct Candidate {
  const LazyBuffer* buffer = nullptr;
  std::vector<const ScheduleItem*> items = {};  // that write or read it
  std::map<int, std::int64_t> products = {};    // that want the axis to be the last
  bool is_free = true;                          // nobody needs the order that it has
  bool may_be_usual = true;                     // heuristics may give it another order, not a search alone
};

class Orders {
 public:
  Orders(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options)
      : graph_(graph),
        schedule_(schedule),
        layouts_(options.layouts),
        alike_(options.orders_alike || options.integer_orders_alike),
        has_all_types_(options.orders_alike) {}

  void choose() {
    find_candidates();
    for (const ScheduleItem& item : schedule_.items) {
      ask(item);
      for (const auto& list : {item.outs(), item.inputs})
        for (const LazyBuffer* b : list)
          if (Candidate* c = candidate(b); c != nullptr && (c->items.empty() || c->items.back() != &item)) c->items.push_back(&item);
    }
    // The consumers of a buffer are behind it: what they write has its order by then.
    for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); candidate++) {
      if (alike_) ask_alike(*candidate);
      consider(*candidate);
    }
    if (chosen_.empty()) return;
    for (ScheduleItem& item : schedule_.items)
      if (item.ast != nullptr) item.ast = *rewritten(item, chosen_);
  }

 private:
  void find_candidates() {
    for (const ScheduleItem& item : schedule_.items) {
      if (item.external != nullptr) continue;
      for (const LazyBuffer* out : item.outs()) {
        const bool is_small_integer = is_int(out->dtype) && bytes_of(out->dtype) <= 2;
        const bool may_be_usual = is_small_integer || has_all_types_;
        if (!is_computed(out) || !(may_be_usual || layouts_.matter()) || !has_fixed_shape(out)) continue;
        number_of_[out] = candidates_.size();
        candidates_.push_back({.buffer = out, .may_be_usual = may_be_usual});
      }
    }
    for (const ScheduledOutput& output : schedule_.outputs) keep(output.buffer);
    for (const ScheduleItem& item : schedule_.items) {
      if (item.external != nullptr)
        for (const LazyBuffer* b : item.inputs) keep(b);
    }
  }

  void keep(const LazyBuffer* b) {
    if (const auto found = number_of_.find(b); found != number_of_.end()) candidates_[found->second].is_free = false;
  }

  Candidate* candidate(const LazyBuffer* b) {
    const auto found = number_of_.find(b);
    return found == number_of_.end() ? nullptr : &candidates_[found->second];
  }

  void ask(const ScheduleItem& item) {
    if (item.ast == nullptr) return;
    for (const LazyOp* op : toposort(item.ast)) {
      if (is_indexed(op)) keep(item.input_of(op));
      const auto sum = contraction_of(op);
      if (!sum) continue;
      std::int64_t products = 1;
      for (const Sint& d : sum->product->shape) products *= d.max();
      for (const LazyOp* load : toposort(sum->product))
        if (load->op == Op::Load)
          if (Candidate* c = candidate(item.input_of(load)); c != nullptr)
            if (const auto axis = wanted(load, item.input_of(load), sum->sum->axes(), !alike_)) c->products[*axis] += products;
    }
  }

  /// Each reader that does not run along one of its axes asks for the axis that is the innermost one of what it writes.
  void ask_alike(Candidate& candidate) const {
    for (const ScheduleItem* item : candidate.items) {
      if (item->ast == nullptr || item->writes(candidate.buffer)) continue;
      const std::optional<std::size_t> inner = innermost(*item);
      if (!inner) continue;
      for (const LazyOp* load : toposort(item->ast)) {
        if (load->op != Op::Load || is_indexed(load) || item->input_of(load) != candidate.buffer) continue;
        const auto strides = load->st().real_strides(true);
        if (*inner >= strides.size() || !strides[*inner] || !strides[*inner]->is_int() || strides[*inner]->is_int(0)) continue;
        const std::vector<Sint> own = View::create(candidate.buffer->shape()).strides;
        for (std::size_t axis = 0; axis < own.size(); axis++)
          if (!candidate.buffer->shape()[axis].is_int(1) && own[axis] == *strides[*inner])
            candidate.products[static_cast<int>(axis)] += product(load->shape).max();
      }
    }
  }

  /// The axis of the item's AST along which it writes adjacent elements.
  std::optional<std::size_t> innermost(const ScheduleItem& item) const {
    const auto order = chosen_.find(item.out);
    const ShapeTracker st = order == chosen_.end() ? item.ast->st() : (order->second + item.ast->st()).simplify();
    const auto strides = st.real_strides(true);
    for (std::size_t axis = 0; axis < strides.size(); axis++)
      if (!st.shape()[axis].is_int(1) && strides[axis] && strides[axis]->is_int(1)) return axis;
    return std::nullopt;
  }

  /// The axis of the buffer that the sum runs along, of several the longest; with `windows` its last one if the sum runs along a part of
  /// that.
  static std::optional<int> wanted(const LazyOp* load, const LazyBuffer* buffer, const std::vector<int>& reduced, bool windows) {
    const auto strides = load->st().real_strides(true);
    const std::vector<Sint> own = View::create(buffer->shape()).strides;
    std::optional<int> best;
    for (const int r : reduced) {
      const auto& stride = strides[at(r)];
      if (!stride || !stride->is_int() || stride->is_int(0)) continue;
      for (int axis = 0; axis < static_cast<int>(own.size()); axis++) {
        const Sint& size = buffer->shape()[at(axis)];
        const bool is_along = !size.is_int(1) && own[at(axis)] == *stride && size == load->shape[at(r)];
        if (is_along && (!best || size.as_int() > buffer->shape()[at(*best)].as_int())) best = axis;
      }
    }
    if (best || !windows) return best;
    const auto is_unit = [&](int r) { return strides[at(r)] && strides[at(r)]->is_int(1); };
    return std::ranges::any_of(reduced, is_unit) ? std::optional(static_cast<int>(own.size()) - 1) : std::nullopt;
  }

  void consider(const Candidate& candidate) {
    const std::vector<Sint>& shape = candidate.buffer->shape();
    const auto last = std::ranges::find_if_not(shape.rbegin(), shape.rend(), [](const Sint& d) { return d.is_int(1); });
    if (!candidate.is_free || last == shape.rend()) return;
    const int own = static_cast<int>(shape.rend() - last) - 1;
    const auto can = [&](int axis) { return axis == own || (!shape[at(axis)].is_int(1) && fits(candidate, axis)); };
    int axis = own;
    if (candidate.may_be_usual && !candidate.products.empty()) {
      const int wanted = std::ranges::max_element(candidate.products, {}, [](const auto& p) { return p.second; })->first;
      if (can(wanted)) axis = wanted;
    }
    if (layouts_.matter())
      axis = take_way(layouts_, {"order", shape, text_of(candidate), static_cast<int>(shape.size()), axis}, can, schedule_);
    if (axis != own) chosen_.emplace(candidate.buffer, ordered(shape, axis));
  }

  bool fits(const Candidate& candidate, int axis) {
    const std::unordered_map<const LazyBuffer*, ShapeTracker> alone{{candidate.buffer, ordered(candidate.buffer->shape(), axis)}};
    return std::ranges::all_of(candidate.items, [&](const ScheduleItem* item) { return item->ast == nullptr || rewritten(*item, alone); });
  }

  static std::string text_of(const Candidate& candidate) {
    std::string text(name_of(candidate.buffer->dtype));
    for (const ScheduleItem* item : candidate.items) {
      const auto input = std::ranges::find(item->inputs, candidate.buffer);
      text += fmt::format("\n{} {}", item->writes(candidate.buffer) ? "out of" : "input of", input - item->inputs.begin());
      if (item->ast != nullptr) text += "\n" + to_text(item->ast);
    }
    return text;
  }

  /// The item's AST where buffers lie in the orders of `orders`; nullopt if a Load or a Store would need more views than it has.
  std::optional<const LazyOp*> rewritten(const ScheduleItem& item, const std::unordered_map<const LazyBuffer*, ShapeTracker>& orders) {
    const std::vector<const LazyBuffer*> outs = item.outs();
    std::unordered_map<const LazyOp*, const LazyOp*> done;
    bool fits = true;
    const auto seen = [&](const LazyBuffer* buffer, const ShapeTracker& st) {
      const auto order = orders.find(buffer);
      if (order == orders.end()) return st;
      ShapeTracker moved = (order->second + st).simplify();
      fits = fits && moved.views().size() <= std::max<std::size_t>(st.views().size(), 1);
      return moved;
    };
    const auto store = [&](const LazyOp* op, const std::vector<const LazyOp*>& others) {
      const auto k = at(op->mem().index);
      return graph_.ops().store(op->mem().index, done.at(op->src[0]), seen(outs[k], op->st()), others);
    };
    for (const LazyOp* op : toposort(item.ast)) {
      if (op->op == Op::Load && op->src.empty()) {
        done[op] = graph_.ops().load(op->mem().index, op->dtype, seen(item.input_of(op), op->st()));
      } else if (op->op == Op::Load) {
        done[op] = graph_.ops().load_at(op->mem().index, op->dtype, op->st(), done.at(op->src[0]));
      } else if (op->op == Op::Store) {
        std::vector<const LazyOp*> others;
        for (std::size_t k = 1; k < op->src.size(); k++) others.push_back(done.at(op->src[k]));
        done[op] = store(op, others);
      } else if (op->src.empty()) {
        done[op] = op;
      } else {
        std::vector<const LazyOp*> src;
        for (const LazyOp* s : op->src) src.push_back(done.at(s));
        done[op] = graph_.ops().rebuild(op, src, op->shape);
      }
    }
    return fits ? std::optional(done.at(item.ast)) : std::nullopt;
  }

  LazyGraph& graph_;
  Schedule& schedule_;
  const LayoutChoices& layouts_;
  bool alike_, has_all_types_;
  std::vector<Candidate> candidates_;                             // in the order in which they are written
  std::unordered_map<const LazyBuffer*, std::size_t> number_of_;  // of a candidate; for look-up only
  std::unordered_map<const LazyBuffer*, ShapeTracker> chosen_;    // for look-up only
};

}  // namespace

void choose_memory_orders(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options) {
  Orders(graph, schedule, options).choose();
}

}  // namespace etch
