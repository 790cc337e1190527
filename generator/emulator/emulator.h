// Runs a linked program on an emulated board. The program talks by semihosting: console, files, exit status. What a function
// executes is counted exactly, and equally in every run: the emulator's clock is the count of instructions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "target/target.h"

namespace etch {

struct EmulatorOptions {
  /// Functions whose calls are counted, by name. They must not be inlined: external ones of another file are not.
  std::vector<std::string> functions;
  /// Working folder of the run: files that the program opens are relative to it. Empty: the caller's.
  std::filesystem::path cwd;
  /// Wall-clock limit; the emulator is killed when it is over.
  double timeout_s = 60;
};

/// One call of a counted function, library calls included.
struct FunctionRun {
  std::string function;
  bool returned = false;  // false: the program ended inside
  std::int64_t instructions = 0, loads = 0, stores = 0;
  std::int64_t load_bytes = 0, store_bytes = 0;
  /// Deepest use of the stack from the caller's stack pointer down; nothing where the function's frame can't be read.
  std::optional<std::int64_t> stack_bytes;
};

struct EmulatorResult {
  bool started = false;  // false: the emulator did not run at all; `console` says why
  bool timed_out = false;
  int exit_code = -1;             // of the program; -1 where it did not end by itself
  std::string console;            // what the program printed, and the emulator's own complaints
  std::vector<FunctionRun> runs;  // in order of their ends
  double seconds = 0;

  bool ok() const { return started && !timed_out && exit_code == 0; }
};

/// Can this target be emulated here? Where not, `why` (if given) says what is missing: "qemu-system-arm is not installed".
bool emulator_available(const Target& target, std::string* why = nullptr);

/// Runs `elf` to its end. Throws UserError where the target has no emulator or it is not installed, or where a function in
/// the options is not in the program; a program that fails, crashes or hangs is a result.
EmulatorResult run_emulated(const Target& target, const std::filesystem::path& elf, const EmulatorOptions& options = {});

}  // namespace etch
