// Elementwise operations.
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

/// The tensor in a float type: integers and bool become float32.
Tensor as_float(const Tensor& x) { return x.cast(least_upper_float(x.dtype())); }

/// x to an integer power >= 1, by repeated squaring.
Tensor whole_power(const Tensor& x, std::int64_t exponent) {
  Tensor result, square = x;
  for (std::int64_t left = exponent; left > 0; left >>= 1) {
    if ((left & 1) != 0) result = result ? result * square : square;
    if (left > 1) square = square * square;
  }
  return result;
}

/// Powers with a constant exponent that have a cheaper form that is as exact; nullopt for others.
std::optional<Tensor> constant_power(const Tensor& x, const Scalar& exponent) {
  const double e = exponent.as_double();
  if (e == 0) return x.full_like(1);
  if (!is_float(x.dtype())) {
    if (e > 0 && e <= 64) return whole_power(x, exponent.as_int());
    return std::nullopt;
  }
  if (e == 1 || e == 2 || e == 3 || e == 4) return whole_power(x, static_cast<std::int64_t>(e));
  if (e == -1) return x.reciprocal();
  if (e == 0.5) {  // pow(-inf, 0.5) is inf and pow(-0.0, 0.5) is 0.0, unlike the square root
    const double infinity = std::numeric_limits<double>::infinity();
    return x.equal(x.full_like(-infinity)).where(x.full_like(infinity), (x + 0.0).sqrt());
  }
  return std::nullopt;
}

Tensor power(const Tensor& x, const Tensor& exponent) {
  if (const Scalar* e = const_value(exponent.buffer()))
    if (const auto simple = constant_power(x, *e)) return *simple;
  if (is_float(x.dtype())) return apply(Op::Pow, {x, exponent});
  // Exact up to 2^53.
  return apply(Op::Pow, {x.cast(DType::Float64), exponent.cast(DType::Float64)}).cast(x.dtype());
}

}  // namespace

Tensor Tensor::unary(Op op) const {
  check(info(op).group == OpGroup::Unary, "a unary operation");
  if (op == Op::Neg && dtype() == DType::Bool) return logical_not();
  if (is_legal(op, dtype())) return apply(op, {*this});
  if (gives_whole_numbers(op)) return *this;
  return apply(op, {as_float(*this)});
}

Tensor Tensor::neg() const { return unary(Op::Neg); }

Tensor Tensor::logical_not() const {
  const Tensor truth = cast(DType::Bool);
  return apply(Op::Xor, {truth, full(*graph_, shape(), Scalar::of_int(DType::Bool, 1))});
}

Tensor Tensor::bitwise_not() const {
  if (is_float(dtype())) throw ShapeError("bitwise not: of " + std::string(name_of(dtype())) + "; accepted are bool and integers");
  if (dtype() == DType::Bool) return logical_not();
  return apply(Op::Xor, {*this, full(*graph_, shape(), Scalar::of_int(dtype(), -1))});
}

Tensor Tensor::binary(Op op, const Tensor& a, const Tensor& b) {
  check(info(op).group == OpGroup::Binary, "a binary operation");
  const DType dtype = least_upper_dtype(a.dtype(), b.dtype());
  if (dtype == DType::Bool && (op == Op::Add || op == Op::Mul)) op = op == Op::Add ? Op::Or : Op::And;
  if (op != Op::Pow && !is_legal(op, dtype)) throw ShapeError(std::string(name_of(op)) + ": of " + std::string(name_of(dtype)));
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const Tensor x = broadcast_to(promote(a, dtype), shape), y = broadcast_to(promote(b, dtype), shape);
  return op == Op::Pow ? power(x, y) : apply(op, {x, y});
}

Tensor Tensor::where(const Tensor& a, const Tensor& b) const {
  if (dtype() != DType::Bool) throw ShapeError("where: the condition is " + std::string(name_of(dtype())) + ", accepted is bool");
  const DType type = least_upper_dtype(a.dtype(), b.dtype());
  const Shape wide = broadcast_shapes(broadcast_shapes(shape(), a.shape()), b.shape());
  return apply(Op::Where, {broadcast_to(*this, wide), broadcast_to(promote(a, type), wide), broadcast_to(promote(b, type), wide)});
}

Tensor Tensor::reciprocal() const {
  const Tensor x = as_float(*this);
  return x.full_like(1) / x;
}

Tensor Tensor::abs() const {
  if (dtype() == DType::Bool || is_unsigned(dtype())) return *this;
  return apply(Function::Abs, {*this});
}

Tensor Tensor::sign() const { return dtype() == DType::Bool ? *this : apply(Function::Sign, {*this}); }

Tensor Tensor::square() const { return *this * *this; }
Tensor Tensor::relu() const { return apply(Function::Relu, {*this}); }

Tensor Tensor::sigmoid() const { return as_float(*this).unary(Op::Sigmoid); }

Tensor Tensor::clip(std::optional<double> low, std::optional<double> high) const {
  Tensor x = *this;
  if (low) x = x.maximum(full_like(*low));
  if (high) x = x.minimum(full_like(*high));
  return x;
}

Tensor Tensor::leaky_relu(double slope) const {
  const Tensor x = as_float(*this);
  return (x < 0.0).where(x * slope, x);
}

namespace {

/// `x` where it is below 0, for a function that is taken there alone: where it would be infinite, its gradient times 0 would be NaN.
Tensor below_zero(const Tensor& x) { return x.requires_grad() == RequiresGrad::Yes ? x.minimum(x.full_like(0)) : x; }

}  // namespace

Tensor Tensor::elu(double alpha) const {
  const Tensor x = as_float(*this);
  return (x < 0.0).where(below_zero(x).expm1() * alpha, x);
}

Tensor Tensor::selu() const { return elu(1.67326319217681884765625) * 1.05070102214813232421875; }

Tensor Tensor::celu(double alpha) const {
  const Tensor x = as_float(*this);
  return (x < 0.0).where((below_zero(x) / alpha).expm1() * alpha, x);
}

Tensor Tensor::gelu(bool tanh_form) const {
  const Tensor x = as_float(*this);
  if (!tanh_form) return x.unary(Op::Gelu);
  const Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
  return x * 0.5 * (inner.tanh() + 1.0);
}

Tensor Tensor::silu() const { return as_float(*this) * sigmoid(); }
Tensor Tensor::hardswish() const { return as_float(*this) * hardsigmoid(1.0 / 6, 0.5); }
Tensor Tensor::hardsigmoid(double alpha, double beta) const { return (as_float(*this) * alpha + beta).clip(0, 1); }

Tensor Tensor::softplus() const { return apply(Function::Softplus, {as_float(*this)}); }

Tensor Tensor::softsign() const {
  const Tensor x = as_float(*this);
  return x / (x.abs() + 1.0);
}

Tensor Tensor::mish() const { return as_float(*this) * softplus().tanh(); }

}  // namespace etch
