#include "schedule/join.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "schedule/order.h"

namespace etch {
namespace {

constexpr int kMostTries = 200;                  // joins that are weighed, each in time linear in the schedule
constexpr std::int64_t kMostPairs = 20'000'000;  // pairs that are looked at: a second

/// What matters of a kernel for a join: the shape of its stores without axes of size 1, and what it reduces.
struct Outline {
  std::vector<Sint> stored;
  std::vector<Sint> whole;  // the shape that it reduces; empty: it reduces nothing
  std::vector<int> axes;
};

/// Nothing if the kernel can't have several outputs.
std::optional<Outline> outline_of(const LazyOp* root) {
  Outline made;
  for (const LazyOp* op : toposort(root)) {
    if (!is_reduce(op->op)) continue;
    if (is_scan(op)) return std::nullopt;
    made.whole = op->src[0]->shape;
    made.axes = op->axes();
    if (op->shape != root->shape) return std::nullopt;
  }
  for (const Sint& d : root->shape)
    if (!d.is_int(1)) made.stored.push_back(d);
  return made;
}

/// What decides whether two kernels are worth to be joined.
struct Traits {
  bool reduces = false;
  bool multiplies = false;  // it sums products: its loops are laid out for these alone
  std::vector<const LazyOp*> loads;
};

Traits traits_of(const LazyOp* root) {
  Traits made;
  for (const LazyOp* op : toposort(root)) {
    if (op->op == Op::Load) made.loads.push_back(op);
    made.reduces = made.reduces || is_reduce(op->op);
    made.multiplies = made.multiplies || (op->op == Op::ReduceSum && op->src[0]->op == Op::Mul);
  }
  return made;
}

/// Joins `first` and `second`, which comes later.
class Joiner {
 public:
  Joiner(LazyOps& ops, const ScheduleItem& first, const ScheduleItem& second, const Outline& a, const Outline& b)
      : ops_(ops), first_(first), second_(second), a_(a), b_(b) {}

  /// Nothing if they can't be one kernel.
  std::optional<ScheduleItem> join() {
    if (!b_.whole.empty() && !a_.whole.empty() && (a_.whole != b_.whole || a_.axes != b_.axes)) return std::nullopt;
    shape_ = first_.ast->shape;
    if (a_.whole.empty() && !b_.whole.empty()) return std::nullopt;
    made_ = first_;
    made_.more.insert(made_.more.end(), second_.more.begin(), second_.more.end());
    made_.more.insert(made_.more.begin() + static_cast<std::ptrdiff_t>(first_.more.size()), second_.out);
    outputs_ = made_.outs().size();
    made_.inputs.clear();
    std::vector<const LazyOp*> stores;
    const auto values = rewritten(first_, [](const LazyOp*) { return nullptr; });
    for (const LazyOp* store : stores_of(first_.ast)) stores.push_back(values.at(store->src[0]));
    firsts_ = stores;
    const auto others = rewritten(second_, [&](const LazyOp* load) { return replacement(load); });
    if (!fits_) return std::nullopt;
    for (const LazyOp* store : stores_of(second_.ast)) stores.push_back(others.at(store->src[0]));
    made_.ast = stored(stores);
    join_names();
    return made_;
  }

 private:
  /// The nodes of an item with the buffers of the joined one; `replace` gives what stands for a Load, or null.
  template <class Replace>
  std::unordered_map<const LazyOp*, const LazyOp*> rewritten(const ScheduleItem& item, Replace replace) {
    std::unordered_map<const LazyOp*, const LazyOp*> done;
    for (const LazyOp* op : toposort(item.ast)) {
      if (op->op == Op::Store) continue;
      std::vector<const LazyOp*> src;
      for (const LazyOp* s : op->src) src.push_back(done.at(s));
      const LazyOp* other = op->op == Op::Load ? replace(op) : nullptr;
      done[op] = other != nullptr ? other : moved(item, op, src);
      if (!fits_) return done;
    }
    return done;
  }

  const LazyOp* moved(const ScheduleItem& item, const LazyOp* op, const std::vector<const LazyOp*>& src) {
    const bool reshapes = &item == &second_ && b_.whole.empty() && op->shape != shape_;
    if (info(op->op).group != OpGroup::Buffer) return ops_.rebuild(op, src, reshapes ? shape_ : op->shape);
    ShapeTracker st = op->st();
    if (reshapes) {
      std::vector<Sint> shape = shape_;
      if (is_indexed(op)) shape.push_back(st.shape().back());
      st = st.reshape(shape);
    }
    if (op->op == Op::Const) return ops_.constant(op->constant().value, std::move(st));
    if (op->op == Op::Index) return ops_.index(op->dtype, std::move(st));
    const int number = number_of(item.input_of(op));
    return is_indexed(op) ? ops_.load_at(number, op->dtype, std::move(st), src[0]) : ops_.load(number, op->dtype, std::move(st));
  }

