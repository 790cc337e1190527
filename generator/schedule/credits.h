// Internal to schedule/: which nodes of the traced graph each kernel computes.
#pragma once

#include <string>
#include <vector>

#include "schedule/region.h"

namespace etch {

struct Credit {
  std::vector<std::string> nodes;  // in the order in which they were traced
  std::string main;                // the one that the reduction belongs to, else the last
};

/// For each kernel its nodes. A node is credited where its operations on values that come with the run are done. What has none
/// (a mere view such as Transpose, weights that are dequantized as they are read) is credited where its result is read.
/// An operation that several nodes asked for is credited to all of them, or, where the kernel computes something else of one of
/// them, to that one alone.
std::vector<Credit> credit_nodes(const LazyGraph& graph, const std::vector<Region>& kernels);

}  // namespace etch
