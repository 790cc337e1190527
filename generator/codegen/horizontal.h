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

/// Vectors in a tile of each of two products, of which there are as many tiles.
struct TilesTogether {
  std::int64_t of_row = 0, of_rows = 0;  // along the outputs
};
/// Such tiles for a product of one row that gives `outputs`, and one of `rows` rows that gives `others` for each, so that the sums of both
/// fit the registers; nullopt if there are none.
std::optional<TilesTogether> tiles_together(std::int64_t outputs, std::int64_t rows, std::int64_t others, const CodegenOptions& options);
/// Takes them for two products with weights. False, and both kernels unchanged, if there are none.
bool tile_together(Kernel& one_row, Kernel& rows, const std::vector<KernelArgument>& arguments);

/// The UOps of two kernels as those of one: where both have one loop around another, the outer ones of as many turns, they become one loop
/// around one, and what is left of the longer inner loop follows that; else the second kernel follows the first. Their buffers have
/// different numbers, and the first writes nothing that the second reads or writes.
UOpList fuse_loops(const UOpList& first, const UOpList& second);

}  // namespace etch