  /// What stands for a Load of something that the first item computes: the value itself, where it is needed.
  const LazyOp* replacement(const LazyOp* load) {
    const std::vector<const LazyBuffer*> outs = first_.outs();
    const auto found = std::ranges::find(outs, second_.input_of(load));
    if (found == outs.end()) return nullptr;
    const auto k = static_cast<std::size_t>(found - outs.begin());
    const LazyOp* value = firsts_[k];
    const ShapeTracker own = stores_of(first_.ast)[k]->st();
    if (!is_indexed(load) && own.contiguous()) {
      if (load->st().contiguous() && load->st().size() == own.size()) return value;
      if (!b_.whole.empty() && load->shape == b_.whole && load->st() == own.expand(b_.whole)) return ops_.expand(value, b_.whole);
    }
    fits_ = false;  // it reads other elements than those that are computed beside it
    return nullptr;
  }

  int number_of(const LazyBuffer* buffer) {
    auto it = std::ranges::find(made_.inputs, buffer);
    if (it == made_.inputs.end()) it = made_.inputs.insert(it, buffer);
    return static_cast<int>(it - made_.inputs.begin()) + static_cast<int>(outputs_);
  }

  const LazyOp* stored(const std::vector<const LazyOp*>& values) {
    std::vector<ShapeTracker> places;
    for (const ScheduleItem* item : {&first_, &second_})
      for (const LazyOp* store : stores_of(item->ast))
        places.push_back(store->st().shape() == shape_ ? store->st() : store->st().reshape(shape_));
    std::vector<const LazyOp*> others;
    for (std::size_t k = 1; k < values.size(); k++) others.push_back(ops_.store(static_cast<int>(k), values[k], places[k]));
    return ops_.store(0, values[0], places[0], others);
  }

  void join_names() {
    for (const std::string& node : second_.nodes)
      if (std::ranges::find(made_.nodes, node) == made_.nodes.end()) made_.nodes.push_back(node);
    if (a_.whole.empty()) made_.main_node = second_.main_node;
  }

  LazyOps& ops_;
  const ScheduleItem &first_, &second_;
  const Outline &a_, &b_;
  std::vector<Sint> shape_;
  std::vector<const LazyOp*> firsts_;  // the values that the first item stores
  std::size_t outputs_ = 0;
  ScheduleItem made_;
  bool fits_ = true;
};

class Joins {
 public:
  Joins(LazyGraph& graph, std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options)
      : graph_(graph), options_(options), outputs_(outputs), items_(std::move(items)), kept_(outputs.begin(), outputs.end()) {
    for (const LazyBuffer* b : toposort_bases(outputs))
      if (b->kind == LazyKind::LoopResult) kept_.insert(b->src.begin(), b->src.end());
    for (const ScheduleItem& item : items_)
      if (is_memory(item.out)) kept_.insert(item.out);  // of a loop
  }

  std::vector<ScheduleItem> run() {
    items_ = order_items(std::move(items_), outputs_);
    Peaks peaks = peaks_of(items_);
    for (std::size_t later = 1; later < items_.size() && tries_ < kMostTries; later++)
      for (std::size_t earlier = later; earlier-- > 0 && tries_ < kMostTries;) {
        const std::pair key(items_[earlier].out, items_[later].out);
        if (--pairs_ < 0) return std::move(items_);
        if (refused_.contains(key)) continue;
        const std::optional<ScheduleItem> joined = join(earlier, later);
        if (!joined) continue;
        tries_++;
        std::vector<ScheduleItem> next = items_;
        next[later] = *joined;
        next.erase(next.begin() + static_cast<std::ptrdiff_t>(earlier));
        next = order_items(std::move(next), outputs_);
        const Peaks others = peaks_of(next);
        if (others.apart > peaks.apart || others.in_place > peaks.in_place || others.overlapping > peaks.overlapping) {
          refused_.insert(key);
          continue;
        }
        items_ = std::move(next);
        peaks = others;
        later = 0;  // the order may be another one
        break;
      }
    return std::move(items_);
  }

 private:
  /// By peak_bytes. All matter: what results may lie over decides which call needs most, and that is where a join must add nothing.
  struct Peaks {
    std::int64_t apart = 0, in_place = 0, overlapping = 0;
  };
  Peaks peaks_of(const std::vector<ScheduleItem>& items) const {
    return {peak_bytes(items, outputs_), peak_bytes(items, outputs_, Reuse::InPlace), peak_bytes(items, outputs_, Reuse::Overlaps)};
  }

