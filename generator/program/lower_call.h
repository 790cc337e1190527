// Properties of one call that follow from its AST.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// For each buffer of the kernel the outputs that may be written over it, bit k for output k: every Load of the buffer reads, for each
/// element of that output, exactly the position that is then written.
std::vector<std::uint32_t> may_alias(const LazyOp* root, std::size_t buffers);

/// For each buffer of a kernel with one output the element of that output from which on all of the buffer's elements are copied, in their
/// order; nullopt where something else is done with them. A concatenation along the outermost axis copies each of its inputs so.
/// `elements`: the size of each buffer.
std::vector<std::optional<std::int64_t>> parts_of_output(const LazyOp* root, const std::vector<Sint>& elements);

/// Number of bytes that the kernel reads or writes, each counted once: of a buffer that it reads in part only that part. `elements`:
/// the size of each buffer.
Sint bytes_moved(const LazyOp* root, const std::vector<Sint>& elements);

}  // namespace etch
