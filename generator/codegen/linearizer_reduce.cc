// Linearizer: reductions into accumulators and, for grouped axes, through memory that the work-group shares.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

// A kernel of several stages has sums of several reductions next to each other: "own_largest", "each_largest", "largest".
std::string Linearizer::name_of(const LazyOp* reduce, Sums sums) const {
  const bool is_only = k_.reduces().size() == 1, has_shared = k_.is_staged() && k_.count(AxisKind::Group) > 0;
  const std::string word = (is_next_turn_ ? "next_" : "") + std::string(info(reduce->op).word);
  switch (sums) {
    case Sums::Own:
      return is_only ? "acc" : (has_shared ? "own_" : "") + word;
    case Sums::OfItems:
      return is_only || !has_shared ? "sums" : "each_" + word;
    case Sums::OfPart:
      return is_only ? "part" : "part_" + word;
    case Sums::Total:
      return is_only ? "total" : word;
  }
  return word;
}

// Sums of integers wrap around, so they may begin with what is added behind them.
void Linearizer::find_starts() {
  if (lanes_ > 1 || k_.is_staged() || k_.count(AxisKind::Group) > 0) return;
  const std::vector<const LazyOp*> all = toposort(k_.ast());
  const auto is_constant = [&](const LazyOp* op) {
    return op->op == Op::Load && !is_indexed(op) && options_.arguments[static_cast<std::size_t>(op->mem().index)].is_constant;
  };
  for (const LazyOp* reduce : k_.reduces()) {
    if (reduce->op != Op::ReduceSum || is_scan(reduce) || !is_int(reduce->dtype)) continue;
    std::vector<const LazyOp*> users;
    std::ranges::copy_if(all, std::back_inserter(users),
                         [&](const LazyOp* op) { return std::ranges::find(op->src, reduce) != op->src.end(); });
    if (users.size() != 1 || users[0]->op != Op::Add) continue;
    const LazyOp* other = users[0]->src[users[0]->src[0] == reduce ? 1 : 0];
    if (!is_constant(other)) continue;
    starts_[reduce] = other;
    begun_[users[0]] = reduce;
  }
}

void Linearizer::define_accumulators(Sums sums) {
  constexpr std::int64_t kInLine = 4;
  std::vector<int> upcast = copied_axes();
  std::int64_t row = upcast.empty() ? 1 : count(upcast) / k_.axes()[static_cast<std::size_t>(upcast[0])].size.as_int();
  if (row < kInLine) row *= kInLine / row;  // several short ones
  if (sums_apart_) std::ranges::copy(axes_of(AxisKind::Unroll), std::back_inserter(upcast));
  for (const LazyOp* op : k_.reduces_of(stage_)) {
    std::set<std::pair<int, std::int64_t>> made;  // copies may share one
    for_each(upcast, [&] {
      if (!made.insert(accumulator_of(op)).second) return;
      UOp acc{.uop = UOpKind::DefineAcc, .dtype = op->dtype, .lanes = lanes_, .number = defined_++, .value = start_of(op->op, op->dtype)};
      acc.name = name_of(op, sums);
      if (!is_scan(op)) acc.hint = ahead_name_ + copy_of(op);
      acc.size = position(upcast).as_int() / row;
      if (const auto start = starts_.find(op); start != starts_.end()) acc.src = {value(start->second)};
      const UOp*& sum = accumulators_[accumulator_of(op)];
      if (sum != nullptr) acc.src = {sum};  // goes on from there
      sum = b_.add(std::move(acc));
    });
  }
}

void Linearizer::accumulate(const LazyOp* op, const UOp* x) { accumulate(op, accumulators_.at(accumulator_of(op)), x); }

void Linearizer::accumulate(const LazyOp* op, const UOp*& newest, const UOp* x) { carry(newest, reduced_with(op, newest, x)); }

void Linearizer::carry(const UOp*& newest, const UOp* value) {
  const UOp* acc = newest->uop == UOpKind::Phi ? newest->src[0] : newest;
  newest = b_.add(UOp{.uop = UOpKind::Phi, .dtype = acc->dtype, .lanes = acc->lanes, .src = {acc, value}});
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
    fetch_shares(axis);
    open_guards();
  }
  check(left.empty(), "a guard depends on loops alone");
}

// The sum of products of integers over an unrolled window for several outputs, which may be added in any order; else null.
const LazyOp* Linearizer::window_sum() const {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  const bool has_window =
      k_.count(AxisKind::Unroll) > (lanes_ > 1 ? 0 : 1) && k_.count(AxisKind::Upcast) > 0 && !k_.tensor() && kept_.op == nullptr;
  if (!has_window || reduces.size() != 1 || is_scan(reduces[0]) || !is_int(reduces[0]->dtype)) return nullptr;
  return contraction_of(reduces[0]) ? reduces[0] : nullptr;
}

