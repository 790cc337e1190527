// Einsum and determinants.
#include <fmt/format.h>

#include <optional>

#include "base/runtime_text.h"
#include "interp/determinant.h"
#include "ir/external.h"
#include "ir/lazyop.h"
#include "lazy/graph.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

/// Larger matrices are eliminated: products alone are (n - 1) n^3 multiplications, and lose digits.
constexpr std::int64_t kLargestByProducts = 3;

/// Bird's algorithm: n - 1 products, no division, so no pivots. F(X) = mu(X) A, where mu(X) is X above the diagonal, 0 below
/// it, and on it the negative sums of the diagonal elements that follow; the corner of F^(n-1)(A) is the determinant, with a sign.
Tensor determinant_by_products(const Tensor& a, std::int64_t n) {
  const Tensor unit = Tensor::eye(a.graph(), n, n, a.dtype());
  Tensor x = a;
  for (std::int64_t step = 1; step < n; step++) {
    const Tensor diagonal = (x * unit).sum({x.rank() - 1}, false);  // [.., n]
    const Tensor following = diagonal.cumsum(diagonal.rank() - 1, true, true);
    const Tensor mu = x.triu(1) - following.unsqueeze(-1) * unit;
    x = mu.matmul(a);
  }
  const Tensor corner = x.slice(-1, 0, 1).slice(-2, 0, 1).squeeze({a.rank() - 2, a.rank() - 1});
  return n % 2 == 1 ? corner : -corner;
}

std::shared_ptr<const std::vector<ExternalFile>> files_of_runtime(const std::vector<std::string>& names) {
  std::vector<ExternalFile> files;
  for (const std::string& name : names) files.push_back({.name = name, .text = std::string(runtime_text(name)), .of_runtime = true});
  return std::make_shared<const std::vector<ExternalFile>>(std::move(files));
}

/// By the function of runtime_c, which works in its second output.
Tensor determinant_by_elimination(const Tensor& a, std::int64_t n) {
  const std::optional<Array> known = a.requires_grad() == RequiresGrad::Yes ? std::nullopt : a.evaluate();
  if (known) return Tensor::constant(a.graph(), determinants(*known));
  const DType dtype = a.dtype();
  const std::string type(info(dtype).c_type);
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  ExternalKernel kernel;
  kernel.op = "Det";
  kernel.function = "etch_det_" + type;
  kernel.file = kernel.function + ".c";
  kernel.declaration =
      fmt::format("void {0}({1} *determinant, {1} *work, const {1} *matrix, int32_t count, int32_t n)", kernel.function, type);
  kernel.outputs = {{dtype, batch}, {dtype, {n, n}, true}};
  kernel.scalars = {{"count", "int32_t", product(batch), ""}, {"n", "int32_t", n, ""}};
  kernel.files = files_of_runtime({"etch_det.h", "etch_det_of.h", kernel.file});
  kernel.reference = [dtype, n](const std::vector<const Array*>& inputs, const std::vector<std::vector<std::int64_t>>& shapes) {
    const Array matrices = inputs.at(0)->reshaped({inputs.at(0)->size() / (n * n), n, n});
    return std::vector<Array>{determinants(matrices).reshaped(shapes.at(0)), Array::filled(dtype, shapes.at(1), Scalar::of_int(dtype, 0))};
  };
  return Tensor::external(a.graph(), std::make_shared<const ExternalKernel>(std::move(kernel)), {a}).at(0);
}

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

Outputs det(NodeContext& node) {
  const Tensor a = node.input(0);
  if (a.rank() < 2) node.fail("its input has the shape " + shape_text(a.shape()) + ", square matrices are expected");
  const std::int64_t n = fixed_dim(node, a, -1, "input");
  if (!a.dim(-2).is_int(n) || n < 1) node.fail("its input has the shape " + shape_text(a.shape()) + ", square matrices are expected");
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  if (is_empty(batch)) return {Tensor::full(a.graph(), batch, Scalar::of_int(a.dtype(), 0))};
  return {n <= kLargestByProducts ? determinant_by_products(a, n) : determinant_by_elimination(a, n)};
}

}  // namespace etch::operators
