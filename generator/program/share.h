// Kernels that differ in sizes alone become one function.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace etch {

struct CodegenOptions;

/// Which kernels become one.
enum class Sharing {
  None,
  Small,  // those that do little of the program's work each: what the numbers cost them is next to nothing
  All,
};

/// Makes one kernel of those whose steps (ProgramKernel::code) are the same but for integers: the ends of loops, strides, offsets. It takes
/// a further argument, a constant array of what differs, and each of its calls passes the numbers of its own; a number that is always the
/// same multiple of another one away from it is computed from that. The indices have been proved for each kernel before.
///   before:  for (y < 48) ... in[48 * y + x - 1]       for (y < 24) ... in[24 * y + x - 1]
///   after:   n0 = n[0]; for (y < n0) ... in[n0 * y + x - 1]
/// Only for programs in loops of C whose sizes are fixed; the kernels keep their order.
void share_kernels(Program& program, const CodegenOptions& codegen, Sharing sharing);

/// The same text for kernels that share_kernels makes one function: all of their steps but for integers, and the kinds of their arguments.
std::string text_beside_sizes(const ProgramKernel& kernel);

}  // namespace etch
