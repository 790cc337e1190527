// Internal to nn/: tensors in messages.
#pragma once

#include <string>

#include "ir/lazyop.h"
#include "lazy/tensor.h"

namespace etch::nn {

/// "float32 [2,3]"
inline std::string described(const Tensor& t) { return std::string(name_of(t.dtype())) + " " + shape_text(t.shape()); }

}  // namespace etch::nn
