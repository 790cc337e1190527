#include "interp/elementwise.h"

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ir/scalar.h"

namespace etch::interp {
namespace {

using Doubles = Eigen::Map<const Eigen::ArrayXd>;
using DoublesOut = Eigen::Map<Eigen::ArrayXd>;

Doubles doubles(const Block& b, std::size_t n) { return {b.f.data(), static_cast<Eigen::Index>(n)}; }
DoublesOut doubles(Block& b, std::size_t n) { return {b.f.data(), static_cast<Eigen::Index>(n)}; }

std::uint64_t u(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t s(std::uint64_t v) { return static_cast<std::int64_t>(v); }
bool less(DType dtype, std::int64_t a, std::int64_t b) { return dtype == DType::UInt64 ? u(a) < u(b) : a < b; }

template <class F>
void each(std::size_t n, double* out, const double* a, F f) {
  for (std::size_t k = 0; k < n; k++) out[k] = f(a[k]);
}

// a < b ? b : a, but NaN if either is.
double larger(double a, double b) { return a < b || std::isnan(b) ? b : a; }
double smaller(double a, double b) { return b < a || std::isnan(b) ? b : a; }

// clang-format off: one operation a line
void float_unary(Op op, const Block& a, std::size_t n, Block& out) {
  const Doubles x = doubles(a, n);
  DoublesOut y = doubles(out, n);
  double* to = out.f.data();
  const double* from = a.f.data();
  switch (op) {
    case Op::Neg: y = -x; return;
    case Op::Sqrt: y = x.sqrt(); return;
    case Op::Exp: case Op::ExpNonPos: return each(n, to, from, [](double v) { return std::exp(v); });
    case Op::Exp2: return each(n, to, from, [](double v) { return std::exp2(v); });
    case Op::Log: return each(n, to, from, [](double v) { return std::log(v); });
    case Op::Log2: return each(n, to, from, [](double v) { return std::log2(v); });
    case Op::Expm1: return each(n, to, from, [](double v) { return std::expm1(v); });
    case Op::Log1p: return each(n, to, from, [](double v) { return std::log1p(v); });
    case Op::Sin: return each(n, to, from, [](double v) { return std::sin(v); });
    case Op::Cos: return each(n, to, from, [](double v) { return std::cos(v); });
    case Op::Tan: return each(n, to, from, [](double v) { return std::tan(v); });
    case Op::Asin: return each(n, to, from, [](double v) { return std::asin(v); });
    case Op::Acos: return each(n, to, from, [](double v) { return std::acos(v); });
    case Op::Atan: return each(n, to, from, [](double v) { return std::atan(v); });
    case Op::Sinh: return each(n, to, from, [](double v) { return std::sinh(v); });
    case Op::Cosh: return each(n, to, from, [](double v) { return std::cosh(v); });
    case Op::Tanh: return each(n, to, from, [](double v) { return std::tanh(v); });
    case Op::Asinh: return each(n, to, from, [](double v) { return std::asinh(v); });
    case Op::Acosh: return each(n, to, from, [](double v) { return std::acosh(v); });
    case Op::Atanh: return each(n, to, from, [](double v) { return std::atanh(v); });
    case Op::Erf: return each(n, to, from, [](double v) { return std::erf(v); });
    case Op::Sigmoid: return each(n, to, from, [](double v) { return 1 / (1 + std::exp(-v)); });
    case Op::Gelu: return each(n, to, from, [](double v) { return v * 0.5 * std::erfc(-v / std::numbers::sqrt2); });
    case Op::Floor: return each(n, to, from, [](double v) { return std::floor(v); });
    case Op::Ceil: return each(n, to, from, [](double v) { return std::ceil(v); });
    case Op::Trunc: return each(n, to, from, [](double v) { return std::trunc(v); });
    case Op::Rint: case Op::RintSmall: return each(n, to, from, [](double v) { return std::nearbyint(v); });
    // Not unary, or not an operation of one float.
    case Op::Cast: case Op::Bitcast: case Op::Add: case Op::Sub: case Op::Mul: case Op::Div: case Op::Mod: case Op::Max: case Op::Min:
    case Op::Pow: case Op::CmpLt: case Op::CmpEq: case Op::CmpNe: case Op::And: case Op::Or: case Op::Xor: case Op::Shl: case Op::Shr:
    case Op::Where: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin: case Op::ReduceProd: case Op::Load:
    case Op::Const: case Op::Index: case Op::Expand: case Op::Store: break;
  }
  check(false, "a unary operation on floats");
}

// clang-format on
template <class F>
void compare(std::size_t n, std::int64_t* out, F f) {
  for (std::size_t k = 0; k < n; k++) out[k] = f(k) ? 1 : 0;
}

// False: not a binary operation on floats.
// clang-format off: one operation a line
bool float_binary(Op op, const Block& a, const Block& b, std::size_t n, Block& out) {
  const Doubles x = doubles(a, n), y = doubles(b, n);
  const double *p = a.f.data(), *q = b.f.data();
  switch (op) {
    case Op::Add: doubles(out, n) = x + y; return true;
    case Op::Sub: doubles(out, n) = x - y; return true;
    case Op::Mul: doubles(out, n) = x * y; return true;
    case Op::Div: doubles(out, n) = x / y; return true;
    case Op::Mod: for (std::size_t k = 0; k < n; k++) out.f[k] = std::fmod(p[k], q[k]); return true;
    case Op::Max: for (std::size_t k = 0; k < n; k++) out.f[k] = larger(p[k], q[k]); return true;
    case Op::Min: for (std::size_t k = 0; k < n; k++) out.f[k] = smaller(p[k], q[k]); return true;
    case Op::Pow: for (std::size_t k = 0; k < n; k++) out.f[k] = std::pow(p[k], q[k]); return true;
    case Op::CmpLt: compare(n, out.i.data(), [&](std::size_t k) { return p[k] < q[k]; }); return true;
    case Op::CmpEq: compare(n, out.i.data(), [&](std::size_t k) { return p[k] == q[k]; }); return true;
    case Op::CmpNe: compare(n, out.i.data(), [&](std::size_t k) { return p[k] != q[k]; }); return true;
    case Op::Neg: case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin: case Op::Cos: case Op::Tan: case Op::Asin:
    case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu:
    case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Cast: case Op::Bitcast: case Op::And: case Op::Or:
    case Op::Xor: case Op::Shl: case Op::Shr: case Op::Where: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin:
    case Op::ReduceProd: case Op::Load: case Op::Const: case Op::Index: case Op::Expand: case Op::Store: return false;
  }
  return false;
}
// clang-format on

std::int64_t divide(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (dtype == DType::UInt64) return s(u(a) / u(b));
  if (b == -1) return s(0 - u(a));
  return a / b;
}
std::int64_t modulo(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (dtype == DType::UInt64) return s(u(a) % u(b));
  return b == -1 ? 0 : a % b;
}
// A negative shift amount counts as a very large one: everything is shifted out.
std::int64_t shift_left(DType dtype, std::int64_t a, std::int64_t b) {
  return u(b) >= 8u * static_cast<unsigned>(bytes_of(dtype)) ? 0 : s(u(a) << b);
}
std::int64_t shift_right(DType dtype, std::int64_t a, std::int64_t b) {
  const bool all = u(b) >= 8u * static_cast<unsigned>(bytes_of(dtype));
  if (is_unsigned(dtype)) return all ? 0 : s(u(a) >> b);
  return a >> (all ? 63 : b);
}

// One integer operation; the result is not wrapped yet. Operations that don't exist for integers are an internal error.
// clang-format off: one operation a line
std::int64_t int_op(Op op, DType dtype, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::Neg: return s(0 - u(a));
    case Op::Add: return s(u(a) + u(b));
    case Op::Sub: return s(u(a) - u(b));
    case Op::Mul: return s(u(a) * u(b));
    case Op::Div: return divide(dtype, a, b);
    case Op::Mod: return modulo(dtype, a, b);
    case Op::Max: return less(dtype, a, b) ? b : a;
    case Op::Min: return less(dtype, b, a) ? b : a;
    case Op::CmpLt: return less(dtype, a, b);
    case Op::CmpEq: return a == b;
    case Op::CmpNe: return a != b;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Shl: return shift_left(dtype, a, b);
    case Op::Shr: return shift_right(dtype, a, b);
    case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin: case Op::Cos: case Op::Tan: case Op::Asin: case Op::Acos:
    case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Sqrt:
    case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Cast: case Op::Bitcast: case Op::Pow: case Op::Where:
    case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin: case Op::ReduceProd: case Op::Load: case Op::Const:
    case Op::Index: case Op::Expand: case Op::Store: break;
  }
  check(false, "an operation on integers");
  return 0;
}
// clang-format on

void int_apply(Op op, DType dtype, DType src_dtype, const std::int64_t* a, const std::int64_t* b, std::size_t n, std::int64_t* out) {
  const auto run = [&](auto f) {
    for (std::size_t k = 0; k < n; k++) out[k] = wrapped(dtype, f(a[k], b[k]));
  };
  // Frequent operations have a loop without a switch.
  if (op == Op::Add) return run([](std::int64_t x, std::int64_t y) { return s(u(x) + u(y)); });
  if (op == Op::Sub) return run([](std::int64_t x, std::int64_t y) { return s(u(x) - u(y)); });
  if (op == Op::Mul) return run([](std::int64_t x, std::int64_t y) { return s(u(x) * u(y)); });
  if (op == Op::CmpEq) return run([](std::int64_t x, std::int64_t y) -> std::int64_t { return x == y; });
  run([&](std::int64_t x, std::int64_t y) { return int_op(op, src_dtype, x, y); });
}

std::int64_t float_to_int(DType dtype, double v) {
  if (dtype == DType::Bool) return v != 0;
  if (std::fabs(v) < 9223372036854775808.0) return wrapped(dtype, static_cast<std::int64_t>(v));
  return Scalar::of_double(dtype, v).as_int();
}

double int_to_float(DType dtype, DType src_dtype, std::int64_t v) {
  if (dtype == DType::Float64) return src_dtype == DType::UInt64 ? static_cast<double>(u(v)) : static_cast<double>(v);
  // Not through double, which would round twice; to 16-bit types through float, as C and ONNX convert.
  return rounded(dtype, static_cast<double>(src_dtype == DType::UInt64 ? static_cast<float>(u(v)) : static_cast<float>(v)));
}

void cast(DType dtype, DType src_dtype, const Block& a, std::size_t n, Block& out) {
  if (is_float(src_dtype) && is_float(dtype)) {
    const bool widens = bytes_of(dtype) > bytes_of(src_dtype);
    for (std::size_t k = 0; k < n; k++) out.f[k] = widens ? a.f[k] : rounded(dtype, a.f[k]);
  } else if (is_float(src_dtype)) {
    for (std::size_t k = 0; k < n; k++) out.i[k] = float_to_int(dtype, a.f[k]);
  } else if (is_float(dtype)) {
    for (std::size_t k = 0; k < n; k++) out.f[k] = int_to_float(dtype, src_dtype, a.i[k]);
  } else {
    for (std::size_t k = 0; k < n; k++) out.i[k] = wrapped(dtype, a.i[k]);
  }
}

std::int64_t bits_of(DType dtype, double v) {
  if (dtype == DType::Float64) return std::bit_cast<std::int64_t>(v);
  if (dtype == DType::Float32) return std::bit_cast<std::int32_t>(static_cast<float>(v));
  return dtype == DType::Float16 ? double_to_half(v) : double_to_bfloat16(v);
}
double of_bits(DType dtype, std::int64_t bits) {
  if (dtype == DType::Float64) return std::bit_cast<double>(bits);
  if (dtype == DType::Float32) return static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(bits)));
  const auto half = static_cast<std::uint16_t>(bits);
  return static_cast<double>(dtype == DType::Float16 ? half_to_float(half) : bfloat16_to_float(half));
}

