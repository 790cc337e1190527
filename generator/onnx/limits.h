// How large a tensor may be before we say that the file must be wrong, instead of running out of memory on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shape/symbolic.h"

namespace etch {

class NodeContext;

/// The most elements of one tensor: 2^36, far beyond what fits any target.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 36;

/// UserError at `where` if a dimension is negative or the product exceeds kMaxElements.
void require_sane_shape(const std::vector<std::int64_t>& shape, const std::string& where);
/// The same for sizes that may be Variables (the largest value counts).
void require_sane_shape(const std::vector<Sint>& shape, const std::string& where);

/// The same for a shape that a node would make.
void require_sane_shape(const std::vector<Sint>& shape, const NodeContext& node);

}  // namespace etch
