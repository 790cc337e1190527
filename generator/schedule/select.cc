#include "schedule/select.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "interp/interp.h"
#include "lazy/rewrite.h"

namespace etch {
namespace {

constexpr std::int64_t kMostPositions = 1 << 20;

class Selector {
 public:
  explicit Selector(LazyGraph& graph) : graph_(graph) {}

  /// What replaces `sum`, a ReduceSum over one axis; nullptr if it does not select.
  const LazyBuffer* replace(const LazyBuffer* sum) {
    axis_ = static_cast<std::size_t>(sum->axes[0]);
    const LazyBuffer* term = sum->src[0];
    if (!term->shape()[axis_].is_int() || is_masked(term->st)) return nullptr;
    std::optional<Selected> found;
    if (is_op(term->base, Op::Where)) found = selected_by_where(term);
    if (is_op(term->base, Op::Mul)) found = selected_by_product(term);
    if (!found) return nullptr;
    const LazyBuffer* element = element_at(*found);
    return graph_.view(element, element->st.reshape(sum->shape()));
  }

 private:
  /// Both of the shape of the terms; `index` does not change along the axis.
  struct Selected {
    const LazyBuffer* index;
    const LazyBuffer* values;
  };

  /// Operand `s` of the operation that `seen` is a view of, as `seen` shows it.
  const LazyBuffer* operand(const LazyBuffer* seen, std::size_t s) {
    const LazyBuffer* src = seen->base->src[s];
    return graph_.view(src, graph_.stacked(src->st, seen->st));
  }

  bool is_fixed_along(const LazyBuffer* b, std::size_t axis) const {
    const auto stride = b->st.real_strides()[axis];
    return stride && stride->is_int(0);
  }

  Array values_of(const LazyBuffer* known) { return relayout(graph_.evaluate(known->base), known->st); }

  /// The one value that it shows everywhere, if that is known.
  std::optional<double> single_value(const LazyBuffer* b) {
    if (!b->base->constant || is_masked(b->st)) return std::nullopt;
    std::vector<Range> first;
    for (std::size_t a = 0; a < b->shape().size(); a++) {
      if (!is_fixed_along(b, a)) return std::nullopt;
      first.emplace_back(0, 1);
    }
    return values_of(graph_.view(b, b->st.shrink(first))).double_at(0);
  }

  /// Whether it is 0, 1, 2, ... along the axis, whatever the other indices are.
  bool counts_along_axis(const LazyBuffer* b) {
    if (!b->base->constant || is_masked(b->st) || b->shape()[axis_].max() > kMostPositions) return false;
    std::vector<Range> line;
    for (std::size_t a = 0; a < b->shape().size(); a++) {
      if (a != axis_ && !is_fixed_along(b, a)) return false;
      line.emplace_back(0, a == axis_ ? b->shape()[a] : Sint(1));
    }
    const Array values = values_of(graph_.view(b, b->st.shrink(line)));
    for (std::int64_t i = 0; i < values.size(); i++)
      if (values.int_at(i) != i) return false;
    return true;
  }

  /// The index i of a condition i == k, k being the position along the axis.
  const LazyBuffer* compared_index(const LazyBuffer* condition) {
    if (!is_op(condition->base, Op::CmpEq) || is_masked(condition->st)) return nullptr;
    const LazyBuffer *a = operand(condition, 0), *b = operand(condition, 1);
    if (!is_int(a->dtype)) return nullptr;
    if (is_fixed_along(b, axis_)) std::swap(a, b);
    return is_fixed_along(a, axis_) && counts_along_axis(b) ? a : nullptr;
  }

  static bool is_in_memory(const LazyBuffer* b) {
    const LazyKind kind = b->base->kind;
    return is_memory(b->base) || kind == LazyKind::Contiguous || kind == LazyKind::External || b->base->is_reduction();
  }

