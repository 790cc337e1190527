// Internal to schedule/: what one kernel computes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lazy/graph.h"

namespace etch {

struct Region {
  std::vector<const LazyBuffer*> inside;  // bases that are computed, constants among them, sources first; the last is the output
  std::vector<const LazyBuffer*> inputs;  // bases that are read
  std::vector<const LazyBuffer*> views;   // the views through which it reads bases
};

/// The region from `out` down to the bases that are in memory.
Region region_of(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory);

/// How many bases such a region reads and computes; nullopt if it computes more than `most`.
struct RegionSize {
  std::size_t inputs = 0, inside = 0;
};
std::optional<RegionSize> region_size(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory, std::size_t most);

}  // namespace etch
