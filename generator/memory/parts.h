// Buffers that lie in the output of the call that copies them there.
#pragma once

#include <vector>

#include "memory/plan.h"
#include "program/program.h"

namespace etch {

/// The calls that copy buffers (CallArgument::part) which fill the output and may lie in it from the beginning: each is written before,
/// lives in the arena until that call alone, and nothing is written over it.
std::vector<int> calls_with_parts(const Program& program, const std::vector<Placement>& placements, const PlanOptions& options);

/// Lets them lie there (Placement::part_of).
void take_parts(const Program& program, int call, const PlanOptions& options, std::vector<Placement>& placements);

/// Whether buffer `a` lies in `b`, or in a buffer that does.
bool lies_in(const std::vector<Placement>& placements, int a, int b);

/// Takes out the calls that copy parts (CallArgument::part) to where the plan lets them lie already, as concatenations do, and kernels that
/// nothing calls any more. The plan is then one of the calls that are left.
void leave_out_copies(Program& program, MemoryPlan& plan);

}  // namespace etch
