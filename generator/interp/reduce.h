// Internal to interp/: the value of one reduction of a kernel.
#pragma once

#include "interp/block.h"

namespace etch::interp {

/// Evaluates `op` (a reduction); reductions below it are in inputs.reduced.
Reduced reduce(const LazyOp* op, const Inputs& inputs);

/// The same for a Contraction whose casts do not change the sum, as matrix products of blocks. False: `op` is not one, or too
/// small to gain; `out` is unchanged.
bool contract(const LazyOp* op, const Inputs& inputs, Reduced& out);

}  // namespace etch::interp
