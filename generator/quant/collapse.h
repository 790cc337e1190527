// Internal to quant/: constants without their repetitions.
#pragma once

#include <vector>

#include "lazy/tensor.h"

namespace etch {

/// `t`, where an axis along which all elements are the same has size 1, except the axes in `keep`.
Tensor collapsed(const Tensor& t, const std::vector<int>& keep = {});

}  // namespace etch
