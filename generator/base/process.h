// Running another program: an argument vector, never a shell; a time limit that ends the whole process group; all
// output captured. How the program ended is a value; a failure, crash or hang throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

/// A variable of a process's environment.
struct EnvVar {
  std::string name, value;
  bool is_default = false;  // true: used only if the caller's environment lacks it; false: replaces the caller's value
};

struct ProcessOptions {
  /// What the program reads on standard input (any bytes). Empty: it reads end of file at once.
  std::string stdin_text;
  /// Working folder. Empty: the caller's.
  std::filesystem::path cwd;
  /// Wall-clock seconds after which the process group is killed. Zero or less: no limit.
  double timeout_s = 60;
  /// Added to the caller's environment.
  std::vector<EnvVar> env;
  /// So much of each of the two outputs is kept; the rest is read and dropped.
  std::size_t max_output_bytes = std::size_t{64} << 20;
};

struct ProcessResult {
  /// False: there is no such program, or it could not be executed; `err` says why, and the rest means nothing.
  bool started = false;
  /// The exit status, or -1 where a signal ended the program.
  int exit_code = -1;
  /// The signal that ended the program, 0 if none did.
  int signal = 0;
  /// The time limit ended it (signal is then SIGKILL).
  bool timed_out = false;
  std::string out;
  std::string err;
  double seconds = 0;
  /// Processor time and largest resident memory of the program, with those of the processes that it waited for.
  double cpu_seconds = 0;
  std::int64_t max_rss_bytes = 0;

  /// It ran to its end and returned 0.
  bool ok() const { return started && !timed_out && signal == 0 && exit_code == 0; }
};

/// Runs argv[0] (looked up along PATH if it has no slash) and waits. When this returns, no process of the group runs any more:
/// neither after a timeout nor as a child that the program left behind. If this process dies, the program is killed too.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// The path of the program `name`: `name` itself if it contains a slash, else looked up along PATH. nullopt if there is no such
/// executable.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// The caller's environment with `additions`, as NAME=VALUE.
std::vector<std::string> environment_with(const std::vector<EnvVar>& additions);

/// One line for an error message: "not found", "exit status 2", "killed by signal 11 (Segmentation fault)", "timed out after 5 s".
std::string describe(const ProcessResult& result);

}  // namespace etch
