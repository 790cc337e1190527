// Which axes of a view run along an axis of the buffer below it. With that, whole indices of an axis can leave a buffer, and every view of
// it still shows the others: a convolution's windows of 256 channels become the same windows of 37.
#pragma once

#include <cstdint>
#include <vector>

#include "shape/shapetracker.h"

namespace etch {

/// An axis of a view, of which each index shows one index of an axis of the buffer, wherever the other indices are:
///   x [1,8,5,5], padded and cut into windows [1,8,3,3,3,3]: axis 1 of the view runs along axis 1, from = 0, 1, ... 7
///   the same, flattened to [200]: axis 0 along axis 1, from = 0 (25 times), 1 (25 times), ...
///   x [1,2], padded to [1,4]: axis 1 along axis 1, from = 0, 1, -1, -2
struct AxisLink {
  int base_axis = -1;  // -1: along `axis`, the view shows the same again and again, or padding
  int axis = 0;        // of the view
  /// Per index of `axis`: that of base_axis, or of the axis that repeats; negative: padding. Where it is equal, also if it is negative, the
  /// indices are kept together.
  std::vector<std::int64_t> from;
  /// Whether the padding of other axes shows at some indices of this one: an axis that was flattened with padded ones.
  bool has_other_padding = false;

  bool operator==(const AxisLink&) const = default;
};

/// The links that are proved between `st` and a contiguous buffer of shape `base_shape`; each axis has at most one, axes of size 1 and
/// sizes that are expressions have none.
std::vector<AxisLink> axis_links(const ShapeTracker& st, const std::vector<Sint>& base_shape);

/// `st` over a buffer of which, along link.base_axis, only the indices in `of_base` are left, dense and in their order: a view that shows
/// the indices in `of_view` of link.axis. An index of the view that shows one of the buffer is kept if that is, and one of them is.
ShapeTracker keep_indices(const ShapeTracker& st, const std::vector<Sint>& base_shape, const AxisLink& link,
                          const std::vector<bool>& of_base, const std::vector<bool>& of_view);

}  // namespace etch
