#include "codegen/linearizer.h"

#include <utility>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

Linearizer::Linearizer(const Kernel& kernel, const LinearizeOptions& options) : k_(kernel), options_(options), index_(b_) {
  // A buffer may have a variable size even if the kernel only reads a part of fixed size.
  std::vector<const Node*> vars = variables(kernel.ast());
  std::vector<Sint> elements;
  for (const KernelArgument& a : options.arguments) elements.push_back(a.elements);
  if (vars.empty()) vars = variables(elements);
  if (vars.empty()) result_.own_symbols = std::make_shared<Symbols>();
  symbols_ = vars.empty() ? result_.own_symbols.get() : vars[0]->owner;
  for (const Node* v : vars) taken_.insert(v->name);
  for (const LazyOp* op : toposort(kernel.ast())) number_.emplace(op, static_cast<int>(number_.size()));
  lanes_ = kernel.lanes();
  axis_index_.assign(kernel.axes().size(), 0);
  check(kernel.axes().size() <= 64, "a kernel has at most 64 axes");
  if (const Workers& workers = kernel.options().workers; workers.are_several()) taken_.insert({workers.index, workers.count});
  name_axes();
}

void Linearizer::declare_arguments() {
  std::map<int, DType> dtypes;
  for (const KernelBuf& b : k_.bufs())
    if (b.op->op == Op::Load || b.op->op == Op::Store) dtypes[b.op->mem().index] = b.op->dtype;
  for (const auto& [index, dtype] : dtypes) {
    check(index < static_cast<int>(options_.arguments.size()), "every buffer has a size");
    buffers_[index] = b_.add(UOp{.uop = UOpKind::DefineGlobal, .dtype = dtype, .number = index});
  }
  for (const Node* v : variables(k_.ast())) {
    index_.declare(v->name, b_.add(UOp{.uop = UOpKind::DefineVar, .dtype = DType::Int32, .name = v->name}));
    result_.variables.push_back(v->name);
  }
}

// For every copy: computes the values, which read the reductions' results, and stores them. An output may lie over an input that another
// one is computed from, so all values of a copy come before its first store.
void Linearizer::store_outputs() {
  places_.clear();
  const std::vector<const LazyOp*> results = this->results();
  compute_outer_values(results);
  const std::size_t outside = open_.size();
  make_variables(AxisKind::Inner);
  for (int axis : axes_of(AxisKind::Inner)) open_axis(axis);
  if (columns_ >= 0)
    store_columns(columns_, results);
  else
    for_each(copied_axes(), [&] { store_copy(results); });
  if (k_.lanes_rest() && k_.stores_reduced_dims()) store_rest(results, outside);
}

void Linearizer::store_copy(const std::vector<const LazyOp*>& results) {
  std::vector<const UOp*> values;
  for (const LazyOp* result : results) values.push_back(value(result));
  for (std::size_t s = 0; s < values.size(); s++) store(k_.bufs()[s], values[s]);
}

// All that stands in the outer loops.
void Linearizer::compute_tile() {
  lanes_ = k_.lanes();
  for (stage_ = 0; stage_ < k_.reduce_stages(); stage_++) reduce();
  if (!k_.is_scan()) store_outputs();
}

Linearized Linearizer::run() {
  declare_arguments();
  if (options_.grid) {
    open_grid();
  } else {
    make_variables(AxisKind::Global);
    rolled_ = k_.rolled();
    share_among_workers();
  }
  kept_ = find_kept();
  without_nans_ = find_without_nans();
  find_starts();
  if (kept_.op == nullptr || kept_.stage > 0) pipelined_ = k_.pipelined_axis();
  stores_late_ = pipelined_ >= 0 && k_.stores_late();
  if (!add_interior()) {
    for (int axis : axes_of(AxisKind::Global))
      if (!options_.grid && axis != pipelined_ && (!rolled_ || axis != rolled_->axis)) open_axis(axis);
    if (rolled_)
      compute_rolling();
    else if (pipelined_ >= 0)
      compute_turns();
    else
      compute_tile();
  }
  while (!open_.empty()) close(open_.back());
  result_.uops = b_.finish();
  return std::move(result_);
}

Linearized linearize(const Kernel& kernel, const LinearizeOptions& options) { return Linearizer(kernel, options).run(); }

}  // namespace etch
