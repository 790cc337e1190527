// Linearizer: the loops of a Kernel and the arithmetic in them as UOps, not yet optimised. Every index is proved inside its
// buffer on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "ir/uop.h"

namespace etch {

struct LinearizeOptions {
  std::vector<Sint> buffer_elements;  // of each argument
  /// Global and local axes are the dimensions of a grid (OpenCL), not loops.
  bool grid = false;
  /// For each argument: strides per axis of a new layout, if it has one.
  std::vector<std::optional<std::vector<std::int64_t>>> layouts;
  /// For each argument whether no element is larger than kBounded in magnitude, nor NaN. Missing ones are not known.
  std::vector<bool> bounded;
};

struct Linearized {
  UOpList uops;
  std::vector<Sint> global_size, local_size;  // of a grid, innermost first, in work-groups and work-items
  std::vector<std::string> variables;         // in the order of the arguments
  std::int64_t indices_proved = 0;
};

/// Throws InternalError if an index can't be proved inside its buffer.
Linearized linearize(const Kernel& kernel, const LinearizeOptions& options);

}  // namespace etch
