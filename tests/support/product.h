// For tests of kernels: a matrix product small enough to count by hand.
#pragma once

#include "ir/lazyop.h"

namespace etch::test {

/// An 8 x 6 by 6 x 5 product: axes 8, 5 and the reduced 6.
inline const LazyOp* product_8x6x5(LazyOps& ops) {
  const ShapeTracker a = ShapeTracker::from_shape({8, 6}).reshape({8, 1, 6}).expand({8, 5, 6});
  const ShapeTracker b = ShapeTracker::from_shape({6, 5}).permute({1, 0}).reshape({1, 5, 6}).expand({8, 5, 6});
  const LazyOp* product = ops.elementwise(Op::Mul, {ops.load(1, DType::Float32, a), ops.load(2, DType::Float32, b)});
  return ops.store(0, ops.reduce(Op::ReduceSum, product, {2}), ShapeTracker::from_shape({8, 5, 1}));
}

}  // namespace etch::test
