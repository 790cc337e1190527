// ROLL: which kernels may add each row to all windows that it is in, one row after the other (see linearizer_roll.cc).
#include <algorithm>
#include <string>
#include <vector>

#include "base/subscript.h"
#include "codegen/kernel.h"
#include "ir/uop.h"
#include "shape/int_math.h"

namespace etch {
namespace {

// Whether the first window's element `step` further on is the next window's first one, and so for all that both have, wherever the other
// axes are and whatever masks say.
bool has_in_common(const KernelBuf& buf, std::size_t along, std::size_t window, std::int64_t step) {
  Symbols symbols;
  std::vector<Sint> idx;
  const std::vector<Sint>& shape = buf.st.shape();
  for (std::size_t d = 0; d < shape.size(); d++) idx.push_back(symbols.variable("d" + std::to_string(d), 0, shape[d] - 1));
  idx[along] = symbols.variable("turn", 0, shape[along] - 2);
  const Sint turn = idx[along];
  const auto at = [&](Sint of, std::int64_t element) {
    idx[along] = of;
    idx[window] = element;
    return buf.st.expr_idxs(idx);
  };
  for (std::int64_t element = step; element < shape[window].as_int(); element++) {
    const ShapeTracker::Index first = at(turn, element), next = at(turn + 1, element - step);
    if (!(first.idx == next.idx) || !(first.valid == next.valid)) return false;
  }
  return true;
}

}  // namespace

// How many rows the window goes on by in each turn; 0 if what it reads is not alike.
std::int64_t Kernel::step_of_windows(int axis, int window) const {
  const auto along = at(axes_[at(axis)].dim), of_window = at(axes_[at(window)].dim);
  std::vector<const KernelBuf*> moving = reduced_bufs(*this);
  std::erase_if(moving, [&](const KernelBuf* buf) { return is_step(buf->strides[along], 0) && !buf->masked[along]; });
  const bool are_known = std::ranges::all_of(moving, [](const KernelBuf* buf) {
    return !is_indexed(buf->op) && std::ranges::all_of(buf->st.shape(), [](const Sint& s) { return s.is_int(); });
  });
  if (moving.empty() || !are_known) return 0;
  for (std::int64_t step = 1; step < axes_[at(window)].size.as_int(); step++)
    if (std::ranges::all_of(moving, [&](const KernelBuf* buf) { return has_in_common(*buf, along, of_window, step); })) return step;
  return 0;
}

std::optional<std::string> Kernel::why_not_rolling(Rolled& roll) const {
  if (reduces_.empty() || is_staged() || tensor_) return "it has one stage of sums, which no matrix instruction makes";
  if (has_interior_ || backwards_ || zigzags_ || prefetched_ || prefetches_stores_ || options_->overlap)
    return "the loops run forwards, in one nest, ask for nothing ahead, and outputs do not lie over parts of inputs";
  if (count(AxisKind::Reduce) > 0) return "all axes of the window are unrolled";
  if (lanes() > 1 && (reduces_lanes() || !is_adjacent(static_cast<int>(axes_.size()) - 1))) return "lanes are stored side by side";
  // A whole dimension; what PADTO made of one has masks of its own.
  const auto is_whole = [&](const Axis& a) {
    return a.dim < ast_dims_ && a.size.is_int() && a.overlap == 0 && dims_[at(a.dim)].valid == a.size &&
           std::ranges::count_if(axes_, [&](const Axis& other) { return root_dim(static_cast<int>(&other - axes_.data())) == a.dim; }) == 1;
  };
  roll.axis = count(AxisKind::Global) - 1;
  if (roll.axis >= 0 && is_whole(axes_[at(roll.axis)]))
    for (roll.window = 0; roll.window < static_cast<int>(axes_.size()); roll.window++) {
      const Axis& window = axes_[at(roll.window)];
      if (window.kind != AxisKind::Unroll || !is_whole(window) || axes_[at(roll.axis)].size.as_int() < window.size.as_int()) continue;
      roll.step = step_of_windows(roll.axis, roll.window);
      if (roll.step > 0) return std::nullopt;
    }
  return "the innermost loop goes over windows, one after the other, which have rows in common";
}

std::optional<std::string> Kernel::why_no_roll(const Opt& opt) const {
  if (options_->has_local) return "the language runs loops in order: it has no grid";
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  Rolled roll;
  return rolls_ ? std::optional("rows are read once for each window yet") : why_not_rolling(roll);
}

std::optional<Rolled> Kernel::rolled() const {
  Rolled roll;
  return rolls_ && !why_not_rolling(roll) ? std::optional(roll) : std::nullopt;
}

namespace {

// Whether there is another loop of which each worker can have a part.
bool workers_have_turns(const Kernel& k, const Rolled& roll) {
  for (int axis = 0; axis < roll.axis; axis++)
    if (k.axes()[at(axis)].size.min() >= k.options().workers.most) return true;
  return !k.options().workers.are_several();
}

// Whether what is in several windows along an axis is read for one place along all others, not for other channels too.
bool is_of_one_channel(const Kernel& k, const Rolled& roll) {
  return std::ranges::all_of(reduced_bufs(k), [&](const KernelBuf* buf) {
    if (k.view_stride(*buf, roll.axis).is_int(0)) return true;
    for (int axis = 0; axis < static_cast<int>(k.axes().size()); axis++)
      if (!k.reduces_axis(axis) && k.view_stride(*buf, axis).is_int(0)) return false;
    return true;
  });
}

// Whether lanes of rows are loaded as they lie: to pick every second one takes longer than that a sum waits.
bool has_adjacent_lanes(const Kernel& k, const Rolled& roll) {
  const int lanes = static_cast<int>(k.axes().size()) - 1;
  return std::ranges::all_of(reduced_bufs(k), [&](const KernelBuf* buf) {
    return k.view_stride(*buf, roll.axis).is_int(0) || is_step(stride_inside(k, *buf, lanes), 1);
  });
}

// Whether a row is one vector without borders: tiles of several rows are as little work, and multiply them by the same factors.
bool is_plain_row(const Kernel& k, const Rolled& roll) {
  const int lanes = static_cast<int>(k.axes().size()) - 1;
  return std::ranges::any_of(reduced_bufs(k), [&](const KernelBuf* buf) {
    if (k.view_stride(*buf, roll.axis).is_int(0) || k.is_masked(*buf, lanes)) return false;
    for (int axis = 0; axis < lanes; axis++)
      if (k.reduces_axis(axis) && k.view_stride(*buf, axis) == k.view_stride(*buf, lanes)) return true;
    return false;
  });
}

// Vectors of so many lanes along `axis`, all those of a row at once, and some rows side by side along another axis, for windows that roll.
struct RolledRows {
  int axis = 0;
  std::int64_t lanes = 0;
  int other = -1;
  std::int64_t amount = 1;
};

// The kernel, and the time for an element: of the products of a turn, two at once, or of those that one sum waits for. nullopt if windows
// don't roll so, or registers do not hold their sums.
std::optional<std::pair<Kernel, double>> rolled_as(const Kernel& k, const RolledRows& rows) {
  constexpr std::int64_t kMostProducts = 256, kFewProducts = 12;
  constexpr double kAtOnce = 2, kLatency = 4;
  Kernel rolling = k;
  const double elements = static_cast<double>(k.axes()[at(rows.axis)].size.max() * rows.amount);
  if (rows.other >= 0 && !rolling.try_apply({OptOp::Upcast, rows.other, rows.amount})) return std::nullopt;
  const int loops = rolling.count(AxisKind::Global);
  if (!rolling.try_apply({OptOp::Vector, rows.axis, rows.lanes})) return std::nullopt;
  std::int64_t vectors = rows.amount;
  if (rolling.count(AxisKind::Global) == loops) {
    vectors *= rolling.axes()[at(rows.axis)].size.as_int();
    if (!rolling.try_apply({OptOp::Upcast, rows.axis, 0})) return std::nullopt;
  }
  std::int64_t products = vectors;
  while (rolling.count(AxisKind::Reduce) > 0) {
    products = saturating_mul(products, rolling.axes()[at(rolling.first_reduce())].size.max());
    if (products > kMostProducts || !rolling.try_apply({OptOp::Unroll, 0, 0})) return std::nullopt;
  }
  if (!rolling.try_apply({OptOp::Roll})) return std::nullopt;
  const Rolled roll = *rolling.rolled();
  const bool is_one_vector = k.axes()[at(rows.axis)].size.is_int(k.options().vector_bits / 32);
  if ((is_one_vector && is_plain_row(rolling, roll)) || (rows.other >= 0 && !has_adjacent_lanes(rolling, roll))) return std::nullopt;
  const std::int64_t height = rolling.axes()[at(roll.window)].size.as_int(), windows = ceil_div(height, roll.step);
  // A row's elements, and a factor where no instruction takes one from memory, as those of AVX-512 do. Of windows of many products, which
  // other tiles leave in loops, some elements may be loaded again.
  const bool is_long = products / vectors > kFewProducts;
  const std::int64_t beside = is_long ? 2 : vectors + (k.options().vector_bits < 512 ? 1 : 0);
  if (vectors * windows + beside > k.options().float_registers || !is_of_one_channel(rolling, roll) || !workers_have_turns(rolling, roll))
    return std::nullopt;
  const double chain = kLatency * static_cast<double>(products * roll.step) / static_cast<double>(vectors * height);
  return std::pair(std::move(rolling), std::max(static_cast<double>(products) / kAtOnce, chain) / elements);
}

}  // namespace

// Where each element is in the windows of one channel alone (depthwise) it is multiplied a few times: loads are in the way, most of them of
// parts of two lines of a cache. Of rows as a whole, whose borders are constants then, each is loaded once.
bool roll_windows(Kernel& k) {
  constexpr std::int64_t kMostRows = 4;
  if (k.options().small_code) return false;
  std::optional<std::pair<Kernel, double>> best;
  const auto add = [&](const RolledRows& rows) {
    if (auto found = rolled_as(k, rows); found && (!best || found->second < best->second)) best = std::move(found);
  };
  for (int axis = 0; axis < k.first_reduce(); axis++)
    for (std::int64_t lanes = k.options().vector_bits / 32; lanes >= kFewestLanes; lanes /= 2) {
      add({axis, lanes});
      for (int other = k.first_reduce() - 1; other >= 0; other--)  // the first that are near, as rows of the window are
        for (std::int64_t amount = 2; other != axis && amount <= kMostRows; amount++) {
          const Sint& size = k.axes()[at(other)].size;  // a whole axis would leave no loop, and move the others
          if (size.is_int() && size.as_int() > amount) add({axis, lanes, other, amount});
        }
    }
  if (best) k = std::move(best->first);
  return best.has_value();
}

}  // namespace etch
