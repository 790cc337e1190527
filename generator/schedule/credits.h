// Internal to schedule/: finds which nodes of the traced graph each kernel computes.
#pragma once

#include <string>
#include <vector>

#include "schedule/region.h"

namespace etch {

struct Credit {
  std::vector<std::string> nodes;  // in the order in which they were traced
  std::string main;                // the one that the reduction belongs to, else the last
};

/// The nodes of each kernel. A node belongs to the kernels that compute its operations on run-time values. A node without such
/// operations (a mere view such as Transpose, weights that are dequantized when they are read) belongs to the kernels that read its
/// result. An operation that several nodes share counts for all of them; but if the kernel computes another operation of one of them
/// anyway, it adds none of the others.
std::vector<Credit> credit_nodes(const LazyGraph& graph, const std::vector<Region>& kernels);

}  // namespace etch
