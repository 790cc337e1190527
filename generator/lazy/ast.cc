#include "lazy/ast.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/toposort.h"
#include "lazy/algebra.h"

namespace etch {
namespace {

using InMemory = std::function<bool(const LazyBuffer*)>;

bool is_stored(const LazyBuffer* base, const InMemory& in_memory) { return is_memory(base) || in_memory(base); }

/// The value of each base when all leaves are 0, computed once.
class ZeroValues {
 public:
  explicit ZeroValues(const InMemory& in_memory) : in_memory_(in_memory) {}

  bool is_zero(const LazyBuffer* base) {
    const auto below = [this](const LazyBuffer* b) -> std::vector<const LazyBuffer*> {
      if (known_.contains(b) || is_stored(b, in_memory_) || b->is_reduction()) return {};
      std::vector<const LazyBuffer*> bases;
      for (const LazyBuffer* s : b->src) bases.push_back(s->base);
      return bases;
    };
    for (const LazyBuffer* b : toposort<LazyBuffer>({base}, below))
      if (!known_.contains(b)) known_.emplace(b, value(b));
    return known_.at(base).bits() == 0;
  }

 private:
  Scalar value(const LazyBuffer* b) const {
    if (!is_computed(b) || b->kind == LazyKind::Gather || b->is_reduction() || is_stored(b, in_memory_)) return Scalar::of_int(b->dtype, 0);
    std::vector<Scalar> values;
    for (const LazyBuffer* s : b->src) values.push_back(is_masked(s->st) ? Scalar::of_int(s->dtype, 0) : known_.at(s->base));
    if (b->kind == LazyKind::Contiguous) return values[0];
    if (b->op == Op::Cast) return values[0].cast(b->dtype);
    if (b->op == Op::Bitcast) return Scalar::of_int(b->dtype, values[0].bits() == 0 ? 0 : 1);  // only whether it is zero matters
    return fold_scalars(b->op, values);
  }

  const InMemory& in_memory_;
  std::unordered_map<const LazyBuffer*, Scalar> known_;
};

/// A base seen through a tracker. `zeros`: the padding of the tracker must read as 0 (else it is never read).
struct Item {
  const LazyBuffer* base;
  ShapeTracker st;
  bool zeros;
  bool operator==(const Item&) const = default;
};
struct ItemHash {
  std::size_t operator()(const Item& item) const {
    return hash_mix(hash_mix(reinterpret_cast<std::uintptr_t>(item.base), item.st.hash()), item.zeros ? 1 : 0);
  }
};

class Builder {
 public:
  Builder(LazyGraph& graph, const InMemory& in_memory) : graph_(graph), ops_(graph.ops()), in_memory_(in_memory), zero_(in_memory) {}

  Ast build(const LazyBuffer* out) {
    root_ = out;
    find_reductions(out);
    const bool is_reduced = !reductions_.empty() && (!is_staged_ || out->st.size() == reductions_[0]->st.size());
    const std::vector<Sint>& shape = is_reduced ? reductions_[0]->shape() : out->shape();
    const ShapeTracker whole = out->shape() == shape ? out->st : out->st.reshape(shape);
    const LazyOp* value = lower({out->base, whole, is_masked(whole)});
    return {ops_.store(0, value, ShapeTracker::from_shape(shape)), std::move(inputs_)};
  }

 private:
  bool is_leaf(const LazyBuffer* base) const {
    if (base->kind == LazyKind::Const || base->kind == LazyKind::Index) return true;
    return base != root_ && is_stored(base, in_memory_);
  }

  void find_reductions(const LazyBuffer* out) {
    const auto below = [this](const LazyBuffer* b) -> std::vector<const LazyBuffer*> {
      std::vector<const LazyBuffer*> bases;
      if (is_leaf(b)) return bases;
      for (const LazyBuffer* s : b->src) bases.push_back(s->base);
      return bases;
    };
    for (const LazyBuffer* b : toposort<LazyBuffer>({out->base}, below))
      if (b->is_reduction() && !is_leaf(b)) reductions_.push_back(b);
    if (reductions_.empty()) return;
    whole_ = &reductions_[0]->src[0]->shape();
    is_staged_ = reductions_.size() > 1 || (out->shape() == *whole_ && !is_scan(reductions_[0]));
    for (const LazyBuffer* r : reductions_)
      check(r->axes == reductions_[0]->axes && r->src[0]->shape() == *whole_, "all reductions of a kernel are over the same axes");
  }

  /// Whether the item repeats values of one stage for the next: it is seen expanded over the reduced axes.
  bool is_expansion(const Item& item) const {
    if (!is_staged_ || item.base->shape() != reductions_[0]->shape() || item.st.shape() != *whole_) return false;
    return item.st == item.base->st.expand(*whole_);
  }

