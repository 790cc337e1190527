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
#include "codegen/linearizer_state.h"

namespace etch {

// What is remembered of values is of one turn.
void Linearizer::of_next_turn(const std::function<void()>& compute) {
  const auto swap = [&] {
    std::swap(values_, next_.values);
    std::swap(places_, next_.places);
    std::swap(zeros_, next_.zeros);
    std::swap(accumulators_, next_.accumulators);
    std::swap(sums_apart_, next_.sums_apart);
    std::swap(axis_index_, next_.axis_index);
  };
  const int lanes = lanes_;
  next_.axis_index = axis_index_;
  next_.axis_index[static_cast<std::size_t>(pipelined_)] = next_turn_;
  std::vector<std::size_t> first, second;  // the axes of these stages, which are alike
  for (std::size_t i = 0; i < k_.axes().size(); i++)
    if (const int stage = k_.axes()[i].stage; stage == 0 || stage == 1) (stage == 0 ? first : second).push_back(i);
  for (std::size_t i = 0; i < first.size(); i++) next_.axis_index[first[i]] = std::exchange(next_.axis_index[second[i]], 0);
  swap();
  stage_ = 0;
  lanes_ = k_.lanes();
  is_next_turn_ = true;
  compute();
  is_next_turn_ = false;
  lanes_ = lanes;
  stage_ = 1;
  swap();
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
  const UOp* next = sum(now, k_.runs_backwards() ? Op::Sub : Op::Add);
  const std::string name = free_name(axis_names_[i] + "_next");
  index_.declare(
      name,
      b_.add(UOp{.uop = UOpKind::Alu, .dtype = now->dtype, .src = {has_next, next, now}, .op = Op::Where, .exact = true, .hint = name}));
  next_turn_ = symbols_->variable(name, 0, k_.axes()[i].size - 1);
}

void Linearizer::compute_turns() {
  begin_turns();
  const std::map<std::pair<int, std::int64_t>, const UOp*> carried = accumulators_;
  open_pipelined();
  const std::size_t outside = open_.size();
  for (stage_ = 1; stage_ < k_.reduce_stages(); stage_++) reduce();
  store_outputs();
  while (open_.size() > outside) close(open_.back());
  for (const auto& [sum, acc] : carried)
    b_.add(UOp{.uop = UOpKind::Phi, .dtype = acc->dtype, .lanes = acc->lanes, .src = {acc, next_.accumulators.at(sum)}});
}

}  // namespace etch
