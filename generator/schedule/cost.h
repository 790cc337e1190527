// What an operation costs to compute again, in additions: a rough scale by which the scheduler decides what gets memory.
#pragma once

#include "ir/op.h"

namespace etch {

inline constexpr int kExpensive = 10;

/// 1 for what is one instruction, kExpensive for calls of the math library.
int cost_of(Op op);

}  // namespace etch
