// First values of weights. The numbers are those of Session::rand: Threefry-2x32 with 20 rounds of a key and a counter, so the same seed
// (Session::manual_seed) gives the same network on every backend and machine. Each function draws as many numbers as the tensor has
// elements; normal numbers take two each (Box and Muller's method). Results are realized and require no gradient yet.
#pragma once

#include "jit/session.h"
#include "lazy/tensor.h"

namespace etch::nn {

/// Of [low, high).
Tensor uniform(Session& session, const Shape& shape, double low, double high, DType dtype = DType::Float32);
Tensor normal(Session& session, const Shape& shape, double mean = 0, double deviation = 1, DType dtype = DType::Float32);
/// Of a width that keeps the size of sums: uniform of [-1, 1) divided by the root of the number of elements.
Tensor scaled_uniform(Session& session, const Shape& shape, DType dtype = DType::Float32);
/// Glorot and Bengio 2010: uniform of +-sqrt(6 / (inputs + outputs)), where shape is [outputs, inputs..].
Tensor glorot_uniform(Session& session, const Shape& shape, DType dtype = DType::Float32);
/// He et al. 2015: uniform of +-sqrt(6 / ((1 + slope^2) * inputs)), or normal of a third of that variance; `slope` of the leaky relu.
Tensor kaiming_uniform(Session& session, const Shape& shape, double slope = 0.01, DType dtype = DType::Float32);
Tensor kaiming_normal(Session& session, const Shape& shape, double slope = 0.01, DType dtype = DType::Float32);

}  // namespace etch::nn
