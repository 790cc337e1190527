// Shared by the devices that run a program call by call, and Replay, which runs compiled programs in host memory laid out as in the
// emitted project: one arena with the plan's offsets, in which a call's output may lie over one of its inputs.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "device/allocator.h"
#include "device/device.h"
#include "memory/plan.h"

namespace etch {

/// Throws DeviceError unless `inputs` and `vars` are what the program takes.
void check_run(const Program& program, const std::vector<Array>& inputs, const VarValues& vars);
/// The shape of `buffer` for these values of the variables.
std::vector<std::int64_t> shape_of(const ProgramBuffer& buffer, const VarValues& vars);
std::int64_t elements_of(const ProgramBuffer& buffer, const VarValues& vars);
/// For each buffer the last call that uses it; calls.size() for outputs, -1 where no call does.
std::vector<int> last_uses(const Program& program);

/// The grid of a call in a language that has one: work-groups, and work-items in each.
struct LaunchSize {
  std::array<std::int64_t, 3> groups{1, 1, 1}, local{1, 1, 1};
  bool driver_groups = false;  // the driver may put the groups, which are of one work-item, together
};
LaunchSize launch_size(const ProgramKernel& kernel, const VarValues& vars);
/// The same work-items in groups of at most kDriverItems: dimension after dimension by the largest number that divides its size.
LaunchSize in_groups(const LaunchSize& size);

/// Throws DeviceError, which names `where`, for more work-groups or work-items than the limits.
void check_size(const LaunchSize& size, const GridLimits& limits, const std::string& where);

/// Runs one call: `memory` holds its buffers, in the order of its arguments.
using CallFunction = std::function<void(const ProgramCall& call, std::span<std::byte* const> memory)>;

/// Memory for one program that the host can read and write, kept from run to run.
class Replay {
 public:
  /// With `guards` every write of a call outside of its own outputs is found: in the arena, and around the arena, inputs, outputs and
  /// constants. Outputs that take no input's place hold NaN before they are written.
  /// The memory is taken from `memory`, or is the host's if that is null.
  Replay(const Program& program, const PlanOptions& plan, bool guards, Allocator* memory = nullptr);
  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options, const CallFunction& call);

 private:
  /// One run: inputs and outputs, by buffer number.
  struct Run {
    const VarValues& vars;
    std::vector<Buffer> io;
  };
  Buffer make(std::int64_t bytes);
  std::byte* data(const Buffer& buffer) const;
  std::byte* place(const Run& run, int index) const;
  std::int64_t bytes_now(const Run& run, int index) const;
  void prepare_guards(const Run& run, const ProgramCall& call);
  void check_guards(const Run& run, int call) const;
  void check_zone(const Buffer& buffer, const std::string& name, int call) const;
  void check_arena(const Run& run, int call) const;
  [[noreturn]] void fail(int call, const std::string& what) const;
  Array read(const Run& run, int index) const;

  const Program* program_;
  bool guards_;
  MemoryPlan plan_;
  HostAllocator host_;
  LRUAllocator allocator_;
  std::vector<Buffer> constants_;  // by buffer number; aligned copies
  Buffer arena_;
  std::vector<std::byte> before_;  // with guards: the arena before the call
};

}  // namespace etch