// Element by element of the operand that has more of them, the image: each is loaded, multiplied for all outputs whose windows it is in,
// and done with. Else as many elements as a row of the tile has would be held in registers beside the sums.
void Linearizer::add_by_element(const LazyOp* sum) {
  struct Product {
    std::vector<Sint> at;
    std::array<std::string, 2> elements;  // of the operands
  };
  std::vector<Product> products;
  const std::optional<Contraction> factors = contraction_of(sum);
  std::array<std::map<std::string, std::size_t>, 2> first;  // by element: the first product of it
  const auto element_of = [&](const LazyOp* factor) {
    std::string text;
    for (const LazyOp* leaf : toposort(factor))
      if (leaf->op == Op::Load && !is_indexed(leaf)) text += to_text(place_of(k_.buf_of(leaf)).idx) + ";";
    return text;
  };
  for_each(axes_of(AxisKind::Unroll), [&] {
    for_each(axes_of(AxisKind::Upcast), [&] {
      if (zeros_of(sum->src[0]).always) return;
      products.push_back({axis_index_, {element_of(factors->a()), element_of(factors->b())}});
      for (std::size_t f = 0; f < 2; f++) first[f].try_emplace(products.back().elements[f], products.size());
    });
  });
  const std::size_t image = first[0].size() >= first[1].size() ? 0 : 1;
  std::stable_sort(products.begin(), products.end(), [&](const Product& p, const Product& q) {
    return first[image].at(p.elements[image]) < first[image].at(q.elements[image]);
  });
  for (const Product& p : products) {
    axis_index_ = p.at;
    accumulate(sum, value(sum->src[0]));
  }
}

void Linearizer::reduce() {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  std::vector<const LazyOp*> summed;
  for (const LazyOp* op : reduces) summed.push_back(op->src[0]);
  if (k_.sums_are_lanes()) lanes_ = 1;
  sums_apart_ = may_sum_apart();
  if (k_.prefetches_stores() && stage_ == 0) fetch_stores();
  find_ahead();
  if (const std::vector<int> outer = axes_of(AxisKind::Global); !outer.empty()) fetch_shares(outer.back());
  find_window();
  if (window_)
    define_window();
  else
    define_accumulators(Sums::Own);
  if (begins_next()) define_next();
  compute_outer_values(summed);
  const std::size_t outside = open_.size();
  make_variables(AxisKind::Reduce);
  // What adds nothing to this stage may count in the next turn's.
  const std::vector<Sint> guards = begins_next() ? std::vector<Sint>() : find_guards();
  open_reduce_loops(guards);
  guards_ = guards;
  if (window_)
    add_row();
  else if (const LazyOp* sum = begins_next() ? nullptr : window_sum(); sum != nullptr)
    add_by_element(sum);
  else
    for_each(axes_of(AxisKind::Unroll), [&] {
      if (k_.tensor())
        multiply_by_instruction();
      else
        add_turn(reduces);
      if (begins_next()) of_next_turn([&] { add_turn(k_.reduces_of(0)); });
    });
  if (begins_next() && stores_late_) store_turn_before();
  if (k_.tensor() && k_.tensor()->tail > 0) add_tail();
  end_turns(outside);
  if (window_) reduce_windows();
  if (!axes_of(AxisKind::Group).empty()) reduce_group();
  if (begins_next()) finish_next();
  finish_sums();
}

// What the lanes have becomes what each of them needs.
void Linearizer::finish_sums() {
  if (lanes_ != k_.lanes()) gather_sums();
  if (k_.reduces_lanes())
    add_lanes();
  else if (lanes_ > 1)
    tile();
}

// What the innermost body adds to all sums of the stage.
void Linearizer::add_turn(const std::vector<const LazyOp*>& reduces) {
  Done done;
  for_each(axes_of(AxisKind::Upcast), [&] {
    if (kept_.op != nullptr && kept_.stage == stage_) store(k_.bufs()[0], value(kept_.op));
    add_copy(reduces, done);
    if (k_.is_scan()) store(k_.bufs()[0], value(k_.ast()->src[0]));
  });
}

void Linearizer::add_copy(const std::vector<const LazyOp*>& reduces, Done& done) {
  for (const LazyOp* op : reduces) {
    const bool adds_nothing = op->op == Op::ReduceSum && zeros_of(op->src[0]).always;  // padding here, whatever the loops say
    if (!adds_nothing && done.insert(accumulator_of(op)).second) accumulate(op, value(op->src[0]));
  }
}

