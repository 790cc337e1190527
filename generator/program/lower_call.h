// Internal to program/: facts of one call that follow from its AST.
#pragma once

#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// For each buffer of the kernel: whether the output may be written over it. True where every Load of it reads, for each
/// element, the very position that is then written.
std::vector<bool> may_alias(const LazyOp* store, std::size_t buffers);

/// Bytes that are read and written at least once; `elements` of each buffer. A buffer of which a kernel reads a part counts
/// with that part.
Sint bytes_moved(const LazyOp* store, const std::vector<Sint>& elements);

}  // namespace etch
