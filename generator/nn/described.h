// Internal to nn/: tensors and arrays in messages.
#pragma once

#include <string>

#include "ir/array.h"
#include "ir/lazyop.h"
#include "lazy/tensor.h"

namespace etch::nn {

/// "float32 [2,3]"
inline std::string described(const Tensor& t) { return std::string(name_of(t.dtype())) + " " + shape_text(t.shape()); }
inline std::string described(const Array& a) {
  return std::string(name_of(a.dtype())) + " " + shape_text(Shape(a.shape().begin(), a.shape().end()));
}

}  // namespace etch::nn
