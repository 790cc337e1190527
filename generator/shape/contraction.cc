// get_contraction: which old axes make up each new axis.
#include "shape/shapetracker.h"

namespace etch {

std::optional<std::vector<std::vector<int>>> get_contraction(const std::vector<Sint>& old_shape, const std::vector<Sint>& new_shape) {
  std::vector<Sint> old_sizes, new_sizes;  // running products
  for (const Sint& s : old_shape) old_sizes.push_back(old_sizes.empty() ? s : old_sizes.back() * s);
  for (const Sint& s : new_shape) new_sizes.push_back(new_sizes.empty() ? s : new_sizes.back() * s);
  std::vector<int> splits;
  for (const Sint& size : new_sizes) {
    int at = 0;
    if (!size.is_int(1)) {
      while (at < static_cast<int>(old_sizes.size()) && old_sizes[static_cast<std::size_t>(at)] != size) at++;
      if (at == static_cast<int>(old_sizes.size())) return std::nullopt;
      at++;
    }
    splits.push_back(at);
  }
  if (!splits.empty()) splits.back() = static_cast<int>(old_shape.size());
  std::vector<std::vector<int>> result;
  int from = 0;
  for (int to : splits) {
    std::vector<int> axes;
    for (int k = from; k < to; k++) axes.push_back(k);
    result.push_back(std::move(axes));
    from = to;
  }
  return result;
}

}  // namespace etch
