// What a device tells people about its work (tinygrad's DEBUG): an option of the library (DeviceOptions::debug) and of the tool (--debug).
//
//   DeviceOptions options;
//   options.debug = {.level = 2, .sink = [&](std::string_view text) { log << text; }};
//
//     #  device   kernel        grid   buffers    memory, B      time, us    total, ms    GFLOP/s       GB/s
//     0  c        k0_conv1_relu1   -         4       110848         51.30        0.051      22.97       2.05
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/counters.h"
#include "device/loaded_kernel.h"
#include "program/program.h"

namespace etch {

/// Each level tells what those below it tell, too.
enum DebugLevel : std::uint8_t {
  kDebugLoads = 1,         // the device, and for each program that it loads what that took
  kDebugRuns = 2,          // a line for each run of a kernel, behind a program's run their sums. The device waits for each kernel
  kDebugAst = 3,           // of each kernel that is loaded the AST, as a tree, and the optimiser's steps
  kDebugUOps = 5,          // its UOps
  kDebugSource = 4,        // its source
  kDebugInstructions = 6,  // what the compiler made of it
};
inline constexpr int kMostDebug = kDebugInstructions;

struct DebugOptions {
  int level = 0;  // a DebugLevel; 0: tells nothing
  /// Gets whole lines, from one thread at a time. Null: they are printed on standard error.
  std::function<void(std::string_view text)> sink;
};

/// AST, UOps and source of a kernel, as far as `level` asks for them and the kernel has them; empty below kDebugAst.
std::string debug_text(const ProgramKernel& kernel, int level);

/// A run of a kernel, as a line of the table.
struct KernelRun {
  std::string name;
  std::optional<LaunchSize> grid;  // absent in a language that has none
  std::size_t buffers = 0;
  /// Bytes in use that the counters do not see, because a process of its own has them.
  std::int64_t further_memory = 0;
};

/// Takes the work of one device. Several threads may use it at the same time.
class DebugLog {
 public:
  explicit DebugLog(DebugOptions options) : options_(std::move(options)) {}

  bool at(DebugLevel level) const { return options_.level >= level; }
  /// `text`: whole lines.
  void print(std::string_view text);
  /// debug_text() of this level.
  void print_kernel(const ProgramKernel& kernel) { print(debug_text(kernel, options_.level)); }
  /// A line of the table, the first under its head. `ops`, `mem`: of this run; `after`: the counters behind it.
  void print_run(const std::string& device, const KernelRun& run, std::int64_t ops, std::int64_t mem, std::optional<double> seconds,
                 const GlobalCounters::Values& after);
  /// The sums of the lines since the last sums; nothing if there are none.
  void print_sums();

 private:
  struct Sums {
    std::int64_t kernels = 0, ops = 0, mem = 0, most_memory = 0;
    double seconds = 0;
  };
  void put(std::string_view text) const;

  DebugOptions options_;
  std::mutex mutex_;
  Sums sums_;
};

/// Where the work of a device is counted and told.
struct Stats {
  // Not explicit: counters alone are enough.
  Stats(std::shared_ptr<GlobalCounters> counting, std::shared_ptr<DebugLog> log = nullptr, std::string name = "")
      : counters(std::move(counting)), debug(std::move(log)), device(std::move(name)) {}

  std::shared_ptr<GlobalCounters> counters;
  std::shared_ptr<DebugLog> debug;  // may be null
  std::string device;               // its name

  bool tells(DebugLevel level) const { return debug != nullptr && debug->at(level); }
  /// Behind the run of a program.
  void end_of_run() const {
    if (tells(kDebugRuns)) debug->print_sums();
  }
};

}  // namespace etch
