// Internal to lazy/: helpers that the files of Tensor share.
#pragma once

#include <vector>

#include "lazy/tensor.h"

namespace etch {

/// `axis` from 0 to rank - 1; a ShapeError that names `what` if there is no such axis.
int normal_axis(int axis, int rank, const char* what);
/// The same for several axes, ascending; an axis that is named twice is a ShapeError.
std::vector<int> normal_axes(std::vector<int> axes, int rank, const char* what);
/// The same; no axes mean all axes.
std::vector<int> reduced_axes(const std::vector<int>& axes, int rank, const char* what);
Shape broadcast_shapes(const Shape& a, const Shape& b);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// `x` in `dtype`.
Tensor promote(const Tensor& x, DType dtype);

/// For an error about `expr`, which must not be negative: " where W < 3", " for every size (W is 8..64)" if it always is, else
/// " for some sizes (W is 8..64)"; "" for an int.
std::string where_negative(const Sint& expr);

inline std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace etch
