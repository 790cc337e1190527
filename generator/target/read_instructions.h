// Internal to target/: the elements <dot> and <matrix>.
#pragma once

#include "target/reader.h"
#include "target/target.h"

namespace etch {

/// Appends the instructions of the target `root` to `t`. Throws UserError for one that contradicts itself.
void read_instructions(const Reader& in, const Element& root, Target& t);

}  // namespace etch
