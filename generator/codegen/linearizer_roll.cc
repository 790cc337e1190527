// Linearizer: windows that roll over rows (ROLL). A turn of the loop reads the rows that its window has and those before it had not, and
// adds each to all windows that it is in: to that of this turn, which ends with it and is stored, and to those of the next turns, which are
// carried over. So each row is read once, and a window of some rows is as little work at the first and the last row as between.
//
//   before:  sum = in[y - 1] * w[0] + in[y] * w[1] + in[y + 1] * w[2]; out[y] = sum;
//   after:   sum_y0 += in[y + 1] * w[2]; sum_y1 += in[y + 1] * w[1]; sum_y2 = in[y + 1] * w[0];
//            out[y] = sum_y0; sum_y0 = sum_y1; sum_y1 = sum_y2;
//
// In front of the loop stand the rows that the first window shares with others, and the turns in which some rows are outside; behind it the
// last turns, in which no window begins any more, and these too.
#include <algorithm>

#include "codegen/linearizer_state.h"
#include "shape/int_math.h"

namespace etch {

// Of the window of this turn, if `ahead` is 0, or of a later one.
void Linearizer::define_rolling(Sint turn, std::size_t ahead) {
  const auto axis = static_cast<std::size_t>(rolled_->axis);
  rolling_.resize(std::max(rolling_.size(), ahead + 1));
  axis_index_[axis] = turn + static_cast<std::int64_t>(ahead);
  std::swap(accumulators_, rolling_[ahead]);
  ahead_name_ = "_" + k_.dims()[static_cast<std::size_t>(k_.root_dim(rolled_->axis))].letters + std::to_string(ahead);
  define_accumulators(Sums::Own);
  ahead_name_.clear();
  std::swap(accumulators_, rolling_[ahead]);
  forget_values();
}

void Linearizer::forget_values() {
  values_.clear();
  places_.clear();
  zeros_.clear();
}

// The row that is element `row` of the window of this turn, to all windows that are begun. Each has it as an element of its own.
void Linearizer::add_row_to_windows(Sint turn, std::int64_t row) {
  const auto axis = static_cast<std::size_t>(rolled_->axis), window = static_cast<std::size_t>(rolled_->window);
  const auto add_to = [&](std::size_t ahead, Done& done) {
    const std::int64_t element = row - rolled_->step * static_cast<std::int64_t>(ahead);
    if (element < 0 || element >= k_.axes()[window].size.as_int()) return;
    axis_index_[axis] = turn + static_cast<std::int64_t>(ahead);
    axis_index_[window] = element;
    std::swap(accumulators_, rolling_[ahead]);
    add_copy(k_.reduces_of(0), done);
    std::swap(accumulators_, rolling_[ahead]);
  };
  std::vector<int> others = axes_of(AxisKind::Unroll);
  std::erase(others, rolled_->window);
  for_each(others, [&] {
    std::vector<Done> done(rolling_.size());
    for_each(axes_of(AxisKind::Upcast), [&] {
      for (std::size_t ahead = 0; ahead < rolling_.size(); ahead++) add_to(ahead, done[ahead]);
    });
  });
  forget_values();
}

// Begins the window that the last of this turn's rows is the first that has, ends that of this turn and stores its results.
void Linearizer::roll_turn(Sint turn) {
  const auto axis = static_cast<std::size_t>(rolled_->axis);
  const std::int64_t steps = k_.axes()[static_cast<std::size_t>(rolled_->window)].size.as_int();
  const auto ahead = static_cast<std::size_t>(ceil_div(steps - rolled_->step, rolled_->step));
  if ((turn + static_cast<std::int64_t>(ahead)).max() < k_.axes()[axis].size.as_int()) define_rolling(turn, ahead);
  for (std::int64_t row = steps - rolled_->step; row < steps; row++) add_row_to_windows(turn, row);
  accumulators_ = rolling_.front();
  rolling_.erase(rolling_.begin());
  axis_index_[axis] = turn;
  finish_sums();
  store_outputs();
  forget_values();
}

// Whether a row that this turn reads is outside of its buffer. Lanes and copies along rows do not count: those in the middle are asked.
bool Linearizer::has_row_outside(std::int64_t turn) {
  const auto axis = static_cast<std::size_t>(rolled_->axis), window = static_cast<std::size_t>(rolled_->window);
  const std::vector<Sint> now = axis_index_;
  const std::int64_t steps = k_.axes()[window].size.as_int();
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (k_.axes()[i].kind != AxisKind::Global) axis_index_[i] = k_.axes()[i].size.as_int() / 2;
  axis_index_[axis] = turn;
  bool is_outside = false;
  for (std::int64_t row = steps - rolled_->step; row < steps; row++) {
    axis_index_[window] = row;
    for (const KernelBuf& buf : k_.bufs()) is_outside = is_outside || (!is_indexed(buf.op) && place_of(buf).valid.is_int(0));
  }
  axis_index_ = now;
  return is_outside;
}

// All turns of the loop but those at its ends that are better apart: in the last ones no window begins, and a window has few rows outside.
Linearizer::Span Linearizer::turns_inside() {
  const std::int64_t steps = k_.axes()[static_cast<std::size_t>(rolled_->window)].size.as_int();
  const std::int64_t most = steps + 1;  // no window has more rows outside
  const std::int64_t ahead = ceil_div(steps - rolled_->step, rolled_->step);
  const Span all{0, whole(rolled_->axis).second - ahead};
  Span inside = all;
  const std::int64_t middle = (all.first + all.second) / 2;
  if (middle < 0 || has_row_outside(middle)) return all;
  while (inside.first < std::min(middle, all.first + most) && has_row_outside(inside.first)) inside.first++;
  while (inside.second > std::max(middle, all.second - most) && has_row_outside(inside.second)) inside.second--;
  return inside;
}

void Linearizer::roll_through(const Span& turns) {
  std::vector<Accumulators> carried = rolling_;
  const std::size_t outside = open_.size();
  open_axis(rolled_->axis, index_.integer(turns.first), index_.integer(turns.second + 1));
  const auto axis = static_cast<std::size_t>(rolled_->axis);
  const Sint turn = symbols_->variable(axis_names_[axis], turns.first, turns.second);
  roll_turn(turn);
  for (std::size_t ahead = 0; ahead < carried.size(); ahead++)
    for (auto& [sum, newest] : carried[ahead]) carry(newest, rolling_[ahead].at(sum));
  while (open_.size() > outside) close(open_.back());
  rolling_ = std::move(carried);
}

void Linearizer::compute_rolling() {
  const std::int64_t steps = k_.axes()[static_cast<std::size_t>(rolled_->window)].size.as_int();
  const Span all = whole(rolled_->axis);
  Span inside = turns_inside();
  if (inside.second <= inside.first) inside = {all.second + 1, all.second};  // no loop
  rolling_.clear();
  accumulators_.clear();
  for (std::int64_t ahead = 0; ahead * rolled_->step < steps - rolled_->step; ahead++) define_rolling(0, static_cast<std::size_t>(ahead));
  for (std::int64_t row = 0; row < steps - rolled_->step; row++) add_row_to_windows(0, row);
  for (std::int64_t turn = 0; turn < inside.first; turn++) roll_turn(turn);
  if (inside.first < inside.second) roll_through(inside);
  for (std::int64_t turn = inside.second + 1; turn <= all.second; turn++) roll_turn(turn);
}

}  // namespace etch
