// Linearizer: the loops of a Kernel and the arithmetic in them as UOps, not yet optimised. Before the kernel is used,
// prove_indices() must prove its accesses in bounds; a kernel that is only tried needs no proof.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "ir/uop.h"

namespace etch {

/// What a language takes in each dimension of a grid, x first: work-groups, and work-items in one.
struct GridLimits {
  std::array<std::int64_t, 3> groups{INT32_MAX, INT32_MAX, INT32_MAX}, items{1024, 1024, 64};
};

struct LinearizeOptions {
  std::vector<KernelArgument> arguments;
  /// Global and local axes are the dimensions of a grid (OpenCL, CUDA), not loops.
  bool grid = false;
  GridLimits limits;
  /// For each argument its new layout (Layout::strides), if it has one.
  std::vector<std::optional<std::vector<std::int64_t>>> layouts;
};

/// The variable that indices have for a loop; it rises from turn to turn, or falls.
struct LoopVariable {
  std::string name;
  bool falls = false;
};

/// One LOAD or STORE of an argument: where `valid` holds, it accesses elements idx to idx + lanes - 1.
struct MemoryAccess {
  const KernelBuf* buf = nullptr;  // of the Kernel
  Sint idx = 0, valid = 1;
  int lanes = 1;
  bool is_store = false;
  bool is_early = false;        // a load of what is loaded again later, when it counts (PIPELINE)
  std::vector<int> loops = {};  // that it stands in, outermost first: numbers in Linearized::loops
};

struct Linearized {
  UOpList uops;
  std::vector<Sint> global_size, local_size;  // of a grid, innermost first, in work-groups and work-items
  bool driver_groups = false;                 // global_size is in work-items: the driver chooses the work-groups
  std::vector<std::string> variables;         // in the order of the arguments
  std::vector<MemoryAccess> accesses;         // in the order of the UOps
  std::vector<LoopVariable> loops;            // in the order in which they are opened
  std::string shared;                         // the loop that workers share; empty: one of them does it all
  std::shared_ptr<Symbols> own_symbols;       // owner of the loop variables in `accesses` if the AST has no Symbols; else null
};

/// The result refers to `kernel`.
Linearized linearize(const Kernel& kernel, const LinearizeOptions& options);

/// Whether 0 <= idx and idx + lanes <= elements is proved wherever `valid` holds.
bool is_inside_buffer(Sint idx, Sint valid, int lanes, Sint elements);

/// Proves that every access is inside its buffer and returns the number of accesses. Throws InternalError for one that can't be
/// proved (NotProved, which is one, if that is because of open sizes).
std::int64_t prove_indices(const Linearized& linear, const std::vector<KernelArgument>& arguments);

}  // namespace etch
