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

/// `given` with every field filled in and checked, for a tensor of `rank` axes of which the first two are not in the window.
Window complete_window(const Window& given, int rank, const char* what);
/// Elements from the first that a window reads along its axis i to the last.
inline std::int64_t window_extent(const Window& w, std::size_t i) { return w.dilation[i] * (w.kernel[i] - 1) + 1; }
/// The last n axes of the windows view: those of the kernel.
std::vector<int> kernel_axes(std::size_t n);
/// Sum of products in the type that sums of `dtype` accumulate in; half types are cast back.
Tensor sum_of_products(const Tensor& a, const Tensor& b, DType dtype, const std::vector<int>& axes);

inline std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace etch
