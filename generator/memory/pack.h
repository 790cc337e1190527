// Packing: places blocks with a size and a lifetime into one range of addresses, so that blocks that live at the same time do not
// overlap. The order in which a first-fit places the blocks decides how good the result is, so several orders are tried, then
// improved by a seeded local search, then by branch and bound. A result of the size of the lower bound ends the search.
#pragma once

#include <cstdint>
#include <vector>

namespace etch {

struct Block {
  std::int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both inclusive
  std::int64_t align = 1;   // of its offset
};

struct Packing {
  std::vector<std::int64_t> offsets;  // in the order of the blocks
  std::int64_t bytes = 0;             // end of the block that ends last
};

/// For each step up to the last one of any block, the sum of the bytes of the blocks that live then.
std::vector<std::int64_t> live_bytes(const std::vector<Block>& blocks);

/// Largest sum of the bytes of the blocks that live at one step; no packing is smaller.
std::int64_t lower_bound_bytes(const std::vector<Block>& blocks);

/// The best packing found. The same blocks give the same packing on every machine.
Packing pack(const std::vector<Block>& blocks);

/// Places the blocks in the order given, each at the lowest address where it fits.
Packing first_fit(const std::vector<Block>& blocks, const std::vector<int>& order);

}  // namespace etch
