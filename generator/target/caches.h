// Sizes of caches that a target's description may leave open.
#pragma once

#include <cstdint>

namespace etch {

/// Bytes of the first cache for data, of a core that has a second one: what is more than that may have to come from there.
inline constexpr std::int64_t kFirstCache = 32 << 10;

}  // namespace etch
