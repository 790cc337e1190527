// Passes over UOps. Each is a function from a list to a list that shares the pool; optimize() runs them all and verifies the list
// after each.
#pragma once

#include "ir/uop.h"

namespace etch {

/// Exact simplification: operations on constants, x*1, x+0 for integers, conditions that are known, equal branches; and
/// common subexpressions. Floats keep their NaNs and signed zeros.
///   before:  CONST 2; CONST 3; MUL -> 6 is used      after:  CONST 6
UOpList fold_constants(const UOpList& uops);
/// Keeps stores, loops and what they need; the order does not change.
///   before:  CONST 1; LOAD a[i]; LOAD b[i]; STORE c[i] = a[i]      after:  LOAD a[i]; STORE c[i] = a[i]
UOpList remove_dead(const UOpList& uops);
/// Moves values out of the loops and ifs that they do not depend on.
///   before:  LOOP i { LOOP j { LOAD a[i]; ... } }      after:  LOOP i { LOAD a[i]; LOOP j { ... } }
UOpList hoist_invariants(const UOpList& uops);
/// A sum of n equal terms is a product.
///   before:  LOOP i < 9 { acc = acc + x }      after:  acc = acc + x * 9
UOpList sum_loops(const UOpList& uops);
/// a * b + c becomes one UOp if the product is used nowhere else. The C text stays the same: whether to contract it to an fma is the
/// compiler's choice.
UOpList fuse_mulacc(const UOpList& uops);
/// Makes the start of a tile one value, so that the text can give it a name. (A loop that counts elements, c += 4, would read
/// better, but compilers make slower code of it.)
///   before:  LOOP c_tile { LOAD b[c_tile * 4]; w_c = c_tile * 256 }      after:  LOOP c_tile { c = c_tile * 4; LOAD b[c]; w_c = c * 64 }
UOpList name_tile_starts(const UOpList& uops);
/// Runs all of them.
UOpList optimize(const UOpList& uops);

/// The value of `op` on constants of one type (for Where: condition first); nullopt if it is not known exactly.
std::optional<Scalar> evaluate(Op op, DType dtype, const std::vector<Scalar>& src);

}  // namespace etch