void bitcast(DType dtype, DType src_dtype, const Block& a, std::size_t n, Block& out) {
  for (std::size_t k = 0; k < n; k++) {
    const std::int64_t bits = is_float(src_dtype) ? bits_of(src_dtype, a.f[k]) : a.i[k];
    if (is_float(dtype)) {
      out.f[k] = of_bits(dtype, bits);
    } else {
      out.i[k] = wrapped(dtype, bits);
    }
  }
}

double float_step(Op step, double a, double b) {
  if (step == Op::Add) return a + b;
  if (step == Op::Mul) return a * b;
  return step == Op::Max ? larger(a, b) : smaller(a, b);
}

}  // namespace

double rounded(DType dtype, double value) {
  if (dtype == DType::Float64) return value;
  if (dtype == DType::Float32) return static_cast<double>(static_cast<float>(value));
  return Scalar::of_double(dtype, value).as_double();
}

void apply(Op op, DType dtype, DType src_dtype, const std::vector<const Block*>& src, std::size_t n, Block& out) {
  const Block& a = *src[0];
  if (op == Op::Cast) return cast(dtype, src_dtype, a, n, out);
  if (op == Op::Bitcast) return bitcast(dtype, src_dtype, a, n, out);
  if (op == Op::Where) {
    for (std::size_t k = 0; k < n; k++) {
      const Block& chosen = a.i[k] != 0 ? *src[1] : *src[2];
      if (is_float(dtype)) {
        out.f[k] = chosen.f[k];
      } else {
        out.i[k] = chosen.i[k];
      }
    }
    return;
  }
  if (op == Op::MulAcc) {
    for (std::size_t k = 0; k < n; k++) {
      if (is_float(dtype)) {
        out.f[k] = a.f[k] * src[1]->f[k] + src[2]->f[k];
      } else {
        out.i[k] = wrapped(dtype, s(u(a.i[k]) * u(src[1]->i[k]) + u(src[2]->i[k])));
      }
    }
    return;
  }
  if (!is_float(src_dtype)) return int_apply(op, dtype, src_dtype, a.i.data(), src.back()->i.data(), n, out.i.data());
  if (src.size() == 1) return float_unary(op, a, n, out);
  check(float_binary(op, a, *src[1], n, out), "a binary operation on floats");
}

