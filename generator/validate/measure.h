// What the target's own compiler and linker say of an emitted project: code, library functions, stack. Nothing is run.
#pragma once

#include "driver/compile.h"
#include "target/target.h"

namespace etch {

/// Measures by building with `target`'s compiler and flags: flash is what the image grows by from an empty main() to one that
/// calls the run function. Where the compiler is absent or refuses, the measurement says so; it throws nothing.
Measure measure_with_compiler(const Target& target);

}  // namespace etch
