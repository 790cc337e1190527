// From LazyBuffers to the AST of one kernel: operations down to the buffers that are in memory, with every view pushed
// down to the leaves.
#pragma once

#include <functional>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// The AST of one kernel and the buffers that it reads: inputs[i] is MemBuffer i + 1.
struct Ast {
  const LazyOp* store = nullptr;
  std::vector<const LazyBuffer*> inputs;
};

/// Computes `out` (a base, or a view: then the kernel copies what the view shows) from bases for which `in_memory` holds
/// (Input and Data are always). At most one reduction may be below `out` before memory is reached, and what lies between
/// it and `out` must show all its elements in order; both are the scheduler's business and checked here.
/// Where a view pads the result of an operation that does not give 0 for zeros (exp), a Where around it makes the padding 0.
Ast build_ast(LazyGraph& graph, const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory);

}  // namespace etch