void round_block(DType dtype, std::size_t n, Block& block) {
  if (!is_float(dtype) || dtype == DType::Float64) return;
  if (dtype == DType::Float32)
    return each(n, block.f.data(), block.f.data(), [](double v) { return static_cast<double>(static_cast<float>(v)); });
  each(n, block.f.data(), block.f.data(), [=](double v) { return rounded(dtype, v); });
}

void start(Op reduce, DType dtype, std::size_t n, Block& acc) {
  const Scalar value = start_of(reduce, dtype);
  if (is_float(dtype)) {
    std::fill_n(acc.f.begin(), n, value.as_double());
  } else {
    std::fill_n(acc.i.begin(), n, value.as_int());
  }
}

void accumulate(Op reduce, DType dtype, const Block& values, std::size_t n, Block& acc) {
  const Op step = reduce_info(reduce).step;
  if (is_float(dtype)) {
    float_binary(step, acc, values, n, acc);
  } else {
    int_apply(step, dtype, dtype, acc.i.data(), values.i.data(), n, acc.i.data());
  }
}

void accumulate_run(Op reduce, DType dtype, const Block& values, std::size_t from, std::size_t n, Block& acc, std::size_t at) {
  const Op step = reduce_info(reduce).step;
  if (is_float(dtype)) {
    const Doubles x(values.f.data() + from, static_cast<Eigen::Index>(n));
    if (step == Op::Add) {
      acc.f[at] += x.sum();
      return;
    }
    for (std::size_t k = from; k < from + n; k++) acc.f[at] = float_step(step, acc.f[at], values.f[k]);
    return;
  }
  for (std::size_t k = from; k < from + n; k++) acc.i[at] = wrapped(dtype, int_op(step, dtype, acc.i[at], values.i[k]));
}

}  // namespace etch::interp
