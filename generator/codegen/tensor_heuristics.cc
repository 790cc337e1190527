// Which instruction to place, and what to upcast around it.
#include <algorithm>
#include <utility>

#include "codegen/kernel.h"

namespace etch {
namespace {

constexpr std::int64_t kSteps = 2;                         // of a loop over products, in one turn
constexpr std::int64_t kWordSums = 8, kLeastWordSums = 4;  // that share the bytes that whole words of weights are multiplied with
constexpr std::int64_t kTiles = 2;                         // of a matrix product along each of its axes, of a dot product along its lanes

// Whether the bytes that one instruction takes are adjacent, or are the same for all lanes and adjacent for one.
bool is_adjacent(const Kernel& k, const TensorChoice& c, const LazyOp* load, const TargetInstruction& row,
                 const std::vector<KernelArgument>& arguments) {
  const KernelBuf& buf = k.buf_of(load);
  const auto along_lanes = k.stride(buf, c.n), along_macs = k.stride(buf, c.k);
  if (!along_lanes || !along_macs) return false;
  if (c.tail > 0 && k.options().integer_vectors) return false;  // lanes along another axis add without one
  const bool in_memory_order = row.parts_evens() && load == c.a;
  if (c.tail == 0 && can_be_laid_out(k, buf, arguments)) return !in_memory_order;
  if (row.lanes == 1) return is_step(along_macs, 1) && (!row.parts_evens() || load == c.a);
  return is_step(along_macs, 1) && (is_step(along_lanes, 0) || is_step(along_lanes, row.macs));
}

bool has_axis_where_it_stays(const Kernel& k, const LazyOp* load) {
  for (int axis = 0; axis < k.count(AxisKind::Global); axis++)
    if (is_step(k.stride(k.buf_of(load), axis), 0) && !k.axes()[static_cast<std::size_t>(axis)].size.is_int(1)) return true;
  return false;
}

// Several words of weights at once pay where so many sums share the bytes that they are multiplied with.
bool has_sums_of_words(const Kernel& k, const LazyOp* shared) {
  for (int axis = 0; axis < k.count(AxisKind::Global); axis++) {
    const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
    if (!size.is_int() || !is_step(k.stride(k.buf_of(shared), axis), 0)) continue;
    for (std::int64_t sums = kLeastWordSums; sums <= kWordSums; sums++)
      if (size.as_int() % sums == 0) return true;
  }
  return false;
}

bool is_good(const Kernel& k, const TensorChoice& c, const TargetInstruction& row, const std::vector<KernelArgument>& arguments) {
  if (row.is_matrix()) return true;
  if (row.words && (!can_be_laid_out(k, k.buf_of(c.b), arguments) || !has_sums_of_words(k, c.a))) return false;
  if (row.words && !row.parts_evens() && has_axis_where_it_stays(k, c.b)) return false;  // its bytes are widened once for all sums
  const auto is_shared = [&](const LazyOp* load) { return is_step(k.stride(k.buf_of(load), c.n), 0); };
  return is_shared(c.a) != is_shared(c.b) && is_adjacent(k, c, c.a, row, arguments) && is_adjacent(k, c, c.b, row, arguments);
}

// The innermost axis outside of the instruction along which `load` stays, so that it is read once for several sums, at least `least`. Where
// tiles may `overlap`, the axis of which the smallest part is computed twice.
bool upcast_where_it_stays(Kernel& k, const LazyOp* load, std::int64_t most, bool overlap = false, std::int64_t least = 2) {
  std::vector<int> axes;
  for (int axis = k.count(AxisKind::Global) - 1; axis >= 0; axis--)
    if (is_step(k.stride(k.buf_of(load), axis), 0)) axes.push_back(axis);
  const auto twice = [&](int axis) {
    const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
    return !size.is_int() ? 1.0 : static_cast<double>((most - size.as_int() % most) % most) / static_cast<double>(size.as_int());
  };
  if (overlap) std::ranges::sort(axes, {}, [&](int axis) { return std::pair(twice(axis), -axis); });
  for (int axis : axes) {
    for (std::int64_t amount = most; amount >= least; amount--)
      if (k.try_apply({OptOp::Upcast, axis, amount}) || (overlap && k.try_apply({OptOp::Overlap, axis, amount}))) return true;
  }
  return false;
}

void unroll_innermost(Kernel& k, std::int64_t most) {
  for (int axis = k.first_upcast() - 1; axis >= k.first_reduce(); axis--)
    for (std::int64_t amount = most; amount > 1; amount--)
      if (k.try_apply({OptOp::Unroll, axis - k.first_reduce(), amount})) return;
}

// Copies of the loop over products, up to `most`: of the innermost axis and, where that leaves no loop, of the one around it. A loop
// remains: without one the constants would be read ahead of the loops around it, and kept on the stack.
void unroll_loops(Kernel& k, std::int64_t most) {
  for (int axis = k.first_upcast() - 1; axis >= k.first_reduce(); axis--) {
    const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
    if (!size.is_int()) return;
    const bool is_last = axis == k.first_reduce();
    std::int64_t amount = std::min(most, size.as_int() / (is_last ? 2 : 1));
    while (amount > 1 && size.as_int() % amount != 0) amount--;
    const bool is_whole = size.as_int() == amount;
    if (amount < 2 || !k.try_apply({OptOp::Unroll, axis - k.first_reduce(), amount}) || !is_whole) return;
    most /= amount;
  }
}

// The operand that all lanes share is small: the other one is shared by more sums. A loop counts once for two steps.
void upcast_rows(Kernel& k) {
  const int lane = static_cast<int>(k.axes().size()) - 1;
  const auto is_shared = [&](const LazyOp* load) { return is_step(k.stride(k.buf_of(load), lane), 0); };
  const bool a_is_wide = !is_shared(k.tensor()->a);
  const std::int64_t rows = std::max<std::int64_t>(k.options().float_registers / (2 * kTiles), 2);  // half of the registers hold sums
  const LazyOp* wide = a_is_wide ? k.tensor()->a : k.tensor()->b;
  // Tiles that overlap are better than ones of half the sums.
  if (!upcast_where_it_stays(k, wide, rows, false, rows / 2 + 1)) upcast_where_it_stays(k, wide, rows, true);
  upcast_where_it_stays(k, a_is_wide ? k.tensor()->b : k.tensor()->a, kTiles);
  if (!k.options().small_code) unroll_innermost(k, kSteps);
}

// The axes on which the constants of a kernel stay go around the one along which they move, so that what they are multiplied with is
// loaded once for all of them.
void keep_operand(Kernel& k, const LazyOp* constants) {
  int moved = 0;
  for (int axis = k.count(AxisKind::Global) - 1; axis >= moved; axis--) {
    if (!is_step(k.stride(k.buf_of(constants), axis), 0)) continue;
    if (!k.try_apply({OptOp::Outermost, axis})) break;
    moved++;
    axis++;
  }
}

// Sums of one lane that become lanes of a vector. An operand of a few instructions stays in registers while the other one passes by; else
// it serves as many sums as there are core registers for.
bool upcast_lanes(Kernel& k) {
  constexpr std::int64_t kSumRows = 2, kInRegisters = 4;
  const std::int64_t lanes = k.options().vector_bits / 32;
  for (const auto& [shared, other] : {std::pair(k.tensor()->a, k.tensor()->b), std::pair(k.tensor()->b, k.tensor()->a)})
    for (int axis = k.count(AxisKind::Global) - 1; axis >= 0; axis--) {
      const bool fits = is_step(k.stride(k.buf_of(shared), axis), 0) && is_step(k.stride(k.bufs()[0], axis), 1);
      if (!fits || !k.try_apply({OptOp::Vector, axis, lanes})) continue;
      const int sums = k.count(AxisKind::Reduce);
      const Sint blocks = sums == 1 ? k.axes()[static_cast<std::size_t>(k.first_reduce())].size : Sint(0);
      if (blocks.is_int() && blocks.as_int() > 1 && blocks.as_int() <= kInRegisters && k.try_apply({OptOp::Unroll, 0, 0}))
        keep_operand(k, other);
      else
        upcast_where_it_stays(k, other, kSumRows, true);
      return true;
    }
  return false;
}

// Sums that share one operand alone. A short loop is not worth the code of several blocks where code counts.
void upcast_words(Kernel& k) {
  constexpr std::int64_t kMostBlocks = 12, kBlocksOfSmallCode = 4, kTurnsOfSmallCode = 16;
  upcast_where_it_stays(k, k.tensor()->a, k.instruction().parts_evens() ? kWordSums : kLeastWordSums, false, kLeastWordSums);
  if (!k.options().small_code) return unroll_loops(k, kMostBlocks);
  const int innermost = k.first_upcast() - 1;
  const bool is_loop = innermost >= k.first_reduce() && k.axes()[static_cast<std::size_t>(innermost)].size.is_int();
  if (is_loop && k.axes()[static_cast<std::size_t>(innermost)].size.as_int() >= kTurnsOfSmallCode) unroll_innermost(k, kBlocksOfSmallCode);
}

// Sums of one lane: some of those that share one operand times some of those that share the other, as many as there are registers for,
// so that each element that is loaded is used several times.
void upcast_sums(Kernel& k) {
  constexpr std::int64_t kAlongB = 4, kAlongA = 2, kBlocks = 4;
  if (k.sums_are_lanes() && upcast_lanes(k)) return;
  if (k.instruction().words) return upcast_words(k);
  upcast_where_it_stays(k, k.tensor()->a, kAlongB);
  if (!upcast_where_it_stays(k, k.tensor()->b, kAlongA, true)) upcast_where_it_stays(k, k.tensor()->a, kAlongA);  // a vector
  if (k.instruction().steps == 1) return;
  unroll_innermost(k, kBlocks);
}

void upcast_tiles(Kernel& k) {
  std::vector<int> outer;
  for (int axis = 0; axis < k.count(AxisKind::Global); axis++) outer.push_back(axis);
  for (auto axis = outer.rbegin(); axis != outer.rend(); axis++) {
    const auto stays = [&](const LazyOp* load) { return is_step(k.stride(k.buf_of(load), *axis), 0); };
    if (stays(k.tensor()->a) != stays(k.tensor()->b)) k.try_apply({OptOp::Upcast, *axis, kTiles});
  }
}

}  // namespace

bool tensor_optimizations(Kernel& k, const std::vector<KernelArgument>& arguments) {
  for (std::size_t r = 0; r < k.options().instructions.size(); r++) {
    const TargetInstruction& row = k.options().instructions[r];
    const std::vector<TensorChoice> choices = k.tensor_choices(row);
    for (std::size_t c = 0; c < choices.size(); c++) {
      if (!is_good(k, choices[c], row, arguments)) continue;
      if (!k.try_apply({OptOp::Tensor, static_cast<int>(c), static_cast<std::int64_t>(r)})) continue;
      if (row.is_matrix())
        upcast_tiles(k);
      else
        row.lanes == 1 ? upcast_sums(k) : upcast_rows(k);
      if (k.tensor()->padded != nullptr && !k.options().small_code) k.try_apply({OptOp::Interior});
      return true;
    }
  }
  return false;
}

}  // namespace etch