  std::optional<Selected> selected_by_where(const LazyBuffer* term) {
    const LazyBuffer* values = operand(term, 1);
    const Scalar* otherwise = const_value(operand(term, 2));
    if (otherwise == nullptr || otherwise->as_double() != 0 || !is_in_memory(values)) return std::nullopt;
    const LazyBuffer* index = compared_index(operand(term, 0));
    return index == nullptr ? std::nullopt : std::optional(Selected{index, values});
  }

  /// The index of a value that is 1 where i == k, else 0.
  const LazyBuffer* one_hot_index(const LazyBuffer* hot) {
    if (is_masked(hot->st)) return nullptr;
    if (is_op(hot->base, Op::Cast)) return compared_index(operand(hot, 0));
    if (!is_op(hot->base, Op::Where)) return nullptr;
    const auto on = single_value(operand(hot, 1)), off = single_value(operand(hot, 2));
    return on && off && *on == 1 && *off == 0 ? compared_index(operand(hot, 0)) : nullptr;
  }

  bool is_finite(const LazyBuffer* b) {
    if (!is_float(b->dtype)) return true;
    if (b->base->kind != LazyKind::Data) return false;
    const Array& data = b->base->data;
    for (std::int64_t i = 0; i < data.size(); i++)
      if (!std::isfinite(data.double_at(i))) return false;
    return true;
  }

  std::optional<Selected> selected_by_product(const LazyBuffer* term) {
    const LazyBuffer *hot = operand(term, 0), *values = operand(term, 1);
    for (int tries = 0; tries < 2; tries++, std::swap(hot, values)) {
      if (!is_in_memory(values) || !is_finite(values)) continue;
      if (const LazyBuffer* index = one_hot_index(hot)) return Selected{index, values};
    }
    return std::nullopt;
  }

  const LazyBuffer* element_at(const Selected& selected) {
    const std::vector<Sint>& shape = selected.values->shape();
    std::vector<int> order;
    std::vector<Range> first;
    std::vector<Sint> rest;
    for (std::size_t a = 0; a < shape.size(); a++) {
      first.emplace_back(0, a == axis_ ? Sint(1) : shape[a]);
      if (a == axis_) continue;
      order.push_back(static_cast<int>(a));
      rest.push_back(shape[a]);
    }
    order.push_back(static_cast<int>(axis_));
    const LazyBuffer* rows = graph_.view(selected.values, selected.values->st.permute(order));
    const LazyBuffer* index = graph_.view(selected.index, selected.index->st.shrink(first).reshape(rest));
    const LazyBuffer* element = graph_.gather(rows, index);
    const auto number = [&](DType dtype, std::int64_t value) { return graph_.constant(Scalar::of_int(dtype, value), rest); };
    const LazyBuffer* nothing = number(element->dtype, 0);
    // A length that the index's type can't hold is above every index.
    const std::int64_t n = shape[axis_].as_int();
    if (Scalar::of_int(index->dtype, n).as_int() == n)
      element = graph_.elementwise(Op::Where, {graph_.elementwise(Op::CmpLt, {index, number(index->dtype, n)}), element, nothing});
    if (is_unsigned(index->dtype)) return element;
    return graph_.elementwise(Op::Where, {graph_.elementwise(Op::CmpLt, {index, number(index->dtype, 0)}), nothing, element});
  }

  LazyGraph& graph_;
  std::size_t axis_ = 0;
};

}  // namespace

std::vector<const LazyBuffer*> select_by_index(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  const auto compares = [](const LazyBuffer* b) { return is_op(b, Op::CmpEq); };
  if (std::ranges::none_of(toposort_bases(outputs), compares)) return outputs;
  Selector selector(graph);
  return rewrite(graph, outputs, [&](const LazyBuffer*, const LazyBuffer* rebuilt) {
    if (!is_op(rebuilt, Op::ReduceSum) || is_scan(rebuilt) || rebuilt->axes.size() != 1 || rebuilt->constant) return rebuilt;
    OriginScope scope(graph, rebuilt->origins);
    const LazyBuffer* replaced = selector.replace(rebuilt);
    return replaced == nullptr ? rebuilt : replaced;
  });
}

}  // namespace etch
