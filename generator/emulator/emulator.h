// Runs a linked program on an emulated board, where console, files and exit status go through semihosting, or as a process of another
// processor. The instructions of a function are counted exactly and are the same in every run: a board's clock is the count of
// instructions, and a process is told none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "target/target.h"

namespace etch {

struct EmulatorOptions {
  /// Names of the functions whose calls are measured. They must not be inlined; external functions of another file are never.
  std::vector<std::string> functions;
  /// Working folder of the run: files that the program opens are relative to it. Empty: the caller's.
  std::filesystem::path cwd;
  /// Wall-clock limit in seconds, after which the emulator is killed.
  double timeout_s = 60;
};

/// One call of a counted function, library calls included.
struct FunctionRun {
  std::string function;
  bool returned = false;  // false: the program ended inside the function
  std::int64_t instructions = 0, loads = 0, stores = 0;
  std::int64_t load_bytes = 0, store_bytes = 0;
  /// Deepest use of the stack below the caller's stack pointer; nullopt if the function's frame can't be found.
  std::optional<std::int64_t> stack_bytes;
  /// Jumps, calls and returns that did not go on behind themselves, the last one included.
  std::int64_t taken_branches = 0;

  bool operator==(const FunctionRun&) const = default;
};

struct EmulatorResult {
  bool started = false;  // false: the emulator did not run at all; `console` says why
  bool timed_out = false;
  int exit_code = -1;             // of the program; -1 if it did not end by itself
  std::string console;            // what the program printed, and the emulator's own complaints
  std::vector<FunctionRun> runs;  // in the order in which the calls ended
  double seconds = 0;

  bool ok() const { return started && !timed_out && exit_code == 0; }
};

/// Whether this target can be emulated here. If not, `why` (if given) says what is missing: "qemu-system-arm is not installed".
bool emulator_available(const Target& target, std::string* why = nullptr);

/// Runs `elf` to its end. Throws UserError if the target has no emulator, if that is not installed, or if the program lacks a function
/// of the options. A program that fails, crashes or hangs gives a result, not an exception.
EmulatorResult run_emulated(const Target& target, const std::filesystem::path& elf, const EmulatorOptions& options = {});

}  // namespace etch
