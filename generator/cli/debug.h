// --debug N: what the tool tells about its work, on standard error.
#pragma once

#include <string>

#include "base/progress.h"
#include "device/debug.h"
#include "driver/compile.h"

namespace etch {

/// The level that --debug or ETCH_DEBUG names; anything but 0 to kMostDebug is a UserError.
int debug_level(const std::string& text);
/// For devices: lines are printed where no progress is. `progress` must outlive the result.
DebugOptions debug_options(const std::string& text, Progress& progress);

/// For compile and inspect, which run nothing: the kernels of the program.
void debug_program(const Program& program, const DebugOptions& debug);
/// Lets `options.measure` tell the instructions of the target's compiler, if the level asks for them.
void debug_instructions(CompileOptions& options, const DebugOptions& debug);

}  // namespace etch
