// For tests: random legal chains of OptOps.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "codegen/kernel.h"

namespace etch::test {

/// Up to six steps that the kernel of `ast` takes one after the other; at most `copies` copies of the arithmetic are made. `groups_first`:
/// the first one is GROUP or GROUPTOP, if one is found that is legal.
inline std::vector<Opt> random_opt_chain(const LazyOp* ast, std::mt19937& rng, const CodegenOptions& options, std::int64_t copies = 48,
                                         bool groups_first = false) {
  static constexpr OptOp kOps[] = {OptOp::Upcast,   OptOp::Unroll,        OptOp::PadTo,     OptOp::Local,     OptOp::Group,
                                   OptOp::GroupTop, OptOp::LastLocal,     OptOp::UpcastMid, OptOp::NoLocals,  OptOp::Vector,
                                   OptOp::Overlap,  OptOp::Outermost,     OptOp::Block,     OptOp::Backwards, OptOp::Prefetch,
                                   OptOp::Interior, OptOp::PrefetchWrite, OptOp::Pipeline};
  static constexpr std::int64_t kAmounts[] = {0, 2, 3, 4, 5, 6, 7, 8, 16, 32};
  Kernel kernel(ast, options);
  const auto pick = [&](auto& from) { return from[std::uniform_int_distribution<std::size_t>(0, std::size(from) - 1)(rng)]; };
  const auto steps = std::uniform_int_distribution<std::size_t>(1, 6)(rng);
  for (int tries = 0; groups_first && tries < 60 && kernel.applied().empty(); tries++)
    kernel.try_apply({tries % 2 == 0 ? OptOp::Group : OptOp::GroupTop, std::uniform_int_distribution<int>(0, 1)(rng), pick(kAmounts)});
  for (int tries = 0; tries < 60 && kernel.applied().size() < steps; tries++) {
    // Tiles overlap, and borders are apart, in loops alone, and these alone have an order.
    const std::span<const OptOp> ops(kOps, std::size(kOps) - (options.has_local ? 8 : 0));
    Opt opt{pick(ops), std::uniform_int_distribution<int>(0, 3)(rng), pick(kAmounts)};
    if (opt.op == OptOp::Vector) opt.amount = options.vector_bits / 32;
    if (opt.op == OptOp::Outermost || opt.op == OptOp::Prefetch) opt.amount = 0;
    constexpr std::array kWithoutAxis{OptOp::NoLocals, OptOp::Backwards, OptOp::Interior, OptOp::PrefetchWrite, OptOp::Pipeline};
    if (std::ranges::find(kWithoutAxis, opt.op) != kWithoutAxis.end()) opt = {opt.op};
    Kernel next = kernel;
    if (!next.try_apply(opt)) continue;
    std::int64_t n = 1;
    for (int i = next.first_upcast(); i < static_cast<int>(next.axes().size()); i++)
      n *= next.axes()[static_cast<std::size_t>(i)].size.as_int();
    if (n <= copies * (next.lanes() > 1 ? next.lanes() : 1)) kernel = next;
  }
  return kernel.applied();
}

}  // namespace etch::test
