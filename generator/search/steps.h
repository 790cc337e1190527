// The cost that is known without any run: how many UOps a kernel takes.
#pragma once

#include <optional>

#include "ir/uop.h"

namespace etch {

/// The number of UOps in all turns of the loops, with what is behind conditions; nullopt if the bounds of a loop depend on more than
/// constants and the loops around it.
std::optional<double> steps_executed(const UOpList& uops);

}  // namespace etch
