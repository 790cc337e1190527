// Where each buffer of a Program lives. Inputs, outputs and constants are the caller's memory; every intermediate gets an
// offset in an arena: there is one, or one for each of the program's pools, the fastest of which get what is used most. A pure function of
// the program: no addresses, no hashing, the same plan on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"

namespace etch {

struct PlanOptions {
  std::int64_t align = 16;  // of the arena, and of each buffer that is at least that large
  bool align_all = false;   // align smaller buffers too: OpenCL needs it to make each a part (sub-buffer) of one buffer
  bool overlap = true;      // use what the kernels allow: an output over a part of an input
  bool parts = true;        // let what is only copied lie where it is copied to. Not where a kernel's arguments must lie apart
  bool include_io = false;  // place inputs and outputs too, also if the program does not say so (Program::io_in_arena). An input's place
                            // may be reused after its last use
};

struct Placement {
  std::int64_t offset = -1;      // bytes from the start of the arena; -1: not in the arena
  int pool = 0;                  // number of that arena
  int first = -1, last = -1;     // first and last call at which its content is needed; -1: never used
  int in_place_of = -1;          // the buffer over which it is written; -1: none
  int part_of = -1;              // the buffer into which it is copied later, as a part of which it lies already; -1: none
  std::int64_t part_offset = 0;  // bytes from the begin of that buffer
};

/// One arena.
struct ArenaPlan {
  std::int64_t bytes = 0;
  std::int64_t lower_bound_bytes = 0;  // largest sum of live bytes at one call; what an output and its input share counts once
  bool is_smallest = false;            // it is proved that these lifetimes need as many bytes
  int peak_call = -1;                  // the first call at which that many bytes are live
};

struct MemoryPlan {
  std::vector<Placement> placements;  // one for each buffer of the program
  std::vector<ArenaPlan> arenas;      // one for each of the program's pools, or one alone
  std::int64_t arena_bytes = 0;       // of all
  std::int64_t align = 1;             // of each
  std::int64_t lower_bound_bytes = 0;
  bool is_smallest = false;             // each of them
  int peak_call = -1;                   // with one arena: see ArenaPlan
  bool is_best = true;                  // with pools: it is proved that the faster ones can't get more of what kernels read and write
  std::vector<std::int64_t> traffic{};  // with pools, by buffer: bytes that kernels read and write in a run
};

/// Finds lifetimes and in-place outputs, then packs. Buffers whose shape has Variables get the bytes of their largest shape. Throws
/// UserError if the program's pools are too small.
MemoryPlan plan_memory(const Program& program, const PlanOptions& options = {});

/// Alignment that a buffer or constant of that many bytes gets: `align`, or less where the buffer is smaller than that (no
/// aligned access can be wider than the buffer).
std::int64_t alignment_for(std::int64_t bytes, std::int64_t align);

/// Throws InternalError unless every intermediate that is used has an aligned place inside the arena and no two that live at
/// one call overlap, except an output over the input that it replaces, or as far from an input's begin as the kernel allows
/// (ProgramKernel::distances), and a part in the buffer that it is copied to.
void verify(const MemoryPlan& plan, const Program& program);

/// A table, one buffer per line: bytes in the arena, name, type, shape, calls.
std::string to_text(const MemoryPlan& plan, const Program& program);

/// The same calls in an order that needs fewer live bytes at its worst call, or the program unchanged if none is found.
/// A call stays after the calls that it depends on.
Program reorder(Program program);

}  // namespace etch
