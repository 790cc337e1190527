// Tests the emitted project for its target: builds it with the target's own compiler, runs it in the emulator (or on this machine, if
// the target needs none), and takes the self-test's verdict and the costs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "emulator/emulator.h"
#include "target/target.h"

namespace etch {

struct TargetResult {
  std::string name;  // of the target
  bool ok = false;
  std::string problem;  // where it is not ok: what the self-test printed, or how the run ended
  std::string compiler;
  /// From entry to the run function to its return, library calls included. Absent on a target without emulator.
  std::optional<std::int64_t> instructions, loads, stores, taken_branches, stack_bytes;
  std::vector<FunctionRun> kernel_runs;                // in the order in which they ended
  std::map<std::string, std::int64_t> function_bytes;  // code of the kernels' functions
  std::optional<std::int64_t> stack_bound_bytes;       // worst case from the compiler's own figures
  std::string stack_bound_problem;                     // why it is absent; empty if the compiler reports neither stack nor calls (clang)
  std::int64_t code_bytes = 0, weights_bytes = 0;
  /// Library symbols that a program that runs the model should not link, except those that an empty program links too. The self-test
  /// is left out: it prints, and may read a file.
  std::vector<std::string> heap_symbols, soft_double_symbols;
  double seconds = 0;
};

/// Builds `dir` for `target` and runs its self-test; `entry` is the run function ("kws_run"). Throws UserError if the compiler or
/// emulator is absent, or the compiler refuses the code. `step`, if given, is called with what is being done.
TargetResult run_on_target(const std::filesystem::path& dir, const Target& target, const std::string& entry, const Step& step = {});

/// Writes what was measured into the report, with an estimate of the cycles where the target says the weights.
void add_costs(Report& report, const TargetResult& result, const CycleWeights& weights);

}  // namespace etch
