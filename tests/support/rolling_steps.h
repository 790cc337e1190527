// For tests: steps after which windows roll over rows (ROLL).
#pragma once

#include <random>
#include <vector>

#include "codegen/kernel.h"

namespace etch::test {

/// Lanes along some axis if the options have vectors, copies along others, the window unrolled as a whole, and ROLL; empty where that is
/// illegal behind them.
inline std::vector<Opt> rolling_steps(const LazyOp* store, const CodegenOptions& options, std::mt19937& rng) {
  constexpr std::int64_t kMostCopies = 400;  // of the arithmetic
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  Kernel k(store, options);
  if (options.vector_bits > 0 && pick(0, 3) > 0) k.try_apply({OptOp::Vector, k.first_reduce() - 1, options.vector_bits / 32});
  std::int64_t copies = 1;
  while (k.count(AxisKind::Reduce) > 0) {
    copies *= k.axes()[static_cast<std::size_t>(k.first_reduce())].size.as_int();
    if (copies > kMostCopies || !k.try_apply({OptOp::Unroll, 0, 0})) return {};
  }
  const auto innermost = [&]() -> const Axis& { return k.axes()[static_cast<std::size_t>(k.first_reduce() - 1)]; };
  // The axis of columns, in lanes or not, is done as a whole, or its loop goes around the others.
  if (k.first_reduce() > 0 && pick(0, 3) > 0 && copies * innermost().size.as_int() <= kMostCopies)
    k.try_apply({OptOp::Upcast, k.first_reduce() - 1, 0});
  else
    k.try_apply({OptOp::Outermost, k.first_reduce() - 1, 0});
  if (pick(0, 3) == 0) k.try_apply({OptOp::Upcast, 0, 2});
  if (!k.try_apply({OptOp::Roll})) return {};
  // What stands behind it may leave no windows to roll.
  if (pick(0, 7) == 0 && k.count(AxisKind::Global) > 0) k.try_apply({OptOp::Upcast, k.count(AxisKind::Global) - 1, 2});
  if (pick(0, 7) == 0) k.try_apply({OptOp::Interior});
  return k.applied();
}

}  // namespace etch::test
