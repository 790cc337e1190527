// Einsum and determinants.
#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

constexpr std::int64_t kLargestDeterminant = 16;

}  // namespace

Outputs einsum(NodeContext& node) {
  std::vector<Tensor> operands;
  for (int i = 0; i < node.input_count(); i++) {
    if (i > 0) require_same_type(node, 0, i);
    operands.push_back(node.input(i));
  }
  return {
      Tensor::einsum(node.attribute_string("equation"), operands).cast(operands[0].dtype())};  // narrow integers are summed in wide ones
}

/// Bird's algorithm: n - 1 products, no division, so no pivots. F(X) = mu(X) A, where mu(X) is X above the diagonal, 0 below
/// it, and on it the negative sums of the diagonal elements that follow; the corner of F^(n-1)(A) is the determinant, with a sign.
Outputs det(NodeContext& node) {
  const Tensor a = node.input(0);
  if (a.rank() < 2) node.fail("its input has the shape " + shape_text(a.shape()) + ", square matrices are expected");
  const std::int64_t n = fixed_dim(node, a, -1, "input");
  if (!a.dim(-2).is_int(n) || n < 1) node.fail("its input has the shape " + shape_text(a.shape()) + ", square matrices are expected");
  if (n > kLargestDeterminant)
    node.fail("its matrices are " + std::to_string(n) + " x " + std::to_string(n),
              "up to " + std::to_string(kLargestDeterminant) + " are accepted");
  const Tensor wide = widened(a);
  const Tensor unit = Tensor::eye(a.graph(), n, n, wide.dtype());
  Tensor x = wide;
  for (std::int64_t step = 1; step < n; step++) {
    const Tensor diagonal = (x * unit).sum({x.rank() - 1}, false);  // [.., n]
    const Tensor following = diagonal.cumsum(diagonal.rank() - 1, true, true);
    const Tensor mu = x.triu(1) - following.unsqueeze(-1) * unit;
    x = mu.matmul(wide);
  }
  const Tensor corner = x.slice(-1, 0, 1).slice(-2, 0, 1).squeeze({a.rank() - 2, a.rank() - 1});
  return {(n % 2 == 1 ? corner : -corner).cast(a.dtype())};
}

}  // namespace etch::operators
