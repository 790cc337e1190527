#include "memory/barriers.h"

#include <algorithm>
#include <utility>

#include "base/subscript.h"

namespace etch {
namespace {

/// Bytes that a call reads or writes: of an arena, or of a buffer that has memory of its own.
struct Bytes {
  int pool = -1, buffer = -1;  // one of them
  std::int64_t begin = 0, end = 0;
  bool is_written = false, alone = false;
};

bool conflict(const Bytes& a, const Bytes& b) {
  return a.pool == b.pool && a.buffer == b.buffer && a.begin < b.end && b.begin < a.end && (a.is_written || b.is_written) &&
         !(a.alone && b.alone);
}

Bytes bytes_of_argument(const Program& program, const MemoryPlan& plan, const CallArgument& argument) {
  const Placement& place = plan.placements[at(argument.buffer)];
  const std::int64_t bytes = program.buffers[at(argument.buffer)].max_bytes();
  Bytes found{.begin = std::max<std::int64_t>(place.offset, 0), .is_written = argument.access == Access::Write};
  found.end = found.begin + bytes;
  (place.offset >= 0 ? found.pool : found.buffer) = place.offset >= 0 ? place.pool : argument.buffer;
  return found;
}

bool is_edge_of_loop(const Program& program, std::size_t call) {
  const int c = static_cast<int>(call);
  return std::ranges::any_of(program.loops, [&](const ProgramLoop& loop) { return loop.first == c || loop.end == c; });
}

}  // namespace

std::vector<SharedCall> shared_calls(const Program& program, const MemoryPlan& plan) {
  std::vector<SharedCall> calls(program.calls.size());
  std::vector<Bytes> since;  // the last barrier
  for (std::size_t c = 0; c < calls.size(); c++) {
    const ProgramCall& call = program.calls[c];
    calls[c].alone = program.kernels[at(call.kernel)].shared.empty();
    std::vector<Bytes> own;
    for (const CallArgument& argument : call.arguments) {
      if (program.buffers[at(argument.buffer)].kind == BufferKind::Constant) continue;
      own.push_back(bytes_of_argument(program, plan, argument));
      own.back().alone = calls[c].alone;
    }
    const auto is_touched = [&](const Bytes& b) { return std::ranges::any_of(since, [&](const Bytes& a) { return conflict(a, b); }); };
    calls[c].waits = is_edge_of_loop(program, c) || std::ranges::any_of(own, is_touched);
    if (calls[c].waits) since.clear();
    since.insert(since.end(), own.begin(), own.end());
  }
  return calls;
}

}  // namespace etch
