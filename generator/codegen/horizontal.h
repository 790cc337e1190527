// Horizontal fusion: two kernels that need nothing of each other as one, the loops of which run together. Of two sums of products that
// follow each other in a loop one may wait for its weights while the other one multiplies: side by side each takes what the other leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/argument.h"
#include "codegen/kernel.h"
#include "ir/uop.h"

namespace etch {

/// How many vectors of outputs a tile has, in each of two products that are cut into the same number of tiles.
struct TilesTogether {
  std::int64_t of_row = 0, of_rows = 0;
};
/// Such tiles for a product of one row that gives `outputs`, and one of `rows` rows that gives `others` for each, so that the sums of both
/// fit the registers; nullopt if there are none.
std::optional<TilesTogether> tiles_together(std::int64_t outputs, std::int64_t rows, std::int64_t others, const CodegenOptions& options);
/// Whether the loops of two sums of that length have as many turns, once the longer one is unrolled.
bool run_together(std::int64_t a, std::int64_t b);
/// Takes such tiles, and turns, for two products with weights. False, and both kernels unchanged, if there are no such tiles.
bool tile_together(Kernel& one_row, Kernel& rows, const std::vector<KernelArgument>& arguments);

/// The UOps of two kernels as those of one, of which the second begins when the first is done. Their buffers have different numbers.
UOpList one_after_the_other(const UOpList& first, const UOpList& second);
/// The same, but where both have one loop around another, the outer ones of as many turns, they become one loop around one, and what is
/// left of the longer inner loop follows that. Neither kernel writes what the other reads or writes.
UOpList fuse_loops(const UOpList& first, const UOpList& second);

}  // namespace etch
