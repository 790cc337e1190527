// Determinants, the reference for kernels that compute them by functions in C.
#pragma once

#include <vector>

#include "ir/array.h"

namespace etch {

/// The determinant of each n x n matrix in `matrices` [..., n, n], floats, as an array [...] of the same type: computed in double by
/// Eigen's elimination with row pivots, rounded once.
Array determinants(const Array& matrices);

}  // namespace etch