  /// What `item` shows of a source that its base sees through `st`.
  ShapeTracker stacked(const ShapeTracker& st, const Item& item) const {
    if (item.st == item.base->st) return st;
    return st.contiguous() && st.shape() == item.base->shape() ? item.st : graph_.stacked(st, item.st);
  }

  std::vector<Item> operands(const Item& item) const {
    std::vector<Item> items;
    if (is_leaf(item.base)) return items;
    if (is_expansion(item)) return {{item.base, item.base->st, false}};
    if (item.base->kind == LazyKind::Gather) {  // its table is in memory
      const LazyBuffer* index = item.base->src[1];
      return {{index->base, stacked(index->st, item), is_masked(index->st)}};
    }
    if (item.base->is_reduction()) {
      check(item.st.contiguous() && item.st.shape() == item.base->shape(), "what follows a reduction in a kernel sees its result in order");
      const LazyBuffer* s = item.base->src[0];
      return {{s->base, s->st, is_masked(s->st)}};
    }
    for (const LazyBuffer* s : item.base->src) items.push_back({s->base, stacked(s->st, item), is_masked(s->st)});
    return items;
  }

  // Depth first with an explicit stack: chains of operations are long.
  const LazyOp* lower(const Item& root) {
    std::vector<std::pair<Item, bool>> stack{{root, false}};
    while (!stack.empty()) {
      auto [item, expanded] = stack.back();
      if (done_.contains(item)) {
        stack.pop_back();
        continue;
      }
      const std::vector<Item> below = operands(item);
      if (!expanded) {
        stack.back().second = true;
        for (auto it = below.rbegin(); it != below.rend(); it++)
          if (!done_.contains(*it)) stack.emplace_back(*it, false);
        continue;
      }
      stack.pop_back();
      std::vector<const LazyOp*> src;
      for (const Item& b : below) src.push_back(done_.at(b));
      done_.emplace(item, make(item, src));
    }
    return done_.at(root);
  }

  const LazyOp* make(const Item& item, const std::vector<const LazyOp*>& src) {
    const LazyBuffer* b = item.base;
    if (b->kind == LazyKind::Const) return ops_.constant(b->value, item.st);
    if (b->kind == LazyKind::Index) return ops_.index(b->dtype, item.st);
    if (is_leaf(b)) return ops_.load(number_of(b), b->dtype, item.st);
    if (is_expansion(item)) return ops_.expand(src[0], *whole_);
    if (b->kind == LazyKind::Contiguous) return src[0];
    if (is_scan(b)) return ops_.scan(b->op, src[0], b->axes[0]);
    if (b->is_reduction()) return ops_.reduce(b->op, src[0], b->axes);
    if (b->kind == LazyKind::Gather) return gather(b, item.st, src[0]);
    const LazyOp* value = b->op == Op::Cast      ? ops_.cast(src[0], b->dtype)
                          : b->op == Op::Bitcast ? ops_.bitcast(src[0], b->dtype)
                                                 : ops_.elementwise(b->op, src);
    if (!item.zeros || zero_.is_zero(b)) return value;
    const LazyOp* inside = ops_.constant(Scalar::of_int(DType::Bool, 1), item.st);
    const LazyOp* zero = ops_.constant(Scalar::of_int(b->dtype, 0), graph_.constant(Scalar::of_int(b->dtype, 0), item.st.shape())->st);
    return ops_.elementwise(Op::Where, {inside, value, zero});
  }

  const LazyOp* gather(const LazyBuffer* b, const ShapeTracker& st, const LazyOp* index) {
    const LazyBuffer* table = b->src[0];
    check(is_leaf(table->base), "the table of an indexed load is in memory");
    const ShapeTracker rows = st == b->st ? table->st : graph_.stacked(table->st, st.with_rows_of(table->shape().back()));
    return ops_.load_at(number_of(table->base), b->dtype, rows, index);
  }

  int number_of(const LazyBuffer* base) {
    auto it = std::ranges::find(inputs_, base);
    if (it == inputs_.end()) it = inputs_.insert(it, base);
    return static_cast<int>(it - inputs_.begin()) + 1;
  }

  LazyGraph& graph_;
  LazyOps& ops_;
  const InMemory& in_memory_;
  ZeroValues zero_;
  const LazyBuffer* root_ = nullptr;
  std::vector<const LazyBuffer*> reductions_;
  const std::vector<Sint>* whole_ = nullptr;  // the shape that they reduce
  bool is_staged_ = false;
  std::unordered_map<Item, const LazyOp*, ItemHash> done_;
  std::vector<const LazyBuffer*> inputs_;
};

}  // namespace

Ast build_ast(LazyGraph& graph, const LazyBuffer* out, const InMemory& in_memory) { return Builder(graph, in_memory).build(out); }

}  // namespace etch
