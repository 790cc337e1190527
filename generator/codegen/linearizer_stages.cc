// Linearizer: what the stages of a kernel have from each other. Results of reductions stay in accumulators; an expensive value of the whole
// shape (the exp of softmax) may be stored in the output by one stage and read there by the last one.
#include <algorithm>

#include "base/toposort.h"
#include "codegen/linearizer_state.h"

namespace etch {

void Linearizer::compute_outer_values(const std::vector<const LazyOp*>& roots) {
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

}  // namespace etch
