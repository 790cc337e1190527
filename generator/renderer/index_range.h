// Whether loops and indices of a kernel fit an integer type.
#pragma once

#include <cstdint>

#include "ir/uop.h"

namespace etch {

/// Whether every loop counter and every exact 32-bit integer of the kernel, each step of its computation included, is known to lie
/// within min..max. Sizes that are only known at run time, and values of memory wider than that, are not.
bool indices_fit(const UOpList& uops, std::int64_t min, std::int64_t max);

}  // namespace etch
