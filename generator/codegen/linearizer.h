// Linearizer: the loops of a Kernel and the arithmetic in them as UOps, not yet optimised. What it says of its indices is to be
// proved (prove_indices) before the kernel is used; a kernel that is only tried needs no proof.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "ir/uop.h"

namespace etch {

struct LinearizeOptions {
  std::vector<KernelArgument> arguments;
  /// Global and local axes are the dimensions of a grid (OpenCL), not loops.
  bool grid = false;
  /// For each argument: strides per axis of a new layout, if it has one.
  std::vector<std::optional<std::vector<std::int64_t>>> layouts;
};

/// One LOAD or STORE of an argument: elements idx to idx + lanes - 1, where `valid` holds.
struct MemoryAccess {
  const KernelBuf* buf = nullptr;  // of the Kernel
  Sint idx = 0, valid = 1;
  int lanes = 1;
};

struct Linearized {
  UOpList uops;
  std::vector<Sint> global_size, local_size;  // of a grid, innermost first, in work-groups and work-items
  std::vector<std::string> variables;         // in the order of the arguments
  std::vector<MemoryAccess> accesses;         // in the order of the UOps
  std::shared_ptr<Symbols> own_symbols;       // of the loops in `accesses`, where the AST has no Symbols
};

/// The result refers to `kernel`.
Linearized linearize(const Kernel& kernel, const LinearizeOptions& options);

/// Proves every access inside its buffer and returns how many there are. Throws InternalError for one that can't be proved
/// (NotProved, if that is for open sizes).
std::int64_t prove_indices(const Linearized& linear, const std::vector<KernelArgument>& arguments);

}  // namespace etch
