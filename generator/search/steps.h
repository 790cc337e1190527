// The cost that is known without any run: how many UOps a kernel takes.
#pragma once

#include <optional>
#include <vector>

#include "ir/uop.h"

namespace etch {

/// How often each UOp runs, with what is behind conditions as if they held; nullopt if the bounds of a loop depend on more than constants
/// and the loops around it.
std::optional<std::vector<double>> turns_of(const UOpList& uops);

/// The number of UOps that run, but for constants; of a list whose turns are known, and nullopt as above.
double steps_executed(const UOpList& uops, const std::vector<double>& turns);
std::optional<double> steps_executed(const UOpList& uops);

}  // namespace etch
