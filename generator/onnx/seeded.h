// Pseudo-random weights that depend on a name alone: the same bits on every machine. A value takes one 32-bit step of a linear
// congruential generator and one float multiplication, so that any language can repeat it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/array.h"

namespace etch {

/// `count` values u in [-1, 1): s0 = fnv1a_32(name), s = s * 1664525 + 1013904223 mod 2^32, u = (s >> 8) / 2^23 - 1 (exact).
std::vector<float> seeded_values(std::string_view name, std::int64_t count);

/// float32 array of offset + u * scale, computed in float32 (offset 0: u * scale).
Array seeded_array(std::string_view name, std::vector<std::int64_t> shape, float scale, float offset = 0);

}  // namespace etch
