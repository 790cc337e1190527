// Internal to schedule/: the order in which sums of products run along their axes.
#pragma once

#include "schedule/schedule.h"

namespace etch {

/// Lets sums of products of integers run along their axes in the order in which the operand that is computed lies in memory; a constant
/// operand, if nothing else reads it, is written in that order too. Axes that are adjacent in both are then one: of a window in an image
/// with channels last, its columns and channels.
///   before: sum[k,i,j](in[291*(i+2*y) + 3*(j+2*x) + k] * w[27*c + 9*k + 3*i + j])
///   after:  sum[i,j,k](in[291*(i+2*y) + 3*(j+2*x) + k] * w[27*c + 9*i + 3*j + k])
/// Called behind choose_memory_orders. Only sums whose axes become fewer so are changed.
void order_sums(LazyGraph& graph, Schedule& schedule);

}  // namespace etch
