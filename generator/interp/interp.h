// The reference backend: a kernel's AST evaluated on host arrays. Everything else is compared with it, and constants are
// folded with it.
//
// Floats (all four types) are computed in double, and each operation's result is rounded to its type: + - * / and square roots
// are those of IEEE arithmetic in that type. A reduction accumulates in double and rounds once, at its end; a product that it sums
// is not rounded. Integers are exact in 64 bits and wrap to their type after every operation; an integer is converted to double
// only if that is provably exact.
// Sums of products are matrix products of blocks: a product that is summed is never stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch {

using VarValues = std::map<std::string, std::int64_t>;

/// Evaluates the AST below `store` (an Op::Store). `inputs[i]` is the buffer that a Load with MemBuffer.index == i + 1
/// reads. Every variable of the AST has a value in `vars`. The result has the store's shape.
Array interp_evaluate(const LazyOp* store, const std::vector<const Array*>& inputs, const VarValues& vars = {});

/// Memory that is read: `elements` elements of type `dtype`.
struct InterpInput {
  DType dtype{};
  const std::byte* data = nullptr;
  std::int64_t elements = 0;
};

/// The same into the caller's memory, which holds `out_elements` elements of the store's type, at least as many as the
/// store's shape has. `out` may be one of the inputs only if no element is read after it was written.
void interp_evaluate_into(const LazyOp* store, const std::vector<InterpInput>& inputs, const VarValues& vars, std::byte* out,
                          std::int64_t out_elements);

/// `data` seen through `st`: element j of the result is element st.expr_node(j) of data, or 0 where it is masked. The result has
/// st's shape; the shape of `data` does not matter, only its elements.
Array relayout(const Array& data, const ShapeTracker& st, const VarValues& vars = {});

}  // namespace etch
