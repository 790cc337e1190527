// Shared by the devices that run a program call by call, and Replay, which runs compiled programs in host memory laid out as in the
// emitted project: arenas with the plan's offsets, in which a call's output may lie over one of its inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
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
/// The bytes that a state has before the first run.
std::vector<std::byte> first_bytes(const Program& program, const ProgramState& state);
/// For each buffer the last call that uses it; calls.size() for outputs and for what the turns of a loop keep, -1 where no call does.
std::vector<int> last_uses(const Program& program);
/// The elements that a call has written of its output number `output`, as an array; `bytes`: the content of that output.
Array written_by(const Program& program, const ProgramCall& call, int output, std::span<const std::byte> bytes, const VarValues& values);

/// Runs one call: `values` are those of variables and counters; `memory` holds its buffers, in the order of its arguments.
using CallFunction = std::function<void(const ProgramCall& call, const VarValues& values, std::span<std::byte* const> memory)>;

/// Memory for one program that the host can read and write, kept from run to run.
class Replay {
 public:
  /// With `guards` every write of a call outside of its own outputs is found: in the arena, and around the arena, inputs, outputs and
  /// constants. Outputs that take no input's place hold NaN before they are written.
  /// The memory is taken from `allocator`; this process can read and write what that hands out.
  Replay(const Program& program, const PlanOptions& plan, bool guards, std::shared_ptr<Allocator> allocator);
  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options, const CallFunction& call);
  /// Every state has its first values.
  void reset_state();

 private:
  /// One run: inputs and outputs, by buffer number.
  struct Run {
    const VarValues& vars;
    std::vector<DeviceMemory> io;
  };
  DeviceMemory make(std::int64_t bytes);
  std::byte* data(const DeviceMemory& memory) const;
  bool is_in_arena(int buffer) const;
  std::byte* place(const Run& run, int index) const;
  std::int64_t bytes_now(const Run& run, int index) const;
  void prepare_guards(const Run& run, const ProgramCall& call);
  void check_guards(const Run& run, int call) const;
  void check_zone(const DeviceMemory& memory, const std::string& name, int call) const;
  void check_arena(const Run& run, int call, std::size_t arena) const;
  std::string arena_name(std::size_t arena) const;
  [[noreturn]] void fail(int call, const std::string& what) const;
  Array read(const Run& run, int index) const;
  Array written(const Run& run, const ProgramCall& call, int output, const VarValues& values) const;

  const Program* program_;
  bool guards_;
  MemoryPlan plan_;
  std::shared_ptr<Allocator> allocator_;
  std::vector<DeviceMemory> constants_;  // by buffer number; aligned copies, and the memory of states
  std::vector<DeviceMemory> arenas_;
  std::vector<std::vector<std::byte>> before_;  // with guards: the arenas before the call
};

}  // namespace etch
