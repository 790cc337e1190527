// Does it fit: what a project takes of its target's RAM and flash, in bytes and percent. The arena, inputs, outputs and weights
// are known exactly without a compiler; code and stack are there where the target's compiler was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/report.h"
#include "target/target.h"

namespace etch {

/// What the target's own compiler and linker make of a project; all in bytes.
struct FitMeasured {
  std::string compiler;                     // the command
  std::int64_t code_bytes = 0;              // text and read-only data of the model and the runtime, without weights
  std::int64_t library_bytes = 0;           // of the functions that they bring along, and of the call in main
  std::int64_t variable_bytes = 0;          // RAM of those functions' variables
  std::optional<std::int64_t> stack_bytes;  // the worst case from the run function down, itself included
  std::string stack_problem;                // why it is absent
  std::string overflow;                     // the linker's words, where its memories were not enough
};

/// Either what was measured, or why nothing was.
struct FitMeasurement {
  std::optional<FitMeasured> measured;
  std::string problem;
};

struct Fit {
  std::string target;
  bool on_device = false;  // the memory is a device's
  std::vector<Memory> memories;
  std::int64_t arena_bytes = 0, weights_bytes = 0;
  std::vector<std::int64_t> inputs, outputs;  // bytes of each
  bool weights_in_flash = true;               // false: a blob, which the caller places
  FitMeasurement measurement;
  std::vector<std::string> problems;  // why it can't fit

  bool fits() const { return problems.empty(); }
  /// Arena, inputs, outputs, and what is known of stack and variables.
  std::int64_t ram_bytes() const;
  /// Weights, unless they are a blob, and what is known of code and libraries.
  std::int64_t flash_bytes() const;
  /// Of all memories of that kind together; nothing where the target names none.
  std::optional<std::int64_t> limit(MemoryKind kind) const;
};

Fit make_fit(const Report& report, const Target& target, FitMeasurement measurement);

/// A UserError with the numbers if it does not fit.
void require_fit(const Fit& fit);

/// One object, keys in fixed order, absent figures null.
std::string to_json(const Fit& fit);
/// For people: a line for RAM, one for flash.
std::string to_text(const Fit& fit);

}  // namespace etch
