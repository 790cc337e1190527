// Several workers that walk the same calls: where they have to wait for each other.
#pragma once

#include <vector>

#include "memory/plan.h"
#include "program/program.h"

namespace etch {

/// What a worker does at a call of a program with several workers.
struct SharedCall {
  bool waits = false;  // before it, until all workers are there
  bool alone = false;  // worker 0 does it alone; the others go on to the next call
};

/// One for each call. Between two calls of which one writes bytes that the other reads or writes, in the places of `plan`, there is a
/// barrier, unless worker 0 does both alone; the first call of a loop, and that behind it, are behind one.
std::vector<SharedCall> shared_calls(const Program& program, const MemoryPlan& plan);

}  // namespace etch
