// Arithmetic with several operands, matrix products, Clip.
#include "ir/lazyop.h"
#include "onnx/matrix_product.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

Outputs two_operands(NodeContext& node, Op op) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  return {Tensor::binary(op, node.input(0), node.input(1))};
}

Tensor fold_operands(NodeContext& node, Op op) {
  if (node.input_count() == 0) node.fail("it has no inputs, at least one is expected");
  Tensor result = node.input(0);
  for (int i = 1; i < node.input_count(); i++) {
    require_same_type(node, 0, i);
    result = Tensor::binary(op, result, node.input(i));
  }
  return result;
}

/// A bound of Clip: absent, a constant (which takes no memory) or a scalar that is computed.
std::optional<Tensor> clip_bound(NodeContext& node, int i, const std::string& what) {
  if (!node.has_input(i)) return std::nullopt;
  require_same_type(node, 0, i);
  const Tensor bound = node.input(i);
  if (!bound.size().is_int(1)) node.fail(what + " has the shape " + shape_text(bound.shape()) + ", one value is expected");
  if (const auto constant = node.constant(i)) return Tensor::full(node.graph(), {}, constant->at(0));
  return bound.reshape({});
}

}  // namespace

Outputs add(NodeContext& node) { return two_operands(node, Op::Add); }
Outputs sub(NodeContext& node) { return two_operands(node, Op::Sub); }
Outputs mul(NodeContext& node) { return two_operands(node, Op::Mul); }
Outputs div(NodeContext& node) { return two_operands(node, Op::Div); }
Outputs sum(NodeContext& node) { return {fold_operands(node, Op::Add)}; }
Outputs max(NodeContext& node) { return {fold_operands(node, Op::Max)}; }
Outputs min(NodeContext& node) { return {fold_operands(node, Op::Min)}; }

Outputs mean(NodeContext& node) {
  const Tensor total = fold_operands(node, Op::Add);
  return {total / number(total, node.input_count())};
}

Outputs clip(NodeContext& node) {
  const Tensor x = node.input(0);
  std::optional<Tensor> low, high;
  if (node.opset() < 11) {
    if (node.has_attribute("min")) low = number(x, node.attribute_float("min"));
    if (node.has_attribute("max")) high = number(x, node.attribute_float("max"));
  } else {
    low = clip_bound(node, 1, "min");
    high = clip_bound(node, 2, "max");
  }
  Tensor result = x;
  if (low) result = result.maximum(*low);
  if (high) result = result.minimum(*high);
  return {result};
}

Outputs matmul(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  return {matrix_product(node, node.input(0), node.input(1))};
}

Outputs gemm(NodeContext& node) {
  require_same_type(node, 0, 1);
  Tensor a = node.input(0), b = node.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    node.fail("its inputs have the shapes " + shape_text(a.shape()) + " and " + shape_text(b.shape()) + ", matrices are expected");
  if (node.attribute_int("transA", 0) != 0) a = a.transpose();
  if (node.attribute_int("transB", 0) != 0) b = b.transpose();
  const double alpha = node.attribute_float("alpha", 1.0), beta = node.attribute_float("beta", 1.0);
  const auto scaled = [&](const Tensor& x, double factor, const std::string& name) {
    if (!is_float(x.dtype()) && factor != static_cast<double>(static_cast<std::int64_t>(factor))) {
      node.fail("attribute " + name + " is " + std::to_string(factor) + ", integer matrices need a whole number");
    }
    return factor == 1.0 ? x : x * number(x, factor);
  };
  Tensor result = scaled(matrix_product(node, a, b), alpha, "alpha");
  if (node.has_input(2)) {
    require_same_type(node, 0, 2);
    const Tensor c = scaled(node.input(2), beta, "beta");
    const Shape shape = result.shape();
    result = result + c;
    if (!(result.shape() == shape))
      node.fail("input C has the shape " + shape_text(c.shape()) + ", it must broadcast to " + shape_text(shape));
  }
  return {result};
}

}  // namespace etch::operators
