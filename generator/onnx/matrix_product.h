// Products with matrices of weights.
#pragma once

#include "onnx/node.h"

namespace etch::operators {

/// a [.., M, K] times b [K, N], or as Tensor::matmul. Where a product of floats with constant weights has sums of more than
/// LongSums::longest elements they are added up in blocks, one after the other for all rows: the weights of a block and of the columns that
/// a kernel computes side by side stay in the cache until all rows have been multiplied.
///
///     y = 0; for t in 0..n-1: y = y + a[.., t] b[t];    y + a[.., n] b[n], which fuses with what follows
Tensor matrix_product(const NodeContext& node, const Tensor& a, const Tensor& b);

}  // namespace etch::operators
