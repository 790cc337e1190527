// Linearizer: reductions into accumulators and, for grouped axes, through memory that the work-group shares.
#include <algorithm>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

void Linearizer::define_accumulators(const std::string& name) {
  constexpr std::int64_t kInLine = 4;
  const std::vector<int> upcast = copied_axes();
  std::int64_t row = upcast.empty() ? 1 : count(upcast) / k_.axes()[static_cast<std::size_t>(upcast[0])].size.as_int();
  if (row < kInLine) row *= kInLine / row;  // several short ones
  for (const LazyOp* op : k_.reduces_of(stage_)) {
    for_each(upcast, [&] {
      UOp acc{.uop = UOpKind::DefineAcc, .dtype = op->dtype, .lanes = lanes_, .number = defined_++, .value = start_of(op->op, op->dtype)};
      acc.name = k_.reduces().size() == 1 ? name : std::string(info(op->op).word);
      if (!is_scan(op)) acc.hint = copy_of(op);
      acc.size = position(upcast).as_int() / row;
      accumulators_[accumulator_of(op)] = b_.add(std::move(acc));
    });
  }
}

void Linearizer::accumulate(const LazyOp* op, const UOp* x) {
  const UOp*& newest = accumulators_.at(accumulator_of(op));
  const UOp* acc = newest->uop == UOpKind::Phi ? newest->src[0] : newest;
  const UOp* next = elementwise(reduce_info(op->op).step, op->dtype, {newest, x});
  newest = b_.add(UOp{.uop = UOpKind::Phi, .dtype = acc->dtype, .lanes = acc->lanes, .src = {acc, next}});
}

// Opens the loops that a guard depends on first, and tests each guard as far out as possible.
void Linearizer::open_reduce_loops(const std::vector<Sint>& guards) {
  std::vector<Sint> left = guards;
  const auto open_guards = [&] {
    std::vector<Sint> now;
    std::ranges::copy_if(left, std::back_inserter(now), [&](Sint g) { return index_.knows(g); });
    std::erase_if(left, [&](Sint g) { return index_.knows(g); });
    if (!now.empty()) open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {index_.condition(ands(now))}}));
  };
  open_guards();
  for (int axis : reduce_order(k_)) {
    if (k_.axes()[static_cast<std::size_t>(axis)].stage != stage_) continue;
    open_axis(axis);
    open_guards();
  }
  check(left.empty(), "a guard depends on loops alone");
}

void Linearizer::reduce() {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  std::vector<const LazyOp*> summed;
  for (const LazyOp* op : reduces) summed.push_back(op->src[0]);
  define_accumulators("acc");
  compute_outer_values(summed);
  const std::size_t outside = open_.size();
  make_variables(AxisKind::Reduce);
  const std::vector<Sint> guards = find_guards();
  open_reduce_loops(guards);
  guards_ = guards;
  const auto add_all = [&] {
    for_each(axes_of(AxisKind::Upcast), [&] {
      if (kept_.op != nullptr && kept_.stage == stage_) store(k_.bufs()[0], value(kept_.op));
      for (const LazyOp* op : reduces) {
        const bool adds_nothing = op->op == Op::ReduceSum && zeros_of(op->src[0]).always;  // padding here, whatever the loops say
        if (!adds_nothing) accumulate(op, value(op->src[0]));
      }
      if (k_.is_scan()) store(k_.bufs()[0], value(k_.ast()->src[0]));
    });
  };
  for_each(axes_of(AxisKind::Unroll), [&] {
    if (k_.tensor())
      multiply_by_instruction();
    else
      add_all();
  });
  while (open_.size() > outside) close(open_.back());
  guards_.clear();
  values_.clear();
  places_.clear();
  orders_.clear();
  zeros_.clear();
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (const AxisKind kind = k_.axes()[i].kind; kind == AxisKind::Reduce || kind == AxisKind::Unroll || kind == AxisKind::Tensor)
      axis_index_[i] = 0;
  if (!axes_of(AxisKind::Group).empty()) reduce_group();
  if (lanes_ > 1) tile();
}

