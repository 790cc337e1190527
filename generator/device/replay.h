// Replaying a program in host memory: what INTERP and C have in common. Buffers live from the call that writes them to the
// last one that reads them.
#pragma once

#include <cstddef>
#include <span>

#include "device/allocator.h"
#include "device/device.h"

namespace etch {

/// Throws DeviceError unless `inputs` and `vars` are what the program takes.
void check_run(const Program& program, const std::vector<Array>& inputs, const VarValues& vars);
/// The shape of buffer `index` for these values.
std::vector<std::int64_t> shape_of(const ProgramBuffer& buffer, const VarValues& vars);
std::int64_t elements_of(const ProgramBuffer& buffer, const VarValues& vars);
/// For each buffer the last call that uses it; calls.size() for outputs, -1 where no call does.
std::vector<int> last_uses(const Program& program);

/// Runs one call: `memory` holds its buffers, output first, each `elements` long.
using CallFunction =
    std::function<void(const ProgramCall& call, std::span<std::byte* const> memory, std::span<const std::int64_t> elements)>;

/// Host memory for one program, kept from run to run.
class Replay {
 public:
  Replay(const Program& program, bool guards);
  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options, const CallFunction& call);

 private:
  Buffer make(std::int64_t bytes);
  std::byte* data(const Buffer& buffer) const;
  void check_guards(std::span<const Buffer> buffers, int call) const;
  Array read(const Buffer& buffer, int index, const VarValues& vars) const;

  const Program* program_;
  bool guards_;
  std::vector<int> last_use_;
  HostAllocator host_;
  LRUAllocator allocator_{host_};
  std::vector<Buffer> constants_;  // by buffer number; aligned copies
};

}  // namespace etch
