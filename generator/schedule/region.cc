#include "schedule/region.h"

#include <span>

#include "base/pointer_set.h"
#include "base/toposort.h"

namespace etch {

namespace {

struct Inputs {
  const LazyBuffer* out;
  const std::function<bool(const LazyBuffer*)>& in_memory;
  bool operator()(const LazyBuffer* b) const { return b->is_base() && b != out && (is_memory(b) || in_memory(b)); }
};

}  // namespace

Region region_of(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory) {
  const Inputs is_input{out, in_memory};
  const auto below = [&](const LazyBuffer* b) -> std::span<const LazyBuffer* const> {
    if (is_input(b)) return {};
    return sources(b);
  };
  Region region;
  for (const LazyBuffer* b : toposort<LazyBuffer>({out}, below)) {
    if (is_input(b))
      region.inputs.push_back(b);
    else if (b->is_base())
      region.inside.push_back(b);
    else
      region.views.push_back(b);
  }
  return region;
}

std::optional<RegionSize> region_size(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory, std::size_t most) {
  const Inputs is_input{out, in_memory};
  RegionSize size;
  std::vector<const LazyBuffer*> open{out};
  PointerSet<LazyBuffer> seen;
  seen.insert(out);
  while (!open.empty()) {
    const LazyBuffer* b = open.back();
    open.pop_back();
    if (is_input(b)) {
      size.inputs++;
      continue;
    }
    if (b->is_base() && ++size.inside > most) return std::nullopt;
    for (const LazyBuffer* s : sources(b))
      if (seen.insert(s)) open.push_back(s);
  }
  return size;
}

}  // namespace etch
