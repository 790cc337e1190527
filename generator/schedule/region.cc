#include "schedule/region.h"

#include <algorithm>

#include "base/toposort.h"

namespace etch {

Region region_of(const LazyBuffer* out, const std::function<bool(const LazyBuffer*)>& in_memory) {
  const auto is_input = [&](const LazyBuffer* b) {
    return b->is_base() && b != out && (b->kind == LazyKind::Input || b->kind == LazyKind::Data || in_memory(b));
  };
  const auto below = [&](const LazyBuffer* b) -> std::vector<const LazyBuffer*> {
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

std::vector<std::string> origins_of(const Region& region) {
  std::vector<const LazyBuffer*> all = region.inside;
  all.insert(all.end(), region.views.begin(), region.views.end());
  std::ranges::sort(all, {}, &LazyBuffer::number);
  std::vector<std::string> origins;
  for (const LazyBuffer* b : all) {
    if (b->kind == LazyKind::Const || b->base->kind == LazyKind::Const) continue;  // shared by all who need the number
    for (const std::string& o : b->origins)
      if (std::ranges::find(origins, o) == origins.end()) origins.push_back(o);
  }
  return origins;
}

}  // namespace etch