// Closes the loops of a stage and forgets what was computed in them.
void Linearizer::end_turns(std::size_t outside) {
  while (open_.size() > outside) close(open_.back());
  guards_.clear();
  values_.clear();
  places_.clear();
  orders_.clear();
  zeros_.clear();
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (const AxisKind kind = k_.axes()[i].kind; kind == AxisKind::Reduce || kind == AxisKind::Unroll || kind == AxisKind::Tensor)
      axis_index_[i] = 0;
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

// Each work-item stores its sums in shared memory. If the result is one for the group, its first item adds them up and goes on alone, with
// copies for what the others had along the Mid axes. Else every item adds up all of them, in one order, and goes on with the same totals.
// Each reduction has an array of its own, so that no item has to wait until the others have read what an earlier stage left there.
void Linearizer::reduce_group() {
  SharedSums sums{.arrays = {}, .items = count(axes_of(AxisKind::Group)), .copied = axes_of(AxisKind::Mid)};
  const std::vector<int> mid = sums.copied, upcast = axes_of(AxisKind::Upcast);
  sums.copied.insert(sums.copied.end(), upcast.begin(), upcast.end());
  const std::vector<int> local = axes_of(AxisKind::Local);
  const Sint mine = position(axes_of(AxisKind::Group));
  sums.first = position(local) * sums.items;
  for (const LazyOp* op : k_.reduces_of(stage_)) {
    sums.arrays.push_back(b_.add(UOp{.uop = UOpKind::DefineLocal,
                                     .dtype = op->dtype,
                                     .number = arrays_++,
                                     .size = count(local) * sums.items * count(sums.copied),
                                     .name = name_of(op, Sums::OfItems)}));
    for_each(upcast, [&] { store_shared(sums, sums.arrays.size() - 1, mine, accumulators_.at(accumulator_of(op))); });
  }
  b_.add(UOp{.uop = UOpKind::Barrier});
  if (k_.is_staged()) add_in_parts(sums, mine);
  if (k_.all_go_on_behind(stage_)) return add_shared(sums, Sums::Total, 0, sums.items, 1);
  std::vector<Sint> alone{lt(mine, 1)};
  if (!mid.empty()) alone.push_back(lt(position(mid), 1));
  open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {index_.condition(ands(alone))}}));
  is_behind_group_ = true;
  for (int axis : mid) axis_index_[static_cast<std::size_t>(axis)] = 0;
  add_shared(sums, Sums::Total, 0, sums.items, 1);
}

// Many sums take two steps: some items add up a part each, then all add up the parts.
void Linearizer::add_in_parts(SharedSums& sums, Sint mine) {
  constexpr std::int64_t kFew = 32;
  if (sums.items <= kFew) return;
  std::int64_t parts = 1;  // the divisor that makes both steps together shortest
  for (std::int64_t p = 2; p < sums.items; p++)
    if (sums.items % p == 0 && p + sums.items / p < parts + sums.items / parts) parts = p;
  if (parts == 1) return;
  const UOp* some = b_.add(UOp{.uop = UOpKind::If, .src = {index_.condition(lt(mine, parts))}});
  open_.push_back(some);
  add_shared(sums, Sums::OfPart, mine, sums.items / parts, parts);
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  for (std::size_t r = 0; r < reduces.size(); r++)
    for_each(sums.copied, [&] { store_shared(sums, r, mine, accumulators_.at(accumulator_of(reduces[r]))); });
  close(some);
  b_.add(UOp{.uop = UOpKind::Barrier});
  sums.items = parts;
}

Sint Linearizer::place_of(const SharedSums& sums, Sint item) const {
  return (sums.first + item) * count(sums.copied) + position(sums.copied);
}

void Linearizer::store_shared(const SharedSums& sums, std::size_t array, Sint item, const UOp* sum) {
  const UOp* to = sums.arrays[array];
  b_.add(UOp{.uop = UOpKind::Store, .dtype = to->dtype, .src = {to, index_.integer(place_of(sums, item)), sum}});
}

// New accumulators of the stage: the sums of `n` items from `from` on, `step` apart.
void Linearizer::add_shared(const SharedSums& sums, Sums kind, Sint from, std::int64_t n, std::int64_t step) {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  for (const LazyOp* op : reduces) std::erase_if(accumulators_, [&](const auto& a) { return a.first.first == number_.at(op); });
  define_accumulators(kind);
  const std::string name = free_name("item");
  const UOp* loop = open_loop(name, n, 1, name);
  const Sint item = from + symbols_->variable(name, 0, n - 1) * step;
  for (std::size_t r = 0; r < reduces.size(); r++)
    for_each(sums.copied, [&] {
      const UOp* at = index_.integer(place_of(sums, item));
      accumulate(reduces[r], b_.add(UOp{.uop = UOpKind::Load, .dtype = reduces[r]->dtype, .src = {sums.arrays[r], at}}));
    });
  close(loop);
}

}  // namespace etch
