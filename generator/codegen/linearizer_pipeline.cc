// Linearizer: the first stage of a kernel of several, a turn of the loop early (PIPELINE). The second stage goes over the same elements of
// this turn and mostly computes more, so that the first one takes the units that wait meanwhile, and a pass less is needed.
//
//   largest = of the first rows
//   for (n ...)                          the turns
//     for (k ...) { sum += exp(in[n][k] - largest); next_largest = max(next_largest, in[n_next][k]); }
//     for (k ...) out[n][k] = ...
//     largest = next_largest
//
// The last turn has none behind it and takes itself: what comes of that is not used.
//
// Where the last stage goes over the same elements too, what it stores comes a turn late, beside the second stage as well. What it needs of
// a row, a number each, is kept for that; the last turn's is stored behind the loop.
//
//   for (n ...)
//     for (k ...) { out[n][k] = exp(...); sum += out[n][k]; next_largest = ...; if (n > 0) out[n_before][k] *= last_ratio; }
//     last_ratio = 1 / sum
//   for (k ...) out[last][k] *= last_ratio
#include "codegen/linearizer_state.h"

namespace etch {

// What is remembered of values is of one turn.
void Linearizer::swap_with(OtherTurn& turn) {
  std::swap(values_, turn.values);
  std::swap(places_, turn.places);
  std::swap(zeros_, turn.zeros);
  std::swap(accumulators_, turn.accumulators);
  std::swap(sums_apart_, turn.sums_apart);
  std::swap(axis_index_, turn.axis_index);
}

void Linearizer::of_next_turn(const std::function<void()>& compute) {
  const int lanes = lanes_;
  next_.axis_index = axis_index_;
  next_.axis_index[static_cast<std::size_t>(pipelined_)] = next_turn_;
  std::vector<std::size_t> first, second;  // the axes of these stages, which are alike
  for (std::size_t i = 0; i < k_.axes().size(); i++)
    if (const int stage = k_.axes()[i].stage; stage == 0 || stage == 1) (stage == 0 ? first : second).push_back(i);
  for (std::size_t i = 0; i < first.size(); i++) next_.axis_index[first[i]] = std::exchange(next_.axis_index[second[i]], 0);
  swap_with(next_);
  stage_ = 0;
  lanes_ = k_.lanes();
  is_next_turn_ = true;
  compute();
  is_next_turn_ = false;
  lanes_ = lanes;
  stage_ = 1;
  swap_with(next_);
}

// The last stage, of the turn before, at one element of the second stage of this turn.
void Linearizer::of_turn_before(Sint element, const std::function<void()>& store) {
  const int lanes = lanes_;
  OtherTurn before{.axis_index = axis_index_};
  before.axis_index[static_cast<std::size_t>(pipelined_)] = turn_before_;
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& a = k_.axes()[i];
    if (a.stage == 1) before.axis_index[i] = 0;
    if (a.kind == AxisKind::Inner) before.axis_index[i] = floordiv(element, k_.root_multiplier(static_cast<int>(i)));
  }
  swap_with(before);
  stage_ = k_.reduce_stages();
  lanes_ = k_.lanes();
  orders_.clear();
  is_late_ = true;
  store();
  is_late_ = false;
  orders_.clear();
  lanes_ = lanes;
  stage_ = 1;
  swap_with(before);
}

std::vector<const LazyOp*> Linearizer::results() const {
  std::vector<const LazyOp*> found;
  for (const KernelBuf& store : k_.stores()) found.push_back(store.op->src[0]);
  return found;
}

// In the innermost loop of the second stage.
void Linearizer::store_turn_before() {
  const std::size_t outside = open_.size();
  open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {has_before_}}));
  for_each(axes_of(AxisKind::Unroll), [&] {
    Sint element = 0;
    for (std::size_t i = 0; i < k_.axes().size(); i++)
      if (k_.axes()[i].stage == 1) element += axis_index_[i] * k_.root_multiplier(static_cast<int>(i));
    of_turn_before(element, [&] {
      compute_outer_values(results());
      for_each(copied_axes(), [&] { store_copy(results()); });
    });
  });
  while (open_.size() > outside) close(open_.back());
}

// What lanes leave over of them, behind these loops.
void Linearizer::store_rest_of_turn_before() {
  if (!k_.lanes_rest()) return;
  const std::size_t outside = open_.size();
  open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {has_before_}}));
  of_turn_before(0, [&] { store_rest(results(), open_.size()); });
  while (open_.size() > outside) close(open_.back());
}

// The values that the last stage has for a row, of no turn yet.
void Linearizer::define_late() {
  stage_ = k_.reduce_stages();
  orders_.clear();
  for (const LazyOp* result : results())
    for (const LazyOp* op : std::vector(order_of(result)))
      if (op->op == Op::Expand)
        for_each(copied_axes(), [&] {
          const LazyOp* row = op->src[0];
          late_rows_.insert(row);
          const auto [late, is_new] = late_.try_emplace({number_.at(row), key_of(relevant_axes(row))});
          if (!is_new) return;
          const std::string_view word = info(row->op).word;
          late->second = b_.add(UOp{.uop = UOpKind::DefineAcc,
                                    .dtype = row->dtype,
                                    .number = defined_++,
                                    .value = Scalar::of_int(row->dtype, 0),
                                    .name = "last_" + std::string(word.empty() ? "value" : word),
                                    .hint = copy_of(row)});
        });
  orders_.clear();
}

