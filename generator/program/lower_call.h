// Properties of one call that follow from its AST.
#pragma once

#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// For each buffer of the kernel: whether the output may be written over it. True if every Load of it reads, for each output element,
/// exactly the position that is then written.
std::vector<bool> may_alias(const LazyOp* store, std::size_t buffers);

/// Number of bytes that the kernel reads or writes, each counted once: of a buffer that it reads in part only that part. `elements`:
/// the size of each buffer.
Sint bytes_moved(const LazyOp* store, const std::vector<Sint>& elements);

}  // namespace etch
