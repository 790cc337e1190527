// The emitted project where it will live: built by the target's own compiler, run in its emulator (on this machine, for a
// target that is one), its self-test's verdict and its costs taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "target/target.h"

namespace etch {

struct TargetResult {
  std::string name;  // of the target
  bool ok = false;
  std::string problem;  // where it is not ok: what the self-test printed, or how the run ended
  std::string compiler;
  /// Between entry to and return from the run function, library calls included. Absent on a target without emulator.
  std::optional<std::int64_t> instructions, loads, stores, stack_bytes;
  std::optional<std::int64_t> stack_bound_bytes;  // worst case from the compiler's own figures
  std::string stack_bound_problem;                // why it is absent; empty where the compiler tells nothing of stack and calls (clang)
  std::int64_t code_bytes = 0, weights_bytes = 0;
  /// What a program that runs the model should not have in its link map, beyond what a program that does nothing has. The
  /// self-test is left out: it prints, and may read a file.
  std::vector<std::string> heap_symbols, soft_double_symbols;
  double seconds = 0;
};

/// Builds `dir` for `target` and runs its self-test; `entry` is the run function ("kws_run"). Throws UserError where the
/// compiler or emulator is absent, or refuses the code.
/// `step`, if given, is told what is being done.
TargetResult run_on_target(const std::filesystem::path& dir, const Target& target, const std::string& entry, const Step& step = {});

}  // namespace etch