void Linearizer::keep_late() {
  stage_ = k_.reduce_stages();
  compute_outer_values(results());
  for (auto& [row, newest] : late_) carry(newest, values_.at(row));
  values_.clear();
  places_.clear();
  orders_.clear();
}

// Behind the loop.
void Linearizer::store_last_turn() {
  const auto i = static_cast<std::size_t>(pipelined_);
  Sint last = k_.axes()[i].size - 1;
  if (pipelined_ == shared_) {
    const UOp* end = own_turns_.second;
    const std::string name = free_name(axis_names_[i] + "_last");
    index_.declare(name, b_.alu(Op::Sub, end->dtype, {end, b_.constant(Scalar::of_int(end->dtype, 1))}, true));
    last = symbols_->variable(name, 0, last);
  }
  axis_index_[i] = k_.runs_backwards() ? k_.axes()[i].size - 1 - last : last;
  stage_ = k_.reduce_stages();
  is_late_ = true;
  store_outputs();
  is_late_ = false;
}

void Linearizer::define_next() {
  next_ = {};
  of_next_turn([&] {
    sums_apart_ = may_sum_apart();
    define_accumulators(Sums::Own);
  });
}

void Linearizer::finish_next() {
  next_.values.clear();  // they were of the loops that are closed
  next_.places.clear();
  next_.zeros.clear();
  of_next_turn([&] { finish_sums(); });
}

// The first stage of the first turn. A worker that has no turns reads nothing, as others may write there.
void Linearizer::begin_turns() {
  const auto i = static_cast<std::size_t>(pipelined_);
  const Sint turn = axis_index_[i], last = k_.axes()[i].size - 1;
  Sint first = 0;
  if (pipelined_ == shared_) {
    const auto& [begin, end] = own_turns_;
    open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {b_.alu(Op::CmpLt, DType::Bool, {begin, end}, true)}}));
    const std::string name = free_name(axis_names_[i] + "_first");
    index_.declare(name, begin);
    first = symbols_->variable(name, 0, last);
  }
  axis_index_[i] = k_.runs_backwards() ? last - first : first;
  stage_ = 0;
  lanes_ = k_.lanes();
  reduce();
  if (k_.reduces_lanes()) lanes_ = 1;  // these were added up
  define_accumulators(Sums::Own);
  lanes_ = k_.lanes();
  axis_index_[i] = turn;
}

// Opens the loop, and finds the turn behind each.
void Linearizer::open_pipelined() {
  const auto i = static_cast<std::size_t>(pipelined_);
  open_axis(pipelined_);
  const UOp* loop = open_.back();
  const auto sum = [&](const UOp* a, Op op) { return b_.alu(op, a->dtype, {a, b_.constant(Scalar::of_int(a->dtype, 1))}, true); };
  const UOp* has_next = b_.alu(Op::CmpLt, DType::Bool, {sum(loop, Op::Add), loop->src[1]}, true);
  const UOp* now = index_.integer(axis_index_[i]);
  const auto other = [&](const char* suffix, const UOp* is_there, Op op) {
    const std::string name = free_name(axis_names_[i] + suffix);
    index_.declare(
        name,
        b_.add(UOp{
            .uop = UOpKind::Alu, .dtype = now->dtype, .src = {is_there, sum(now, op), now}, .op = Op::Where, .exact = true, .hint = name}));
    return symbols_->variable(name, 0, k_.axes()[i].size - 1);
  };
  next_turn_ = other("_next", has_next, k_.runs_backwards() ? Op::Sub : Op::Add);
  if (!stores_late_) return;
  has_before_ = b_.add(UOp{.uop = UOpKind::Alu,
                           .dtype = DType::Bool,
                           .src = {loop->src[0], loop},
                           .op = Op::CmpLt,
                           .exact = true,
                           .name = free_name("is_behind_first")});
  turn_before_ = other("_before", has_before_, k_.runs_backwards() ? Op::Add : Op::Sub);
}

void Linearizer::compute_turns() {
  begin_turns();
  Accumulators carried = accumulators_;
  if (stores_late_) define_late();
  const std::size_t around = open_.size();
  open_pipelined();
  const std::size_t outside = open_.size();
  for (stage_ = 1; stage_ < k_.reduce_stages(); stage_++) reduce();
  if (stores_late_) {
    stage_ = 1;
    store_rest_of_turn_before();
    keep_late();
  } else {
    store_outputs();
  }
  while (open_.size() > outside) close(open_.back());
  for (auto& [sum, acc] : carried) carry(acc, next_.accumulators.at(sum));
  if (!stores_late_) return;
  while (open_.size() > around) close(open_.back());
  store_last_turn();
}

}  // namespace etch
