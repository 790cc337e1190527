#include "schedule/sum_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/subscript.h"
#include "ir/contraction.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

/// Which axis takes the place of each one.
using AxisOrder = std::vector<int>;

/// A sum of an item's AST whose axes get another order.
struct Sum {
  const LazyOp* sum = nullptr;
  const LazyOp* constant = nullptr;  // the Load of the operand that is written anew
  AxisOrder order = {};
};

/// Whether two axes that follow each other in `order` are one in memory.
bool is_merged(const std::vector<std::optional<Sint>>& strides, const std::vector<Sint>& shape, int before, int axis) {
  const auto &outer = strides[at(before)], &inner = strides[at(axis)];
  return outer && inner && !inner->is_int(0) && *outer == shape[at(axis)] * *inner;
}

/// The order in which the reduced axes have falling strides in `load`; nullopt if they have it already, or if no two of them become one.
std::optional<AxisOrder> order_for(const LazyOp* load, const std::vector<int>& reduced) {
  const auto strides = load->st().real_strides();
  for (const int axis : reduced)
    if (!strides[at(axis)] || !strides[at(axis)]->is_int()) return std::nullopt;
  std::vector<int> sorted = reduced;
  std::ranges::sort(sorted, std::greater(), [&](int axis) { return std::pair(strides[at(axis)]->as_int(), -axis); });
  if (sorted == reduced) return std::nullopt;
  bool merges = false;
  for (std::size_t i = 1; i < sorted.size(); i++) merges = merges || is_merged(strides, load->shape, sorted[i - 1], sorted[i]);
  if (!merges) return std::nullopt;
  AxisOrder order(load->shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < reduced.size(); i++) order[at(reduced[i])] = sorted[i];
  return order;
}

/// The elements of `data` in the order in which `st`, which shows each of them once, lists them after its axes have been permuted.
Array written_in(const AxisOrder& order, const Array& data, const ShapeTracker& st) {
  const View view = st.permute(order).views()[0];
  std::vector<std::int64_t> sizes, strides, values;
  for (std::size_t i = 0; i < view.shape.size(); i++) {
    if (view.strides[i].is_int(0)) continue;
    sizes.push_back(view.shape[i].as_int());
    strides.push_back(view.strides[i].as_int());
  }
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (std::int64_t n = 0; n < data.size(); n++) {
    values.push_back(data.int_at(std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0})));
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
  return Array::of_ints(data.dtype(), {data.size()}, values);
}

/// The view of what written_in returns.
ShapeTracker read_in(const AxisOrder& order, const ShapeTracker& st) {
  const View view = st.permute(order).views()[0];
  std::vector<Sint> strides(view.shape.size(), Sint(0));
  Sint stride = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    if (view.strides[i].is_int(0)) continue;
    strides[i] = stride;
    stride = stride * view.shape[i];
  }
  return ShapeTracker({View::create(view.shape, strides)});
}

class Sums {
 public:
  Sums(LazyGraph& graph, Schedule& schedule) : graph_(graph), schedule_(schedule) {
    for (const ScheduleItem& item : schedule.items)
      for (const LazyBuffer* b : item.inputs) readers_[b]++;
  }

  void order() {
    for (ScheduleItem& item : schedule_.items)
      if (item.ast != nullptr)
        if (const std::optional<Sum> found = sum_of(item)) rewrite(item, *found);
  }

 private:
  std::optional<Sum> sum_of(const ScheduleItem& item) const {
    std::optional<Sum> found;
    for (const LazyOp* op : toposort(item.ast)) {
      if (!is_reduce(op->op)) continue;
      const auto sum = contraction_of(op);
      if (found || !sum || !is_int(op->dtype)) return std::nullopt;
      const LazyOp *a = load_of_factor(sum->a()), *b = load_of_factor(sum->b());
      if (a == nullptr || b == nullptr) return std::nullopt;
      if (item.input_of(a)->kind == LazyKind::Data) std::swap(a, b);
      const LazyBuffer* data = item.input_of(b);
      const auto same = [&](const LazyOp* o) { return o->op == Op::Load && o->mem().index == b->mem().index; };
      if (data->kind != LazyKind::Data || item.input_of(a)->kind == LazyKind::Data || readers_.at(data) > 1) return std::nullopt;
      if (std::ranges::count_if(toposort(item.ast), same) != 1 || !b->st().shows_all_once(data->data.size())) return std::nullopt;
      const auto order = order_for(a, op->axes());
      if (!order) return std::nullopt;
      found = Sum{op, b, *order};
    }
    return found;
  }

  void rewrite(ScheduleItem& item, const Sum& found) {
    LazyOps& ops = graph_.ops();
    const LazyBuffer* old = item.input_of(found.constant);
    OriginScope scope(graph_, old->origins);
    const LazyBuffer* data = graph_.data(written_in(found.order, old->data, found.constant->st()), old->name);
    const LazyOp* product = rewrite_ast(ops, found.sum->src[0], [&](const LazyOp* op, const std::vector<const LazyOp*>& src) {
      if (op == found.constant) return ops.load(op->mem().index, op->dtype, read_in(found.order, op->st()));
      if (op->op == Op::Load) return ops.load(op->mem().index, op->dtype, op->st().permute(found.order));
      return op->op == Op::Cast ? ops.cast(src[0], op->dtype) : ops.elementwise(op->op, src);
    });
    const LazyOp* sum = ops.reduce(found.sum->op, product, found.sum->axes());
    item.ast =
        rewrite_ast(ops, item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) { return op == found.sum ? sum : nullptr; });
    for (const LazyBuffer*& input : item.inputs)
      if (input == old) input = data;
  }

  LazyGraph& graph_;
  Schedule& schedule_;
  std::unordered_map<const LazyBuffer*, int> readers_;  // look-up only
};

}  // namespace

void order_sums(LazyGraph& graph, Schedule& schedule) { Sums(graph, schedule).order(); }

}  // namespace etch
