// Limits of tensor sizes: above them the file is taken to be wrong, instead of running out of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shape/symbolic.h"

namespace etch {

class NodeContext;

/// The most elements of one tensor: 2^31, more than fits any target; products of two such sizes still fit into 64 bits.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

/// The most elements of a value that is never stored, such as all windows of a convolution.
inline constexpr std::int64_t kMaxComputed = std::int64_t{1} << 48;

/// UserError at `where` if a dimension is negative or the product exceeds `most`.
void require_sane_shape(const std::vector<std::int64_t>& shape, const std::string& where, std::int64_t most = kMaxElements);
/// The same for sizes that may be Variables (the largest value counts).
void require_sane_shape(const std::vector<Sint>& shape, const std::string& where, std::int64_t most = kMaxElements);

/// The same for the shape of a result of `node`, where the error is thrown.
void require_sane_shape(const std::vector<Sint>& shape, const NodeContext& node, std::int64_t most = kMaxElements);

}  // namespace etch
