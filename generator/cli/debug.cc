#include "cli/debug.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "renderer/language.h"
#include "validate/measure.h"

namespace etch {

int debug_level(const std::string& text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '0' + kMostDebug) return text[0] - '0';
  throw UserError("--debug " + text, fmt::format("is no level from 0 to {}", kMostDebug),
                  "1 tells what is loaded, 2 the time of each kernel, 3 ASTs, 4 sources, 5 UOps, 6 instructions; ETCH_DEBUG sets it too");
}

DebugOptions debug_options(const std::string& text, Progress& progress) {
  return {.level = debug_level(text), .sink = [&progress](std::string_view lines) {
            progress.clear();
            std::fwrite(lines.data(), 1, lines.size(), stderr);
          }};
}

void debug_program(const Program& program, const DebugOptions& debug) {
  if (debug.level < kDebugLoads) return;
  for (const ProgramKernel& kernel : program.kernels)
    if (const std::string text = debug_text(kernel, debug.level); !text.empty()) debug.sink(text);
  debug.sink(fmt::format("{}: {} kernels for {} calls, {} loops, {} buffers\n", program.language->name, program.kernels.size(),
                         program.calls.size(), program.loops.size(), program.buffers.size()));
}

void debug_instructions(CompileOptions& options, const DebugOptions& debug) {
  if (debug.level < kDebugInstructions) return;
  if (!options.measure) return debug.sink("-- instructions\nnone are shown: the target's compiler is left out (--no-measure)\n");
  options.measure = [measure = options.measure, target = options.target,
                     sink = debug.sink](const MeasureRequest& request) -> BegunMeasurement {
    return [measuring = measure(request), request, target, sink](const std::vector<std::string>& kernels) {
      sink("-- instructions\n" + instructions_of(request, kernels, target));
      return measuring(kernels);
    };
  };
}

}  // namespace etch
