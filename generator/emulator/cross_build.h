// Builds an emitted folder with a target's own compiler and measures code, weights, stack, and what the libraries add. Nothing is
// run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audit/stack.h"
#include "base/error.h"
#include "emulator/link_map.h"
#include "target/target.h"

namespace etch {

struct BuildOptions {
  std::vector<std::string> defines;                  // NAME or NAME=VALUE
  std::vector<std::string> flags;                    // after the target's own
  std::vector<std::filesystem::path> extra_sources;  // compiled too: a main() of one's own
  std::vector<std::string> leave_out;                // file names in the folder that are not compiled: "selftest.c"
  bool weights = true;                               // compile the files of weights, NAME_weights.c or .S beside NAME.c
  bool may_overflow = false;                         // link the program even if it is too large for the target's memories
  double timeout_s = 300;                            // limit of one compiler run
};

struct CrossBuild {
  std::filesystem::path elf;
  std::string compiler;  // the command that was used
  std::string overflow;  // the linker's message if the program is too large for its memories (BuildOptions::may_overflow); else empty
  LinkMap map;
  /// Text and rodata of the emitted objects and the runtime: not weights, not the self-test, not `extra_sources`, not
  /// libraries.
  std::int64_t code_bytes = 0;
  /// Of the files of weights.
  std::int64_t weights_bytes = 0;
  /// Calls and frame sizes: from the compiler if it reports both (gcc), and for libraries from the disassembly (Arm, AArch64,
  /// RISC-V). Of clang, frame sizes are the compiler's and calls those of the disassembly.
  StackGraph stack;
};

/// A compiler or linker that a signal or the time limit ended, or that had no room: another time it may go otherwise.
class ToolStopped : public UserError {
 public:
  using UserError::UserError;
};

/// The first of the target's compilers that is installed; nullopt if none is, or if the linker isn't that it needs.
std::optional<std::string> target_compiler(const Target& target);
/// The command that target_compiler() misses; empty if none.
std::string missing_compiler(const Target& target);

/// Compiles every .c and .S in `dir` and links them into `build_dir`/program.elf. Throws UserError where no compiler is
/// installed, and where it refuses the code (with its first messages); ToolStopped where it crashes or takes too long.
CrossBuild build_project(const std::filesystem::path& dir, const Target& target, const std::filesystem::path& build_dir,
                         const BuildOptions& options = {});

/// Worst-case stack use from `entry`. Every call through a pointer in `graph` is taken to reach all of `kernels`, the functions of the
/// program table (AuditReport::table_functions).
StackBound stack_bound(const StackGraph& graph, const std::string& entry, const std::vector<std::string>& kernels);

}  // namespace etch
