#include "quant/choices.h"

#include <algorithm>

#include "lazy/graph.h"
#include "quant/collapse.h"

namespace etch {
namespace {

constexpr int kDeepest = 64;                    // choices inside of choices
constexpr std::int64_t kLargestMask = 1 << 22;  // elements

class Distributor {
 public:
  Distributor(const std::function<Tensor(const LazyBuffer*)>& f, LazyGraph& graph, Scalar of_zero)
      : f_(f), graph_(graph), of_zero_(of_zero) {}

  /// `reach`: where the result may be chosen, a constant with axes of size 1 where it is the same; empty: everywhere.
  Tensor distribute(const LazyBuffer* value, const Tensor& reach, int depth) {
    if (depth > kDeepest) return f_(value);
    if (!value->is_base()) return of_view(value, reach, depth);
    if (!is_op(value, Op::Where)) return f_(value);
    const Tensor condition(&graph_, value->src[0]);
    Tensor is = reach, is_not = reach;
    if (condition.buffer()->base->kind == LazyKind::Const) {
      const Tensor known = along_masks(condition);
      is = reach ? Tensor::binary(Op::And, reach, known) : known;
      is_not = reach ? Tensor::binary(Op::And, reach, known.logical_not()) : known.logical_not();
    }
    const Tensor chosen = distribute(value->src[1], is, depth + 1), other = distribute(value->src[2], is_not, depth + 1);
    return condition.where(chosen, other);
  }

 private:
  Tensor of_view(const LazyBuffer* view, const Tensor& reach, int depth) {
    if (!is_masked(view->st) && !is_op(view->base, Op::Where)) return f_(view);
    const Tensor whole = distribute(view->base, {}, depth + 1);
    const Tensor seen(&graph_, graph_.view(whole.buffer(), graph_.stacked(whole.buffer()->st, view->st)));
    if (!is_masked(view->st)) return seen;
    const Tensor inside = inside_of(graph_, view);
    return covers(along_masks(inside), reach) ? seen : inside.where(seen, Tensor::full(graph_, seen.shape(), of_zero_));
  }

  static bool covers(const Tensor& inside, const Tensor& reach) {
    if (!reach) return false;
    const Tensor outside = Tensor::binary(Op::And, reach, inside.logical_not());
    if (!outside.size().is_int() || outside.size().as_int() > kLargestMask) return false;
    const std::optional<Array> values = outside.evaluate();
    return values && std::ranges::none_of(values->ints(), [](std::int64_t v) { return v != 0; });
  }

  const std::function<Tensor(const LazyBuffer*)>& f_;
  LazyGraph& graph_;
  Scalar of_zero_;
};

}  // namespace

bool is_choice(const LazyBuffer* value) { return is_op(value->base, Op::Where); }

Tensor before_choices(const LazyBuffer* value, const std::function<Tensor(const LazyBuffer*)>& f, LazyGraph& graph, Scalar of_zero) {
  return Distributor(f, graph, of_zero).distribute(value, {}, 0);
}

}  // namespace etch
