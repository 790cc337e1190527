// How close an output of a kernel may lie to an input that is not needed any more. Loops run in one order, so what is written follows what
// is read at a distance that bounds give: an output that begins so many bytes below the input (or above it) overwrites nothing that is
// read later. One worker alone keeps this order.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/linearizer.h"

namespace etch {

/// Argument `write` may begin at least `below` bytes below the beginning of argument `read`, or at least `above` bytes above it. Both are
/// at least 0 and at most what keeps the two apart: the bytes of `write` and those of `read`.
struct ArgumentDistance {
  int write = 0, read = 0;
  std::int64_t below = 0, above = 0;
};

/// The pairs of a written and a read argument that may share memory. None for a kernel with open sizes, and none for a pair of types that
/// C's rules of aliasing tell apart: a compiler may exchange a load of one and a store of the other.
std::vector<ArgumentDistance> argument_distances(const Linearized& linear, const std::vector<KernelArgument>& arguments);

}  // namespace etch
