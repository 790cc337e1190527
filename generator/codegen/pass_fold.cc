// Pass: exact simplification and common subexpressions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "codegen/passes.h"
#include "codegen/rebuild.h"

namespace etch {
namespace {

bool is_const(const UOp* u) { return u->uop == UOpKind::Const; }

// The number that all lanes are, or null.
const UOp* number_in_all_lanes(const UOp* u) {
  const bool is_one = u->uop == UOpKind::Vectorize && std::ranges::all_of(u->src, [&](const UOp* s) { return s == u->src[0]; });
  const UOp* number = is_one ? u->src[0] : u;
  return is_const(number) ? number : nullptr;
}

bool is_zero(const UOp* u) {
  const UOp* c = number_in_all_lanes(u);
  return c != nullptr && !is_float(u->dtype) && c->value->as_int() == 0;
}
bool is_one(const UOp* u) {
  const UOp* c = number_in_all_lanes(u);
  return c != nullptr && (is_float(u->dtype) ? c->value->as_double() == 1.0 : c->value->as_int() == 1);
}

int bits_of(DType d) { return 8 * bytes_of(d); }

std::optional<Scalar> evaluate_int(Op op, DType dtype, std::int64_t a, std::int64_t b) {
  const auto wrapped = [&](std::uint64_t v) { return Scalar::of_int(dtype, static_cast<std::int64_t>(v)); };
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool is_u64 = dtype == DType::UInt64;
  const bool less = is_u64 ? ua < ub : a < b;
  const bool more = is_u64 ? ub < ua : b < a;
  const bool wide_shift = is_u64 ? ub >= 64 : (b < 0 || b >= bits_of(dtype));
  switch (op) {
    case Op::Neg:
      return wrapped(0 - ua);
    case Op::Add:
      return wrapped(ua + ub);
    case Op::Sub:
      return wrapped(ua - ub);
    case Op::Mul:
      return wrapped(ua * ub);
    case Op::Div:
      if (b == 0) return wrapped(0);
      if (is_u64) return wrapped(ua / ub);
      return b == -1 ? wrapped(0 - ua) : Scalar::of_int(dtype, a / b);
    case Op::Mod:
      if (b == 0) return wrapped(0);
      if (is_u64) return wrapped(ua % ub);
      return b == -1 ? wrapped(0) : Scalar::of_int(dtype, a % b);
    case Op::Max:
      return Scalar::of_int(dtype, less ? b : a);
    case Op::Min:
      return Scalar::of_int(dtype, more ? b : a);
    case Op::And:
      return wrapped(ua & ub);
    case Op::Or:
      return wrapped(ua | ub);
    case Op::Xor:
      return wrapped(ua ^ ub);
    case Op::Shl:
      return wide_shift ? wrapped(0) : wrapped(ua << ub);
    case Op::Shr:
      if (is_u64) return wide_shift ? wrapped(0) : wrapped(ua >> ub);
      return Scalar::of_int(dtype, a >> (wide_shift ? 63 : b));
    case Op::CmpLt:
      return Scalar::of_int(DType::Bool, less ? 1 : 0);
    case Op::CmpEq:
      return Scalar::of_int(DType::Bool, a == b ? 1 : 0);
    case Op::CmpNe:
      return Scalar::of_int(DType::Bool, a != b ? 1 : 0);
    // Not integer arithmetic: left as it is.
    // clang-format off
    case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin: case Op::Cos: case Op::Tan: case Op::Asin:
    case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh:
    case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Cast: case Op::Bitcast:
    case Op::Pow: case Op::Where: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin:
    case Op::ReduceProd: case Op::Load: case Op::Const: case Op::Index: case Op::Expand: case Op::Store: return std::nullopt;
      // clang-format on
  }
  return std::nullopt;
}

// float32 arithmetic is done in float; float16 and bfloat16 in float too, then rounded (which of_double does).
template <class F>
std::optional<Scalar> evaluate_float(Op op, DType dtype, F a, F b) {
  const auto result = [&](F v) { return Scalar::of_double(dtype, static_cast<double>(v)); };
  const auto truth = [](bool v) { return Scalar::of_int(DType::Bool, v ? 1 : 0); };
  switch (op) {
    case Op::Neg:
      return result(-a);
    case Op::Add:
      return result(a + b);
    case Op::Sub:
      return result(a - b);
    case Op::Mul:
      return result(a * b);
    case Op::Div:
      return result(a / b);
    case Op::Max:
      return result(a < b || b != b ? b : a);
    case Op::Min:
      return result(b < a || b != b ? b : a);
    case Op::Sqrt:
      return result(std::sqrt(a));
    case Op::Floor:
      return result(std::floor(a));
    case Op::Ceil:
      return result(std::ceil(a));
    case Op::Trunc:
      return result(std::trunc(a));
    case Op::CmpLt:
      return truth(a < b);
    case Op::CmpEq:
      return truth(a == b);
    case Op::CmpNe:
      return truth(a != b);
    // Functions of the C library are left to the target's library.
    // clang-format off
    case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin: case Op::Cos: case Op::Tan: case Op::Asin:
    case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh:
    case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Rint: case Op::RintSmall: case Op::Cast: case Op::Bitcast: case Op::Mod: case Op::Pow: case Op::And: case Op::Or:
    case Op::Xor: case Op::Shl: case Op::Shr: case Op::Where: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax:
    case Op::ReduceMin: case Op::ReduceProd: case Op::Load: case Op::Const: case Op::Index: case Op::Expand: case Op::Store: return std::nullopt;
      // clang-format on
  }
  return std::nullopt;
}

// condition ? wide(condition ? x : 0) : number, integers, is wide(condition ? x : number) if the number has a place in the type of x.
const UOp* fold_into_widened_load(UOpBuilder& b, const UOp& u) {
  const auto [condition, yes, all] = std::array{u.src[0], u.src[1], u.src[2]};
  const UOp* no = number_in_all_lanes(all);
  if (yes->uop != UOpKind::Cast || no == nullptr || !is_int(u.dtype) || yes->lanes != u.lanes || condition->lanes != 1) return nullptr;
  const UOp* x = yes->src[0];
  if (x->uop != UOpKind::Load || x->src.size() != 4 || x->src[2] != condition || !is_int(x->dtype)) return nullptr;
  const std::int64_t number = no->value->as_int();
  if (bytes_of(x->dtype) >= bytes_of(u.dtype) || number < int_min(x->dtype) || number > int_max(x->dtype)) return nullptr;
  UOp load = *x;
  load.src[3] = b.constant(Scalar::of_int(x->dtype, number));
  return b.add(UOp{.uop = UOpKind::Cast, .dtype = u.dtype, .lanes = u.lanes, .src = {b.add(std::move(load))}, .hint = u.hint});
}

const UOp* fold_where(UOpBuilder& b, const UOp& u) {
  const auto [condition, yes, no] = std::array{u.src[0], u.src[1], u.src[2]};
  if (is_const(condition)) return condition->value->as_int() != 0 ? yes : no;
  if (yes == no) return yes;
  const bool is_truth = u.dtype == DType::Bool && is_const(yes) && is_const(no) && yes->value->as_int() != 0 && no->value->as_int() == 0;
  if (is_truth && condition->lanes == u.lanes) return condition;
  // A load under the same condition: the other value becomes the one that it gives elsewhere. The parts of a concatenation become a chain.
  if (const UOp* widened = fold_into_widened_load(b, u)) return widened;
  if (yes->uop != UOpKind::Load || yes->src.size() != 4 || yes->src[2] != condition || yes->lanes != u.lanes || no->lanes != u.lanes)
    return nullptr;
  UOp load = *yes;
  load.src[3] = no;
  return b.add(std::move(load));
}

// The largest, or the smallest, value of an integer type.
bool is_extreme(const UOp* u, bool largest) {
  const UOp* c = number_in_all_lanes(u);
  return c != nullptr && c->value->as_int() == (largest ? int_max(u->dtype) : int_min(u->dtype));
}

// x + 0 is x, and so on; nullptr if no rule applies. For floats x + 0 is not x (x may be -0.0), but x - 0 is.
const UOp* fold_identity(UOpBuilder& builder, const UOp& u) {
  const UOp* a = u.src[0];
  const UOp* b = u.src.size() > 1 ? u.src[1] : nullptr;
  if (u.op == Op::Where) return fold_where(builder, u);
  if (b == nullptr || u.src.size() > 2) return nullptr;
  const bool is_integer = !is_float(a->dtype) && a->dtype != DType::Bool;
  const auto keep = [&](const UOp* x) { return x->lanes == u.lanes && x->dtype == u.dtype ? x : nullptr; };
  if (u.op == Op::Mul && is_one(b)) return keep(a);
  if (u.op == Op::Mul && is_one(a)) return keep(b);
  if (u.op == Op::Div && is_one(b)) return keep(a);
  if (u.op == Op::Sub && is_float(a->dtype) && is_const(b) && b->value->bits() == 0) return keep(a);
  if (is_integer && u.dtype == a->dtype) {
    if ((u.op == Op::Max && is_extreme(a, false)) || (u.op == Op::Min && is_extreme(a, true))) return keep(b);
    if ((u.op == Op::Max && is_extreme(b, false)) || (u.op == Op::Min && is_extreme(b, true))) return keep(a);
    if ((u.op == Op::Max && is_extreme(a, true)) || (u.op == Op::Min && is_extreme(a, false))) return keep(a);
    if ((u.op == Op::Max && is_extreme(b, true)) || (u.op == Op::Min && is_extreme(b, false))) return keep(b);
    if ((u.op == Op::Add || u.op == Op::Or || u.op == Op::Xor) && is_zero(a)) return keep(b);
    if ((u.op == Op::Add || u.op == Op::Sub || u.op == Op::Or || u.op == Op::Xor || u.op == Op::Shl || u.op == Op::Shr) && is_zero(b))
      return keep(a);
    if ((u.op == Op::Mul || u.op == Op::And) && is_zero(a)) return keep(a);
    if ((u.op == Op::Mul || u.op == Op::And) && is_zero(b)) return keep(b);
  }
  if (u.dtype == DType::Bool && a->dtype == DType::Bool && (u.op == Op::And || u.op == Op::Or)) {
    const bool neutral = u.op == Op::And;
    if (is_const(a)) return (a->value->as_int() != 0) == neutral ? b : a;
    if (is_const(b)) return (b->value->as_int() != 0) == neutral ? a : b;
    if (a == b) return a;
  }
  return nullptr;
}

const UOp* fold_load(UOpBuilder& b, UOp& u) {
  if (u.src.size() != 4 || !is_const(u.src[2])) return nullptr;
  if (u.src[2]->value->as_int() == 0) return u.lanes == u.src[3]->lanes ? u.src[3] : nullptr;
  u.src.resize(2);
  return b.add(std::move(u));
}

const UOp* fold(UOpBuilder& b, UOp& u) {
  if (u.uop == UOpKind::Load) return fold_load(b, u);
  if (u.uop == UOpKind::Gep && u.src[0]->uop == UOpKind::Vectorize) return u.src[0]->src[static_cast<std::size_t>(u.number)];
  if (u.uop == UOpKind::Cast && is_const(u.src[0])) return b.constant(u.src[0]->value->cast(u.dtype));
  if (u.uop == UOpKind::Cast && u.src[0]->dtype == u.dtype) return u.src[0];
  // An accumulator that is assigned its own value.
  if (u.uop == UOpKind::Phi && (u.src[1] == u.src[0] || (u.src[1]->uop == UOpKind::Phi && u.src[1]->src[0] == u.src[0]))) return u.src[1];
  if (u.uop != UOpKind::Alu) return nullptr;
  if (const UOp* same = fold_identity(b, u)) return same;
  const bool is_integer = !is_float(u.src[0]->dtype) && u.src[0]->dtype != DType::Bool;
  if (u.src.size() == 2 && u.src[0] == u.src[1] && !is_float(u.src[0]->dtype) && gives_bool(u.op))
    return b.constant(Scalar::of_int(DType::Bool, u.op == Op::CmpEq ? 1 : 0));
  if (u.op == Op::CmpLt && is_integer && u.lanes == 1 && (is_extreme(u.src[0], true) || is_extreme(u.src[1], false)))
    return b.constant(Scalar::of_int(DType::Bool, 0));
  std::vector<Scalar> values;
  for (const UOp* s : u.src) {
    if (!is_const(s)) return nullptr;
    values.push_back(*s->value);
  }
  const auto value = evaluate(u.op, u.dtype, values);
  return value ? b.constant(*value) : nullptr;
}

}  // namespace

std::optional<Scalar> evaluate(Op op, DType dtype, const std::vector<Scalar>& src) {
  if (op == Op::Where) return src[0].as_int() != 0 ? src[1] : src[2];
  if (op == Op::MulAcc) {
    const auto product = evaluate(Op::Mul, dtype, {src[0], src[1]});
    return product && !is_float(dtype) ? evaluate(Op::Add, dtype, {*product, src[2]}) : std::nullopt;
  }
  const DType type = src[0].dtype();
  const Scalar& b = src.back();
  if (type == DType::Float64) return evaluate_float<double>(op, dtype, src[0].as_double(), b.as_double());
  if (is_float(type)) return evaluate_float<float>(op, dtype, static_cast<float>(src[0].as_double()), static_cast<float>(b.as_double()));
  return evaluate_int(op, dtype, src[0].as_int(), b.as_int());
}

UOpList fold_constants(const UOpList& uops) {
  return rebuild(uops, [](UOpBuilder& b, UOp u, const UOp* original) {
    if (const UOp* simpler = fold(b, u)) return simpler;
    return add_again(b, std::move(u), original);
  });
}

}  // namespace etch
