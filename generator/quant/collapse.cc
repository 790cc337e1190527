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

Tensor along_masks(const Tensor& t) {
  if (t.buffer()->base->kind != LazyKind::Const) return t;
  const std::vector<bool> masked = t.buffer()->st.masked_axes();
  Padding ranges;
  for (int axis = 0; axis < t.rank(); axis++) ranges.emplace_back(0, masked[static_cast<std::size_t>(axis)] ? t.dim(axis) : Sint(1));
  return t.shrink(ranges);
}

Tensor inside_of(LazyGraph& graph, const LazyBuffer* view) {
  const LazyBuffer* everywhere = graph.constant(Scalar::of_int(DType::Bool, 1), view->base->shape());
  return {&graph, graph.view(everywhere, graph.stacked(everywhere->st, view->st))};
}

}  // namespace etch