// If the lanes are not adjacent in every output, or are integers, the sums are stored in an array on the stack, and the operations after
// the reduction are done element by element.
void Linearizer::tile() {
  const bool is_adjacent = std::ranges::all_of(k_.stores(), [&](const KernelBuf& b) {
    const auto stride = k_.stride(b, static_cast<int>(k_.axes().size()) - 1);
    return stride && stride->is_int(1);
  });
  if (is_adjacent && !k_.tensor()) return;
  const std::vector<int> upcast = axes_of(AxisKind::Upcast);
  for (const LazyOp* op : k_.reduces()) {
    const UOp* array = b_.add(UOp{.uop = UOpKind::DefineLocal,
                                  .dtype = op->dtype,
                                  .number = static_cast<std::int64_t>(tile_.size()),
                                  .size = count(upcast) * lanes_,
                                  .name = "tile"});
    for_each(upcast, [&] {
      const UOp* sum = accumulators_.at(accumulator_of(op));
      const UOp* at = index_.integer(position(upcast) * lanes_);
      b_.add(UOp{.uop = UOpKind::Store, .dtype = op->dtype, .lanes = lanes_, .src = {array, at, sum}});
    });
    tile_[op] = array;
  }
  const int lane = static_cast<int>(k_.axes().size()) - 1;
  make_variable(lane);
  open_axis(lane);
  lanes_ = 1;
}

std::int64_t Linearizer::count(const std::vector<int>& axes) const {
  std::int64_t n = 1;
  for (int a : axes) n *= k_.axes()[static_cast<std::size_t>(a)].size.as_int();
  return n;
}

// The row-major index of the current values of `axes`.
Sint Linearizer::position(const std::vector<int>& axes) const {
  Sint p = 0;
  for (int a : axes) p = p * k_.axes()[static_cast<std::size_t>(a)].size + axis_index_[static_cast<std::size_t>(a)];
  return p;
}

// Each work-item stores its sums in shared memory; the first one of each group adds them up and continues alone. From there on it has
// copies for what the others had along the Mid axes.
void Linearizer::reduce_group() {
  const std::vector<int> local = axes_of(AxisKind::Local), group = axes_of(AxisKind::Group), mid = axes_of(AxisKind::Mid),
                         upcast = axes_of(AxisKind::Upcast);
  std::vector<int> copied = mid;
  copied.insert(copied.end(), upcast.begin(), upcast.end());
  const std::int64_t items = count(group), copies = count(copied);
  const Sint first = position(local) * items, mine = position(group);
  std::int64_t number = 0;
  std::vector<const UOp*> shared;
  for (const LazyOp* op : k_.reduces()) {
    shared.push_back(b_.add(
        UOp{.uop = UOpKind::DefineLocal, .dtype = op->dtype, .number = number++, .size = count(local) * items * copies, .name = "sums"}));
    for_each(upcast, [&] {
      const UOp* sum = accumulators_.at(accumulator_of(op));
      b_.add(UOp{.uop = UOpKind::Store,
                 .dtype = op->dtype,
                 .src = {shared.back(), index_.integer((first + mine) * copies + position(copied)), sum}});
    });
  }
  b_.add(UOp{.uop = UOpKind::Barrier});
  std::vector<Sint> alone{lt(mine, 1)};
  if (!mid.empty()) alone.push_back(lt(position(mid), 1));
  open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {index_.condition(ands(alone))}}));
  is_behind_group_ = true;
  for (int axis : mid) axis_index_[static_cast<std::size_t>(axis)] = 0;
  accumulators_.clear();
  define_accumulators("total");
  const std::string name = free_name("item");
  const UOp* loop = open_loop(name, items, 1, name);
  const Sint other = symbols_->variable(name, 0, items - 1);
  for (std::size_t r = 0; r < k_.reduces().size(); r++) {
    const LazyOp* op = k_.reduces()[r];
    for_each(copied, [&] {
      const UOp* at = index_.integer((first + other) * copies + position(copied));
      accumulate(op, b_.add(UOp{.uop = UOpKind::Load, .dtype = op->dtype, .src = {shared[r], at}}));
    });
  }
  close(loop);
}

}  // namespace etch
