// Linearizer: workers that share a kernel. One of its outer loops is cut into as many parts as there are workers, which write different
// elements; all other loops are whole for each.
//
//   y_first = worker * 56 / workers, y_end = (worker + 1) * 56 / workers
//   for (y = y_first; y < y_end; y++)
//     for (x = 0; x < 56; x++) ...
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "codegen/linearizer_state.h"

namespace etch {
namespace {

// The turns of a loop that can be handed out: the last of tiles that overlap writes again what the one before it writes, so that one
// worker does both.
Sint turns_apart(const Axis& a) { return a.overlap > 0 ? a.size - 1 : a.size; }

// By what factor the worker with most turns has more than its part. A size that is not fixed may be as small as its least.
double excess(const Axis& a, int workers) {
  const std::int64_t turns = std::max<std::int64_t>(turns_apart(a).min(), 1);
  return static_cast<double>((turns + workers - 1) / workers * workers) / static_cast<double>(turns);
}

}  // namespace

// Whether different turns of the loop write different elements of all outputs. Of tiles that overlap the last is known where loops run
// forwards alone.
bool Linearizer::can_be_shared(int axis) const {
  if (k_.runs_backwards() && k_.axes()[static_cast<std::size_t>(axis)].overlap > 0) return false;
  if (rolled_ && axis == rolled_->axis) return false;  // a turn goes on from the one before
  const auto dim = static_cast<std::size_t>(k_.root_dim(axis));
  return std::ranges::all_of(k_.stores(), [&](const KernelBuf& store) {
    const std::optional<Sint>& stride = store.strides[dim];
    return stride.has_value() && stride->min() > 0;
  });
}

// Bytes of the buffers that each worker reads whole, as the loop does not run over them. What one worker writes, or has read, is far from
// the others.
double Linearizer::read_by_all(int axis) const {
  const auto dim = static_cast<std::size_t>(k_.root_dim(axis));
  std::map<int, bool> whole;
  for (const KernelBuf& buf : k_.bufs()) {
    if (buf.op->op != Op::Load) continue;
    const auto found = whole.try_emplace(buf.op->mem().index, true).first;
    found->second = found->second && is_step(buf.strides[dim], 0);
  }
  double bytes = 0;
  for (const auto& [index, is_whole] : whole) {
    const KernelArgument& argument = options_.arguments[static_cast<std::size_t>(index)];
    if (is_whole) bytes += static_cast<double>(argument.elements.max()) * bytes_of(argument.dtype);
  }
  return bytes;
}

// Of the loops that leave all workers about as much to do the one of which they read least in common, and then the outermost; else the one
// that comes closest.
int Linearizer::shared_axis() const {
  constexpr double kSlight = 1.06;
  const Workers& workers = k_.options().workers;
  const Work work = count_work(k_.ast());
  if (std::max(work.flops.max(), product(k_.ast()->src[0]->shape).max()) < workers.least_work) return -1;
  std::optional<std::tuple<double, double, int>> best;
  for (int axis : axes_of(AxisKind::Global)) {
    const Axis& a = k_.axes()[static_cast<std::size_t>(axis)];
    if (turns_apart(a).max() <= 1 || !can_be_shared(axis)) continue;
    const std::tuple own{std::max(excess(a, workers.most), kSlight), read_by_all(axis), axis};
    if (!best || own < *best) best = own;
  }
  return best ? std::get<int>(*best) : -1;
}

void Linearizer::share_among_workers() {
  const Workers& workers = k_.options().workers;
  if (!workers.are_several() || options_.grid) return;
  shared_ = shared_axis();
  if (shared_ < 0) return;
  for (const std::string& name : {workers.index, workers.count}) {
    index_.declare(name, b_.add(UOp{.uop = UOpKind::DefineVar, .dtype = DType::Int32, .name = name}));
    result_.variables.push_back(name);
  }
  result_.shared = axis_names_[static_cast<std::size_t>(shared_)];
  const Axis& a = k_.axes()[static_cast<std::size_t>(shared_)];
  const Sint index = symbols_->variable(workers.index, 0, workers.most - 1), count = symbols_->variable(workers.count, 1, workers.most);
  const Sint turns = turns_apart(a);
  const auto part = [&](Sint behind, const char* what) {
    const UOp* all = index_.integer(behind * turns);
    const UOp* parts = b_.cast(index_.integer(count), all->dtype);
    return b_.add(
        UOp{.uop = UOpKind::Alu, .dtype = all->dtype, .src = {all, parts}, .op = Op::Div, .exact = true, .hint = result_.shared + what});
  };
  const auto end = [&] { return floordiv((index + 1) * turns, count) + floordiv(index + 1, count); };  // the last one has the last tile
  own_turns_ = {part(index, "_first"), a.overlap > 0 ? index_.integer(end()) : part(index + 1, "_end")};
}

// Those of the turns that are this worker's.
Linearizer::Turns Linearizer::of_this_worker(int axis, Turns turns) {
  if (axis != shared_) return turns;
  const auto first_or = [&](const UOp* a, const UOp* b, const UOp* if_less, const UOp* otherwise) {
    const UOp* is_less = b_.alu(Op::CmpLt, DType::Bool, {a, b}, true);
    return b_.alu(Op::Where, a->dtype, {is_less, if_less, otherwise}, true);
  };
  const auto& [begin, end] = own_turns_;
  return {first_or(turns.first, begin, begin, turns.first), first_or(turns.second, end, turns.second, end)};
}

}  // namespace etch
