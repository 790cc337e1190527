// Internal to quant/: constants without their repetitions, and masks.
#pragma once

#include <vector>

#include "lazy/tensor.h"

namespace etch {

/// `t`, where an axis along which all elements are the same has size 1, except the axes in `keep`.
Tensor collapsed(const Tensor& t, const std::vector<int>& keep = {});

/// `t`, of a single constant that masks alone make different: axes that no mask depends on have size 1. Others stay as they are.
Tensor along_masks(const Tensor& t);

/// Where `view` shows an element of its base: bool.
Tensor inside_of(LazyGraph& graph, const LazyBuffer* view);

}  // namespace etch
