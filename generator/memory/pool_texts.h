// What is said about pools: why a buffer lies where it lies, why nothing lies in a pool, why a model finds no room.
#pragma once

#include <string>

#include "base/error.h"
#include "memory/plan.h"

namespace etch {

/// Whether the buffer is of a kind that the pool takes.
bool may_hold(const Pool& pool, const ProgramBuffer& buffer);

/// What a model would need of a single arena at least, and the call at which it does (-1: a call alone doesn't say).
struct NoRoom {
  std::int64_t bytes = 0;
  int call = -1;
};
/// `with_io`: inputs and outputs are to be placed too. `proved`: there is no way to place the buffers, not only none that was found.
UserError no_room(const Program& program, bool with_io, const NoRoom& needed, bool proved);

/// Why a buffer with a place lies in its pool and in no faster one.
std::string why_there(const MemoryPlan& plan, const Program& program, int buffer);
/// Why no buffer lies in the pool; empty if one does.
std::string why_unused(const MemoryPlan& plan, const Program& program, int pool);

}  // namespace etch
