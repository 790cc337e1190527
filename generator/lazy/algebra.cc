#include "lazy/algebra.h"

#include <cmath>
#include <optional>

#include "base/error.h"
#include "interp/interp.h"

namespace etch {
namespace {

bool is_value(const Scalar* s, double value) {
  if (s == nullptr) return false;
  return is_float(s->dtype()) ? *s == Scalar::of_double(s->dtype(), value)
                              : *s == Scalar::of_int(s->dtype(), static_cast<std::int64_t>(value));
}

bool all_bits(const Scalar* s) {
  return s != nullptr && (s->dtype() == DType::Bool ? s->bits() == 1 : *s == Scalar::of_int(s->dtype(), -1));
}

/// x op c; `c` is the value of the right operand.
const LazyBuffer* simplify_right(LazyGraph& graph, Op op, const LazyBuffer* x, const LazyBuffer* right, const Scalar* c) {
  const bool floats = is_float(x->dtype), is_bool = x->dtype == DType::Bool;
  // -0.0 + x is x for every x, 0.0 + x is not.
  if (op == Op::Add && (floats ? is_value(c, -0.0) && std::signbit(c->as_double()) : is_value(c, 0))) return x;
  if (op == Op::Sub && is_value(c, 0.0) && (!floats || !std::signbit(c->as_double()))) return x;
  if ((op == Op::Mul || op == Op::Div) && is_value(c, 1)) return x;
  if (op == Op::Mul && !floats && is_value(c, 0)) return right;
  if (op == Op::Mul && floats && is_value(c, -1)) return graph.elementwise(Op::Neg, {x});
  if (op == Op::And && all_bits(c)) return x;
  if (op == Op::And && is_value(c, 0)) return right;
  if ((op == Op::Or || op == Op::Xor || op == Op::Shl || op == Op::Shr) && is_value(c, 0)) return x;
  if (op == Op::Or && all_bits(c)) return right;
  if (is_bool && op == Op::CmpEq && is_value(c, 1)) return x;
  if (is_bool && op == Op::CmpNe && is_value(c, 0)) return x;
  // Two negations: (x xor c) xor d.
  if (op == Op::Xor && is_op(x, Op::Xor))
    if (const Scalar* inner = const_value(x->src[1]); inner != nullptr)
      return graph.elementwise(Op::Xor, {x->src[0], graph.constant(fold_scalars(Op::Xor, {*inner, *c}), x->shape())});
  // x / c is x * (1 / c) exactly where c is a power of two whose inverse is a normal number.
  if (op == Op::Div && floats) {
    int exponent = 0;
    const double value = c->as_double();
    if (std::isfinite(value) && std::fabs(std::frexp(value, &exponent)) == 0.5 && exponent > -13 && exponent < 14)
      return graph.elementwise(Op::Mul, {x, graph.constant(Scalar::of_double(x->dtype, 1 / value), x->shape())});
  }
  return nullptr;
}

const LazyBuffer* simplify_where(const std::vector<const LazyBuffer*>& src) {
  if (src[1] == src[2]) return src[1];
  const Scalar* condition = const_value(src[0]);
  if (condition == nullptr) return nullptr;
  return condition->bits() != 0 ? src[1] : src[2];
}

}  // namespace

Scalar fold_scalars(Op op, const std::vector<Scalar>& values) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({});
  std::vector<const LazyOp*> src;
  for (const Scalar& v : values) src.push_back(ops.constant(v, st));
  return interp_evaluate(ops.store(0, ops.elementwise(op, src), st), {}, {}).at(0);
}

bool is_lossless(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  const DTypeInfo &a = info(from), &b = info(to);
  if (b.kind == DTypeKind::Bool) return false;
  if (a.kind == DTypeKind::Float) {
    if (b.kind != DTypeKind::Float) return false;
    return to == DType::Float64 || (to == DType::Float32 && from != DType::Float64);
  }
  if (b.kind == DTypeKind::Float) {
    const int digits = to == DType::Float64 ? 53 : to == DType::Float32 ? 24 : to == DType::Float16 ? 11 : 8;
    return 8 * a.bytes <= digits;
  }
  if (a.kind == DTypeKind::Signed) return b.kind == DTypeKind::Signed && b.bytes >= a.bytes;
  return b.bytes > a.bytes || (b.kind == DTypeKind::Unsigned && b.bytes == a.bytes);
}

const LazyBuffer* simplify_elementwise(LazyGraph& graph, Op op, const std::vector<const LazyBuffer*>& src) {
  std::vector<Scalar> values;
  for (const LazyBuffer* s : src)
    if (const Scalar* v = const_value(s)) values.push_back(*v);
  if (values.size() == src.size()) return graph.constant(fold_scalars(op, values), src[0]->shape());
  if (op == Op::Where) return simplify_where(src);
  if (op == Op::Neg && is_op(src[0], Op::Neg)) return src[0]->src[0];
  if (src.size() != 2) return nullptr;
  if (is_idempotent(op) && src[0] == src[1]) return src[0];
  if (op == Op::Sub && src[0] == src[1] && !is_float(src[0]->dtype))
    return graph.constant(Scalar::of_int(src[0]->dtype, 0), src[0]->shape());
  if (const Scalar* right = const_value(src[1])) return simplify_right(graph, op, src[0], src[1], right);
  if (const_value(src[0]) == nullptr || !is_commutative(op)) return nullptr;
  // Canonical order of operands, so that x + 1 and 1 + x are one buffer.
  return graph.elementwise(op, {src[1], src[0]});
}

const LazyBuffer* simplify_reduce(LazyGraph& graph, Op op, const LazyBuffer* a, const std::vector<int>& axes) {
  std::vector<Sint> shape = a->shape();
  Sint count = 1;
  for (int axis : axes) {
    count = count * shape[static_cast<std::size_t>(axis)];
    shape[static_cast<std::size_t>(axis)] = 1;
  }
  if (count.is_int(0) || is_empty(shape)) return graph.constant(start_of(op, a->dtype), shape);
  const Scalar* value = const_value(a);
  if (value == nullptr) return nullptr;
  if (is_idempotent(reduce_info(op).step)) return graph.constant(*value, shape);
  if (!count.is_int()) return nullptr;
  if (op == Op::ReduceSum)
    return graph.constant(fold_scalars(Op::Mul, {*value, Scalar::of_double(a->dtype, static_cast<double>(count.as_int()))}), shape);
  if (is_float(a->dtype))
    return graph.constant(Scalar::of_double(a->dtype, std::pow(value->as_double(), static_cast<double>(count.as_int()))), shape);
  return nullptr;
}

}  // namespace etch
