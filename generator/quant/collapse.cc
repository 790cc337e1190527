#include "quant/collapse.h"

#include <algorithm>

#include "lazy/graph.h"

namespace etch {

Tensor collapsed(const Tensor& t, const std::vector<int>& keep) {
  const auto strides = t.buffer()->st.real_strides();
  Padding ranges;
  bool cuts = false;
  for (int axis = 0; axis < t.rank(); axis++) {
    const auto& stride = strides[static_cast<std::size_t>(axis)];
    const bool cut = stride && stride->is_int(0) && !t.dim(axis).is_int(1) && std::ranges::find(keep, axis) == keep.end();
    ranges.emplace_back(0, cut ? Sint(1) : t.dim(axis));
    cuts = cuts || cut;
  }
  return cuts ? t.shrink(ranges) : t;
}

}  // namespace etch
