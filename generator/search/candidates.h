// What a search tries next: the lists of OptOps that are one change away from a given one.
#pragma once

#include <vector>

#include "codegen/kernel.h"

namespace etch {

/// `opts`, which are legal, with one step left out, changed, moved or put in: each list is legal and another one, each occurs once, and
/// the order is the same on every machine. For languages in loops.
std::vector<std::vector<Opt>> neighbours(const LazyOp* ast, const CodegenOptions& options, const std::vector<Opt>& opts);

}  // namespace etch
