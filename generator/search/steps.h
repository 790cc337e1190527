// The cost that is known without any run: how many UOps a kernel takes.
#pragma once

#include <optional>

#include "ir/uop.h"

namespace etch {

/// The number of UOps in all turns of the loops; nullopt if the bounds of a loop are not constants.
std::optional<double> steps_executed(const UOpList& uops);

}  // namespace etch
