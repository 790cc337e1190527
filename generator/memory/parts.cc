#include "memory/parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/subscript.h"

namespace etch {
namespace {

bool may_be_part(const Program& program, const std::vector<Placement>& placements, int call, const CallArgument& argument, int out,
                 const PlanOptions& options) {
  const ProgramBuffer &in = program.buffers[at(argument.buffer)], &whole = program.buffers[at(out)];
  const Placement& place = placements[at(argument.buffer)];
  if (argument.access != Access::Read || argument.part < 0 || argument.buffer == out) return false;
  if (in.kind != BufferKind::Intermediate || whole.kind != BufferKind::Intermediate) return false;
  if (place.last != call || place.first >= call || place.part_of >= 0) return false;
  const std::int64_t offset = argument.part * bytes_of(in.dtype);
  if (offset % (options.align_all ? options.align : alignment_for(in.max_bytes(), options.align)) != 0 ||
      offset + in.max_bytes() > whole.max_bytes())
    return false;
  return std::ranges::find(placements, argument.buffer, &Placement::in_place_of) == placements.end();
}

// The arguments of the call that may be parts of its output, if they fill it.
std::vector<const CallArgument*> parts_at(const Program& program, const std::vector<Placement>& placements, int call,
                                          const PlanOptions& options) {
  std::vector<const CallArgument*> parts;
  const ProgramCall& c = program.calls[at(call)];
  if (std::ranges::distance(c.writes()) != 1) return parts;
  const int out = c.writes().front();
  if (placements[at(out)].first != call || placements[at(out)].in_place_of >= 0) return parts;
  std::set<int> known;
  std::int64_t bytes = 0;
  for (const CallArgument& a : c.arguments) {
    if (!may_be_part(program, placements, call, a, out, options) || !known.insert(a.buffer).second) continue;
    parts.push_back(&a);
    bytes += program.buffers[at(a.buffer)].max_bytes();
  }
  if (bytes != program.buffers[at(out)].max_bytes()) parts.clear();
  return parts;
}

// Whether the call copies to where all of it lies already. It may read sizes too, which kernels that are shared get.
bool copies_nothing(const MemoryPlan& plan, const ProgramCall& call) {
  const auto is_there = [&](int in) { return plan.placements[at(in)].part_of == call.writes().front(); };
  return std::ranges::distance(call.writes()) == 1 && std::ranges::any_of(call.reads(), is_there);
}

}  // namespace

std::vector<int> calls_with_parts(const Program& program, const std::vector<Placement>& placements, const PlanOptions& options) {
  std::vector<int> calls;
  if (!program.loops.empty()) return calls;
  for (int c = 0; c < static_cast<int>(program.calls.size()); c++)
    if (!parts_at(program, placements, c, options).empty()) calls.push_back(c);
  return calls;
}

void take_parts(const Program& program, int call, const PlanOptions& options, std::vector<Placement>& placements) {
  const int out = program.calls[at(call)].writes().front();
  for (const CallArgument* a : parts_at(program, placements, call, options)) {
    placements[at(a->buffer)].part_of = out;
    placements[at(a->buffer)].part_offset = a->part * bytes_of(program.buffers[at(a->buffer)].dtype);
  }
}

bool lies_in(const std::vector<Placement>& placements, int a, int b) {
  for (int outer = placements[at(a)].part_of; outer >= 0; outer = placements[at(outer)].part_of)
    if (outer == b) return true;
  return false;
}

void leave_out_copies(Program& program, MemoryPlan& plan) {
  if (!program.loops.empty()) return;
  std::vector<ProgramCall> calls;
  std::vector<int> left;  // before each call
  for (ProgramCall& call : program.calls) {
    left.push_back(static_cast<int>(calls.size()));
    if (!copies_nothing(plan, call)) calls.push_back(std::move(call));
  }
  if (calls.size() == program.calls.size()) {
    program.calls = std::move(calls);
    return;
  }
  left.push_back(static_cast<int>(calls.size()));
  program.calls = std::move(calls);
  drop_unused_kernels(program);
  const int last = static_cast<int>(program.calls.size()) - 1;
  for (Placement& p : plan.placements) {
    if (p.first < 0) continue;
    p.first = std::min(left[at(p.first)], last);
    p.last = std::max(p.first, left[at(p.last + 1)] - 1);
  }
  if (plan.peak_call >= 0) plan.peak_call = std::min(left[at(plan.peak_call)], last);
  for (ArenaPlan& arena : plan.arenas)
    if (arena.peak_call >= 0) arena.peak_call = std::min(left[at(arena.peak_call)], last);
}

}  // namespace etch
