// Internal to the compiler's driver: weights in a wider type than the model's.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"
#include "target/instruction.h"

namespace etch {

/// Where a dot product multiplies bytes by numbers of 16 bits, constants of 8 bits that a sum of
/// products reads get 16: they take twice the memory, and nobody widens them while they are multiplied. Only where the bytes of the other
/// operand lie side by side along a reduced axis that the instruction divides. Returns the bytes that the constants take more.
std::int64_t widen_weights(LazyGraph& graph, Schedule& schedule, const std::vector<TargetInstruction>& instructions);

}  // namespace etch
