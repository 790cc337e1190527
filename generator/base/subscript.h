#pragma once

#include <cstddef>
#include <cstdint>

namespace etch {

/// An axis, position or number as the subscript of a standard container; it is never negative.
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace etch