  std::optional<ScheduleItem> join(std::size_t earlier, std::size_t later) {
    const ScheduleItem &a = items_[earlier], &b = items_[later];
    if (a.external != nullptr || b.external != nullptr) return std::nullopt;
    if (static_cast<int>(a.more.size() + b.more.size()) + 2 > options_.max_outputs) return std::nullopt;
    if (a.loops != b.loops || !is_wanted(a, b)) return std::nullopt;
    const auto &first = outline(a), &second = outline(b);
    if (!first || !second || first->stored != second->stored || (first->whole.empty() && !second->whole.empty())) return std::nullopt;
    if (is_between(earlier, later)) return std::nullopt;
    auto joined = Joiner(graph_.ops(), a, b, *first, *second).join();
    if (!joined || static_cast<int>(joined->inputs.size()) > options_.max_inputs) return std::nullopt;
    if (static_cast<int>(toposort(joined->ast).size()) > options_.max_nodes) return std::nullopt;
    return joined;
  }

  /// Whether one reads what the other writes and others need too, or both reduce the same. Two sums of products stay apart: the loops of
  /// such a kernel are laid out for one.
  bool is_wanted(const ScheduleItem& a, const ScheduleItem& b) {
    bool shares = false, follows = false;
    for (const LazyBuffer* input : b.inputs) {
      follows = follows || a.writes(input);
      shares = shares || (input->kind != LazyKind::Data && std::ranges::find(a.inputs, input) != a.inputs.end());
    }
    if (!shares && !follows) return false;
    const Traits &first = traits(a), &second = traits(b);
    if (first.reduces && second.reduces && (first.multiplies || second.multiplies)) return false;
    if (follows) return is_needed_beside(a, b);
    if (!first.reduces || !second.reduces) return false;
    for (const LazyOp* x : first.loads)
      for (const LazyOp* y : second.loads)
        if (a.input_of(x) == b.input_of(y) && a.input_of(x)->kind != LazyKind::Data && x->st() == y->st()) return true;
    return false;
  }

  /// Whether all that `a` writes is needed by others than `b`; if not, it was stored for a reason.
  bool is_needed_beside(const ScheduleItem& a, const ScheduleItem& b) const {
    return std::ranges::all_of(a.outs(), [&](const LazyBuffer* out) {
      return kept_.contains(out) || std::ranges::any_of(items_, [&](const ScheduleItem& item) {
               return &item != &b && std::ranges::find(item.inputs, out) != item.inputs.end();
             });
    });
  }

  const Traits& traits(const ScheduleItem& item) {
    const auto [found, is_new] = traits_.try_emplace(item.ast);
    if (is_new) found->second = traits_of(item.ast);
    return found->second;
  }

  const std::optional<Outline>& outline(const ScheduleItem& item) {
    const auto [found, is_new] = outlines_.try_emplace(item.ast);
    if (is_new) found->second = outline_of(item.ast);
    return found->second;
  }

  /// Whether something between the two items needs what the first one writes and gives what the second one needs.
  bool is_between(std::size_t earlier, std::size_t later) const {
    std::unordered_set<const LazyBuffer*> made;
    std::unordered_set<const LazyLoop*> loops;
    const auto add = [&](const ScheduleItem& item) {
      for (const LazyBuffer* out : item.outs()) made.insert(out);
      for (const LazyLoop* loop : item.loops)
        if (std::ranges::find(items_[earlier].loops, loop) == items_[earlier].loops.end()) loops.insert(loop);
    };
    const auto needs = [&](const ScheduleItem& item) {
      return std::ranges::any_of(item.inputs, [&](const LazyBuffer* b) {
        return made.contains(b) || (b->kind == LazyKind::LoopResult && loops.contains(b->loop));
      });
    };
    add(items_[earlier]);
    const std::vector<const LazyBuffer*> own = items_[earlier].outs();
    for (std::size_t i = earlier + 1; i < later; i++)
      if (needs(items_[i])) add(items_[i]);
    for (const LazyBuffer* out : own) made.erase(out);
    return needs(items_[later]);
  }

  LazyGraph& graph_;
  const ScheduleOptions& options_;
  const std::vector<const LazyBuffer*>& outputs_;
  std::vector<ScheduleItem> items_;
  std::unordered_set<const LazyBuffer*> kept_;  // read by others than items
  int tries_ = 0;
  std::int64_t pairs_ = kMostPairs;
  std::set<std::pair<const LazyBuffer*, const LazyBuffer*>> refused_;  // by outputs; look-up only, like the next
  std::unordered_map<const LazyOp*, Traits> traits_;
  std::unordered_map<const LazyOp*, std::optional<Outline>> outlines_;
};

}  // namespace

std::vector<ScheduleItem> join_items(LazyGraph& graph, std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs,
                                     const ScheduleOptions& options) {
  return Joins(graph, std::move(items), outputs, options).run();
}

}  // namespace etch
