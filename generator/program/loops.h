// The loops of a Program: in what order its calls run, and what a turn leaves to the next.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

/// Calls `run` for each call of a run, in order: with its number, and the values of the program's variables and of the counters of the
/// loops around it.
void for_each_call(const Program& program, const VarValues& variables, const std::function<void(int call, const VarValues& values)>& run);

/// The same for any list of `count` steps with such loops.
void for_each_step(std::span<const ProgramLoop> loops, int count, const VarValues& variables,
                   const std::function<void(int step, const VarValues& values)>& run);

/// How often each call runs.
std::vector<Sint> turns_of_calls(const Program& program);

/// Whether the call writes only a part of its output number `output`: one element of the list that a loop fills.
bool writes_part(const Program& program, const ProgramCall& call, int output);
/// The first element that the call writes of that output; 0 if it writes the whole buffer.
std::int64_t first_element(const Program& program, const ProgramCall& call, int output, const VarValues& values);

/// Whether a call in `loop` may need what an earlier turn, or a call before the loop, has written into `buffer`. The buffer then has to
/// keep its content from the loop's first call to its last.
bool flows_into(const Program& program, const ProgramLoop& loop, int buffer);

}  // namespace etch
