// Linearizer: what the stages of a kernel have from each other. Results of reductions stay in accumulators; an expensive value of the whole
// shape (the exp of softmax) may be stored in the output by one stage and read there by the last one. And the largest element of a row need
// not be NaN where one of them is, if a later sum over the row is NaN then, and all results with it.
#include <algorithm>

#include "base/toposort.h"
#include "codegen/linearizer_state.h"

namespace etch {

void Linearizer::compute_outer_values(const std::vector<const LazyOp*>& roots) {
  if (is_late_) values_ = late_;
  for (const LazyOp* root : roots)
    for (const LazyOp* op : order_of(root))
      if (op->op == Op::Expand) for_each(copied_axes(), [&] { value(op->src[0]); });
}

// The last call of the math library that the last stage and one before it need, in the first stage that computes it. Called while no order
// of operations is cached.
Linearizer::Kept Linearizer::find_kept() const {
  Kept best;
  if (!k_.is_staged() || k_.is_scan() || k_.ast()->shape != k_.reduces()[0]->src[0]->shape) return best;
  const auto below = [](const LazyOp* o) { return is_reduce(o->op) || o->op == Op::Expand ? Sources() : Sources(o->src); };
  const std::vector<const LazyOp*> last = toposort<LazyOp>({k_.ast()->src[0]}, below);
  for (int stage = 0; stage < k_.reduce_stages(); stage++)
    for (const LazyOp* reduce : k_.reduces_of(stage))
      for (const LazyOp* op : toposort<LazyOp>({reduce->src[0]}, below)) {
        const bool is_dear = is_elementwise(op->op) && is_library_call(op->op);
        if (op != best.op && is_dear && std::ranges::find(last, op) != last.end() && may_keep(op, stage)) best = {op, stage};
      }
  return best;
}

// The output takes the value without rounding, and nothing else that this or a later stage reads may lie in the output's memory.
bool Linearizer::may_keep(const LazyOp* op, int stage) const {
  const LazyOp* store = k_.ast();
  if (op->dtype != store->dtype || op == store->src[0] || (lanes_ > 1 && op->dtype != DType::Float32)) return false;
  if (op->dtype != DType::Float32 && op->dtype != DType::Float64) return false;
  std::vector<const LazyOp*> roots{store->src[0]};
  for (int other = stage; other < k_.reduce_stages(); other++)
    for (const LazyOp* reduce : k_.reduces_of(other)) roots.push_back(reduce->src[0]);
  const auto below = [&](const LazyOp* o) { return is_reduce(o->op) || o == op ? Sources() : Sources(o->src); };
  return std::ranges::none_of(toposort<LazyOp>(roots, below), [&](const LazyOp* o) {
    return reads_in_place(o, store) && !options_.arguments[static_cast<std::size_t>(o->mem().index)].is_constant;
  });
}

const UOp* Linearizer::load_kept() {
  const KernelBuf& out = k_.bufs()[0];
  return load_all(out, lanes_of(out));
}

namespace {

const LazyOp* inside(const LazyOp* op) {
  while (op->op == Op::Expand) op = op->src[0];
  return op;
}

// sum(e^(x - max(x))): a NaN in x stays one, whatever the largest of the others is.
bool is_nan_with(const LazyOp* sum, const LazyOp* max) {
  if (sum->op != Op::ReduceSum || sum->src[0]->op != Op::ExpNonPos) return false;
  const LazyOp* distance = sum->src[0]->src[0];
  return distance->op == Op::Sub && distance->src[0] == max->src[0] && inside(distance->src[1]) == max;
}

// Whether arithmetic makes `root` NaN where `sum` is.
bool is_nan_behind(const LazyOp* root, const LazyOp* sum) {
  std::set<const LazyOp*> nan;
  for (const LazyOp* op : toposort(root)) {
    const bool keeps =
        op->op == Op::Expand || op->op == Op::Add || op->op == Op::Sub || op->op == Op::Mul || op->op == Op::Div || op->op == Op::Log;
    if (op == sum || (keeps && std::ranges::any_of(op->src, [&](const LazyOp* s) { return nan.contains(s); }))) nan.insert(op);
  }
  return nan.contains(root);
}

}  // namespace

std::set<const LazyOp*> Linearizer::find_without_nans() const {
  std::set<const LazyOp*> found;
  for (const LazyOp* max : k_.reduces()) {
    if (max->op != Op::ReduceMax || !is_float(max->dtype)) continue;
    const bool is_found_later = std::ranges::any_of(k_.reduces(), [&](const LazyOp* sum) {
      return is_nan_with(sum, max) &&
             std::ranges::all_of(k_.stores(), [&](const KernelBuf& store) { return is_nan_behind(store.op->src[0], sum); });
    });
    if (is_found_later) found.insert(max);
  }
  return found;
}

const UOp* Linearizer::reduced_with(const LazyOp* reduce, const UOp* sum, const UOp* next) {
  if (!without_nans_.contains(reduce)) return elementwise(reduce_info(reduce->op).step, reduce->dtype, {sum, next});
  const UOp* is_larger = elementwise(Op::CmpLt, DType::Bool, {sum, next});
  return elementwise(Op::Where, reduce->dtype, {is_larger, next, sum});
}

}  // namespace etch
