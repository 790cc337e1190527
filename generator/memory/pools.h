// Several arenas of limited size, of which the first ones are faster: which blocks lie in which. As much as possible of what kernels read
// and write is to be in the first one; of what is left, as much as possible in the second, and so on. A branch and bound finds the best
// choice where there are few blocks; else a good one is improved by moving and exchanging blocks, or left where there are hundreds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/pack.h"

namespace etch {

struct PoolBlock {
  Block block;
  std::int64_t traffic = 0;    // bytes that are read and written in a run
  std::vector<char> may = {};  // by pool: whether it may lie there
};

struct PoolChoice {
  std::vector<int> pool;  // of each block
  bool is_best = false;   // proved
  std::vector<std::int64_t> offsets =
      {};  // of each block in its pool, where there are so many that packing anew may find no room; else empty
};

/// nullopt if no way was found to place all blocks; then *proved says whether there is none. Blocks in different pools need no distance.
std::optional<PoolChoice> choose_pools(const std::vector<PoolBlock>& blocks, const std::vector<Closeness>& close,
                                       const std::vector<std::int64_t>& limits, bool* proved = nullptr);

/// Those of `blocks` for which `chosen` holds, with what is known about pairs of them.
struct PartOfBlocks {
  std::vector<Block> blocks;
  std::vector<Closeness> close;
  std::vector<int> numbers;  // in all blocks
};
PartOfBlocks part_of(const std::vector<PoolBlock>& blocks, const std::vector<Closeness>& close, const std::vector<char>& chosen);

}  // namespace etch
