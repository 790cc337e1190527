// Measures an emitted project with the target's own compiler and linker: code, library functions, stack. Nothing is run.
#pragma once

#include "driver/compile.h"
#include "target/target.h"

namespace etch {

/// The result builds a project with `target`'s compiler and flags. Flash is the growth of the image from an empty main() to one that
/// calls the run function. If the compiler is absent or fails, the measurement says so; nothing else is thrown. The compiler runs in the
/// background from the request on; the last copy of the BegunMeasurement waits for it, asked or not. What it writes is in the folder of
/// temporary files until it has ended: UserError if that can't be used.
Measure measure_with_compiler(const Target& target);

/// The instructions of each of `kernels`, as objdump of the target's tools lists them, or one line that says why there are none.
std::string instructions_of(const MeasureRequest& request, const std::vector<std::string>& kernels, const Target& target);

}  // namespace etch
