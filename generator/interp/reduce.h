// Internal to interp/: the value of one reduction of a kernel.
#pragma once

#include "interp/block.h"

namespace etch::interp {

/// Evaluates `op` (a reduction); reductions below it are in inputs.reduced.
Reduced reduce(const LazyOp* op, const Inputs& inputs);

/// The same, as matrix products of blocks, for a Contraction whose casts do not change the sum. False, and `out` unchanged, if `op`
/// is not such a Contraction or is too small for this to be faster.
bool contract(const LazyOp* op, const Inputs& inputs, Reduced& out);

}  // namespace etch::interp
