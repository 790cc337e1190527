// Elementwise operators on one tensor: mathematical functions, rounding, activations.
#include <cmath>

#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

Outputs unary(NodeContext& node, Op op) { return {node.input(0).unary(op)}; }

}  // namespace

Outputs acos(NodeContext& node) { return unary(node, Op::Acos); }
Outputs acosh(NodeContext& node) { return unary(node, Op::Acosh); }
Outputs asin(NodeContext& node) { return unary(node, Op::Asin); }
Outputs asinh(NodeContext& node) { return unary(node, Op::Asinh); }
Outputs atan(NodeContext& node) { return unary(node, Op::Atan); }
Outputs atanh(NodeContext& node) { return unary(node, Op::Atanh); }
Outputs ceil(NodeContext& node) { return unary(node, Op::Ceil); }
Outputs cos(NodeContext& node) { return unary(node, Op::Cos); }
Outputs cosh(NodeContext& node) { return unary(node, Op::Cosh); }
Outputs erf(NodeContext& node) { return unary(node, Op::Erf); }
Outputs exp(NodeContext& node) { return unary(node, Op::Exp); }
Outputs floor(NodeContext& node) { return unary(node, Op::Floor); }
Outputs log(NodeContext& node) { return unary(node, Op::Log); }
Outputs round(NodeContext& node) { return unary(node, Op::Rint); }
Outputs sin(NodeContext& node) { return unary(node, Op::Sin); }
Outputs sinh(NodeContext& node) { return unary(node, Op::Sinh); }
Outputs sqrt(NodeContext& node) { return unary(node, Op::Sqrt); }
Outputs tan(NodeContext& node) { return unary(node, Op::Tan); }
Outputs tanh(NodeContext& node) { return unary(node, Op::Tanh); }
Outputs reciprocal(NodeContext& node) { return {node.input(0).reciprocal()}; }
Outputs sigmoid(NodeContext& node) { return {node.input(0).sigmoid()}; }
Outputs softplus(NodeContext& node) { return {node.input(0).softplus()}; }
Outputs softsign(NodeContext& node) { return {node.input(0).softsign()}; }
Outputs hard_swish(NodeContext& node) { return {node.input(0).hardswish()}; }
Outputs mish(NodeContext& node) { return {node.input(0).mish()}; }

Outputs abs(NodeContext& node) { return {node.input(0).abs()}; }

Outputs neg(NodeContext& node) {
  const Tensor x = node.input(0);
  if (is_unsigned(x.dtype())) {
    node.fail("the input is " + std::string(name_of(x.dtype())) + ", Neg takes signed integers and floats",
              "insert a Cast before the node");
  }
  return {-x};
}

Outputs sign(NodeContext& node) { return {node.input(0).sign()}; }

Outputs elu(NodeContext& node) { return {node.input(0).elu(node.attribute_float("alpha", 1.0))}; }

Outputs celu(NodeContext& node) {
  const double alpha = node.attribute_float("alpha", 1.0);
  if (alpha == 0) node.fail("attribute alpha is 0, Celu divides by it", "give another alpha");
  return {node.input(0).celu(alpha)};
}

Outputs gelu(NodeContext& node) {
  const std::string form = node.attribute_string("approximate", "none");
  if (form != "none" && form != "tanh") node.fail("attribute approximate is '" + form + "'", "accepted are none and tanh");
  return {node.input(0).gelu(form == "tanh")};
}

// The defaults are ONNX's, which are float32: 0.2 means 0.2f, also for a float64 tensor.
Outputs hard_sigmoid(NodeContext& node) {
  const double alpha = node.attribute_float("alpha", 0.2f), beta = node.attribute_float("beta", 0.5);
  return {node.input(0).hardsigmoid(alpha, beta)};
}

Outputs leaky_relu(NodeContext& node) { return {node.input(0).leaky_relu(node.attribute_float("alpha", 0.01f))}; }

Outputs selu(NodeContext& node) {
  const double alpha = node.attribute_float("alpha", 1.67326319217681884765625),
               gamma = node.attribute_float("gamma", 1.05070102214813232421875);
  const Tensor x = node.input(0);
  const Tensor negative = number(x, alpha) * x.expm1();
  return {number(x, gamma) * (number(x, 0) < x).where(x, negative)};
}

/// x where x > alpha, else 0.
Outputs thresholded_relu(NodeContext& node) {
  const Tensor x = node.input(0);
  return {(number(x, node.attribute_float("alpha", 1.0)) < x).where(x, number(x, 0))};
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
Outputs shrink(NodeContext& node) {
  const Tensor x = node.input(0);
  const double bias = node.attribute_float("bias", 0.0), lambd = node.attribute_float("lambd", 0.5);
  const Tensor zero = integer(x, 0);
  if (is_float(x.dtype())) {
    const Tensor above = (number(x, lambd) < x).where(x - number(x, bias), zero);
    return {(x < number(x, -lambd)).where(x + number(x, bias), above)};
  }
  if (bias != std::trunc(bias))
    node.fail("attribute bias is " + std::to_string(bias) + " with integers", "give a whole bias, or cast to float before");
  // For a whole x: x < -lambd is x < ceil(-lambd), x > lambd is x > floor(lambd); out of the type's range neither or all are.
  const double low = std::ceil(-lambd), high = std::floor(lambd);
  const Tensor wide = x.cast(DType::Int64);  // a uint64 above 2^63 would be negative: it is above every lambd we accept
  if (x.dtype() == DType::UInt64 || std::abs(lambd) > 9e15)
    node.fail("lambd " + std::to_string(lambd) + " with " + std::string(name_of(x.dtype())), "cast to int64 or float before");
  const Tensor shift = number(x, bias);
  const Tensor above = (number(wide, high) < wide).where(x - shift, zero);
  return {(wide < number(wide, low)).where(x + shift, above)};
}

/// x below zero is multiplied by the slope, which broadcasts to x (not the other way).
Outputs prelu(NodeContext& node) {
  require_inputs(node, 2, 2);
  require_same_type(node, 0, 1);
  const Tensor x = node.input(0), slope = node.input(1);
  if (slope.rank() > x.rank())
    node.fail("the slope has " + std::to_string(slope.rank()) + " axes, x has " + std::to_string(x.rank()), "reshape the slope");
  const Tensor result = (x < integer(x, 0)).where(x * slope, x);
  if (result.shape() != x.shape()) node.fail("the slope does not broadcast to the shape of x", "reshape the slope");
  return {result};
}

/// 1 at the first largest element, else 0. Since opset 13 along one axis, before that over all axes from `axis` on.
Outputs hardmax(NodeContext& node) {
  const Tensor x = node.input(0);
  const bool flat = node.opset() < 13;
  const std::int64_t attribute = node.attribute_int("axis", flat ? 1 : -1);
  if (flat && attribute == x.rank()) return {x.full_like(1)};
  const int axis = axis_of(node, attribute, x.rank());
  Tensor rows = x;
  if (flat) {
    Sint inner = 1;
    for (int i = axis; i < x.rank(); i++) inner = inner * x.dim(i);
    Shape shape(x.shape().begin(), x.shape().begin() + axis);
    shape.push_back(inner);
    rows = x.reshape(shape);
  }
  const Tensor best = rows.argmax(axis, true);
  const Tensor hit = best.equal(positions(x.graph(), rows.dim(axis), axis, rows.rank()));
  return {hit.cast(x.dtype()).reshape(x.shape())};
}

}  // namespace etch::operators
