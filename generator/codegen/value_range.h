// Bounds of the integers that an operation of an AST can give.
#pragma once

#include <cstdint>

#include "ir/lazyop.h"

namespace etch {

struct IntRange {
  std::int64_t min = 0, max = 0;
};

/// Sound bounds of `op`, whose type is an integer type or bool; uint64 above int64 counts as the largest int64.
IntRange value_range(const LazyOp* op);

}  // namespace etch
