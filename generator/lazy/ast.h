// From LazyBuffers to the AST of one kernel: the operations down to the buffers that are in memory, with every view moved into the
// leaves.
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

/// The kernel that computes `out` (a base, or a view: then it copies what the view shows) from bases for which `in_memory` holds
/// (Input and Data always do). There may be one reduction between memory and `out`, and the views between it and `out` then show all its
/// elements in order. Or there are several over the same axes, and all that depends on them has the shape before or after reducing and is
/// seen whole or expanded over these axes. The scheduler guarantees this, and it is checked here. If a view pads the result of an
/// operation that does not give 0 for zeros (exp), a Where around it makes the padding 0.
Ast build_ast(LazyGraph& graph, const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory);

}  // namespace etch
