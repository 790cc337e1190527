// Internal to schedule/: what one kernel computes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lazy/graph.h"

namespace etch {

struct Region {
  std::vector<const LazyBuffer*> inside;  // bases that are computed, constants among them, sources first; the last is the output
  std::vector<const LazyBuffer*> inputs;  // bases that are read
  std::vector<const LazyBuffer*> views;   // through which bases are seen
};

/// From `out` down to what is in memory.
Region region_of(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory);
/// The origins of all that is inside and of the views, in the order in which they were traced.
std::vector<std::string> origins_of(const LazyGraph& graph, const Region& region);

}  // namespace etch
