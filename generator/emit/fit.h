// Whether a project fits: how much of its target's RAM and flash it takes, in bytes and percent. Arena, inputs, outputs and weights
// are known exactly without a compiler; code and stack are known only if the target's compiler is installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/report.h"
#include "target/target.h"

namespace etch {

/// What a project takes when built with the target's own compiler and linker; all in bytes.
struct FitMeasured {
  std::string compiler;                     // the command
  std::int64_t code_bytes = 0;              // text and read-only data of the model and the runtime, without weights
  std::int64_t library_bytes = 0;           // flash of the library functions that they need, and of the call in main()
  std::int64_t variable_bytes = 0;          // RAM of those functions' variables
  std::optional<std::int64_t> stack_bytes;  // the worst case from the run function down, itself included
  std::string stack_problem;                // why stack_bytes is absent
  std::string overflow;                     // the linker's message if the target's memories were too small; else empty
};

/// Either what was measured, or why nothing was.
struct FitMeasurement {
  std::optional<FitMeasured> measured;
  std::string problem;
};

struct Fit {
  std::string target;
  bool on_device = false;  // kernels run on a device with memory of its own; see ProjectForm::on_device
  std::vector<Memory> memories;
  std::vector<ReportPool> pools;  // arenas that have a memory each; none: the arena lies anywhere
  std::int64_t arena_bytes = 0, state_bytes = 0, weights_bytes = 0;
  std::int64_t device_bytes = 0;              // if on_device, of all that is there: each buffer has a multiple of some bytes
  std::vector<std::int64_t> inputs, outputs;  // bytes of each
  bool weights_in_flash = true;               // false: a blob, which the caller places
  FitMeasurement measurement;
  std::vector<std::string> problems;  // why it can't fit

  bool fits() const { return problems.empty(); }
  /// Sum of arena, state, inputs, outputs and, if they were measured, stack and variables. On a device: all that is there.
  std::int64_t ram_bytes() const;
  /// Sum of the weights, unless they are a blob, and of code and libraries if they were measured.
  std::int64_t flash_bytes() const;
  /// Bytes of all memories of that kind together; nullopt if the target names none.
  std::optional<std::int64_t> limit(MemoryKind kind) const;
};

Fit make_fit(const Report& report, const Target& target, FitMeasurement measurement);

/// Throws UserError with the numbers if the project does not fit.
void require_fit(const Fit& fit);

/// One object, keys in fixed order, absent figures null.
std::string to_json(const Fit& fit);
/// For people to read: a line for RAM and one for flash.
std::string to_text(const Fit& fit);

}  // namespace etch
