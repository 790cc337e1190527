// The polynomials are minimax ones for the relative error of the result, their coefficients rounded to float32 from the lowest up, each
// time with the others fitted again. Sums stand where a fused a * b + c gives a result as good.
#include "codegen/math.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/toposort.h"
#include "codegen/builder.h"
#include "codegen/rebuild.h"

namespace etch {
namespace {

// A value in the text of a row.
struct V {
  UOpBuilder* b;
  const UOp* u;

  V number(double x) const { return {b, b->constant(Scalar::of_double(DType::Float32, x))}; }
  V bits(std::uint32_t x) const { return {b, b->constant(Scalar::of_int(DType::UInt32, x))}; }
  V alu(Op op, std::initializer_list<const UOp*> src) const { return {b, b->alu(op, (*src.begin())->dtype, src)}; }
  /// The same value under a name of its own in the text.
  V named(const char* name) const {
    UOp copy = *u;
    copy.name = name;
    return {b, b->add(std::move(copy))};
  }
};

V operator+(V x, V y) { return x.alu(Op::Add, {x.u, y.u}); }
V operator-(V x, V y) { return x.alu(Op::Sub, {x.u, y.u}); }
V operator*(V x, V y) { return x.alu(Op::Mul, {x.u, y.u}); }
V operator/(V x, V y) { return x.alu(Op::Div, {x.u, y.u}); }
V operator+(V x, double y) { return x + x.number(y); }
V operator-(V x, double y) { return x - x.number(y); }
V operator*(V x, double y) { return x * x.number(y); }
V operator+(double x, V y) { return y.number(x) + y; }
V operator-(double x, V y) { return y.number(x) - y; }
V operator/(double x, V y) { return y.number(x) / y; }
V operator<(V x, V y) { return {x.b, x.b->alu(Op::CmpLt, DType::Bool, {x.u, y.u})}; }
V operator<(V x, double y) { return x < x.number(y); }
V operator<(double x, V y) { return y.number(x) < y; }
V equal(V x, double y) { return {x.b, x.b->alu(Op::CmpEq, DType::Bool, {x.u, x.number(y).u})}; }
V choose(V is, V x, V y) { return {x.b, x.b->alu(Op::Where, x.u->dtype, {is.u, x.u, y.u})}; }
V choose(V is, V x, double y) { return choose(is, x, x.number(y)); }
V choose(V is, double x, V y) { return choose(is, y.number(x), y); }

V as(DType dtype, V x) { return {x.b, x.b->add(UOp{.uop = UOpKind::Bitcast, .dtype = dtype, .lanes = x.u->lanes, .src = {x.u}})}; }
V bits_of(V x) { return as(DType::UInt32, x); }
V float_of(V bits) { return as(DType::Float32, bits); }
V to_float(V x) { return {x.b, x.b->cast(x.u, DType::Float32)}; }
V shift_left(V x, int n) { return x.alu(Op::Shl, {x.u, x.bits(static_cast<std::uint32_t>(n)).u}); }
V shift_right(V x, int n) { return x.alu(Op::Shr, {x.u, x.b->constant(Scalar::of_int(DType::Int32, n))}); }
V with_bits(V x, V y) { return x.alu(Op::Or, {x.u, y.u}); }
V only_bits(V x, std::uint32_t mask) { return x.alu(Op::And, {x.u, x.bits(mask).u}); }

// c[0] + c[1] x + ...
V polynomial(V x, std::initializer_list<double> c) {
  const double* last = c.end() - 1;
  V sum = x.number(*last);
  while (last != c.begin()) {
    last--;
    sum = *last < 0 ? sum * x - -*last : sum * x + *last;
  }
  return sum;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kToWhole = 12582912;  // 1.5 * 2^23: a float that it is added to is rounded to a whole number
constexpr std::uint32_t kBitsOfToWhole = 0x4b400000;
constexpr std::uint32_t kOne = 0x3f800000, kHalf = 0x3f000000, kSign = 0x80000000, kMagnitude = 0x7fffffff;
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;  // times a whole number below 2^15 the first one is exact

// x = n ln(2) + r
struct Reduced {
  V whole;  // n + to_whole
  V r;
};
Reduced reduced(V x, V to_whole) {
  const V whole = (x * std::log2(std::exp(1.0)) + to_whole).named("whole");
  const V n = (whole - to_whole).named("n");
  return {whole, ((x - n * kLn2High) + n * -kLn2Low).named("r")};
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2
V exp_rest(V r) { return polynomial(r, {4.9999994e-01, 1.6666521e-01, 4.1668262e-02, 8.368674e-03, 1.3821041e-03}); }

// NaN stays.
V within(V x, double low, double high) {
  const V above = choose(x < low, low, x).named("above");
  return choose(high < above, high, above).named("bounded");
}

// e^r for |r| <= ln(2) / 2
V exp_power(V r) { return exp_rest(r) * (r * r) + r + 1.0; }

// Its lowest bits are n + `more`, if it is added to the n that is rounded: nine of them are what is left when they become an exponent.
constexpr double to_exponent(int more) { return kToWhole + 127 + more; }
V power_of_two(V whole) { return float_of(shift_left(bits_of(whole), 23)); }

// 2^n may be infinite or subnormal: first it is 2^64 times too small or too large, and the last product alone rounds.
V exp_of(V x) {
  const V bounded = within(x, -104, 89), is_small = (x < 0.0).named("is_small");
  const V to_whole = choose(is_small, x.number(to_exponent(64)), x.number(to_exponent(-64))).named("to_whole");
  const auto [whole, r] = reduced(bounded, to_whole);
  return exp_power(r) * power_of_two(whole) * choose(is_small, x.number(0x1p-64), x.number(0x1p64));
}

/// A call of exp's row.
V exp(V x) { return x.alu(Op::Exp, {x.u}); }

// 2^n * (e^r - 1) + (2^n - 1), with half of each, as 2^n may be infinite
V expm1_of(V x) {
  const auto [whole, r] = reduced(within(x, -26, 89), x.number(kToWhole));
  const V power = exp_rest(r) * (r * r) + r;
  const V scale = float_of(shift_left(bits_of(whole) - whole.bits(kBitsOfToWhole), 23) + whole.bits(kHalf)).named("scale");
  const V value = (power * scale + (scale - 0.5)).named("value");
  return choose(equal(x, 0), x, value + value);  // -0.0 stays
}

// log(2^k * m) = k ln(2) + log(m), m from 2/3 to 4/3
V log_of(V x) {
  const V is_small = (x < std::numeric_limits<float>::min()).named("is_subnormal");
  const V normal = choose(is_small, x * 0x1p23, x);
  constexpr std::uint32_t kTwoThirds = 0x3f2aaaab;
  const V above = (bits_of(normal) - x.bits(kTwoThirds)).named("above");
  const V k = (to_float(shift_right(as(DType::Int32, above), 23)) + choose(is_small, x.number(-23), x.number(0))).named("k");
  const V f = (float_of(only_bits(above, 0x007fffff) + x.bits(kTwoThirds)) - 1.0).named("f");
  const V square = (f * f).named("square");
  const V rest = polynomial(f, {3.3333334e-01, -2.4999827e-01, 1.9999681e-01, -1.6679296e-01, 1.4302717e-01, -1.2199418e-01, 1.0769556e-01,
                                -1.283011e-01, 1.1958459e-01});
  const V low = rest * (square * f) + k * kLn2Low - square * 0.5;
  const V value = (k * kLn2High + (f + low)).named("value");
  const V of_positive = choose(equal(x, 0), -kInfinity, choose(x < 0.0, std::numeric_limits<double>::quiet_NaN(), value));
  return choose(x < kInfinity, of_positive, x);
}

// 1 - 2 / (e^2x + 1), near 0 a polynomial
V tanh_of(V x) {
  const V sign = only_bits(bits_of(x), kSign), size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const V square = (x * x).named("square");
  const V near = polynomial(square, {-3.33333e-01, 1.3331936e-01, -5.3784717e-02, 2.0798625e-02, -5.8979667e-03}) * (square * size) + size;
  const V far = (1.0 - 2.0 / (exp(size + size) + 1.0)).named("of_large");
  return float_of(with_bits(bits_of(choose(size < 0.6, near.named("of_small"), far)), sign));
}

// 1 - e^p, near 0 a polynomial
V erf_of(V x) {
  const V sign = only_bits(bits_of(x), kSign), size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const V square = (x * x).named("square");
  const V factor =
      polynomial(square, {1.2837917e-01, -3.7612626e-01, 1.1283579e-01, -2.6853347e-02, 5.187162e-03, -7.997853e-04, 7.806903e-05});
  const V near = (factor * size + size).named("of_small");
  const V most = choose(4.0 < size, 4.0, size).named("most");  // beyond it is 1
  const V exponent = polynomial(
      most, {1.7468445e-04, -1.1295149, -6.333469e-01, -1.0828004e-01, 2.5119351e-02, -4.171009e-03, 4.344446e-04, -2.1092741e-05});
  const V far = (1.0 - exp(exponent)).named("of_large");
  return float_of(with_bits(bits_of(choose(size < 0.95, near, far)), sign));
}

// With e = e^-|x| it is e / (1 + e) or 1 / (1 + e); what 1 + e has rounded off is taken into account.
V sigmoid_of(V x) {
  const V below = float_of(with_bits(bits_of(x), x.bits(kSign))).named("below");
  const V bounded = choose(below < -104, -104, below).named("bounded");
  const auto [whole, r] = reduced(bounded, x.number(to_exponent(64)));
  const V e = (exp_power(r) * power_of_two(whole) * 0x1p-64).named("e");
  const V sum = (1.0 + e).named("sum");
  const V rest = e - (sum - 1.0);
  const V ratio = (choose(x < 0.0, e, 1.0) / sum).named("ratio");
  return ratio - ratio * rest;
}

template <V (*f)(V)>
const UOp* value_of(UOpBuilder& builder, const UOp* x) {
  return f({&builder, x}).u;
}

constexpr MathFunction kRows[] = {
    {Op::Exp, "exp", "expf", "e^x = 2^n e^r, within 2 ulp", value_of<exp_of>},
    {Op::Expm1, "expm1", "expm1f", "e^x - 1 = 2^n (e^r - 1) + (2^n - 1), within 2 ulp", value_of<expm1_of>},
    {Op::Log, "log", "logf", "log(x) = k log(2) + log(1 + f), within 1 ulp", value_of<log_of>},
    {Op::Tanh, "tanh", "tanhf", "tanh(x) = 1 - 2 / (e^2x + 1), near 0 a polynomial, within 2 ulp", value_of<tanh_of>},
    {Op::Erf, "erf", "erff", "erf(x) = 1 - e^p(x), near 0 a polynomial, within 2 ulp", value_of<erf_of>},
    {Op::Sigmoid, "sigmoid", "", "1 / (1 + e^-x), within 2 ulp", value_of<sigmoid_of>},
};

// Adds the steps to `builder` and returns the value for `x`.
const UOp* add_steps(UOpBuilder& builder, const UOpList& steps, const UOp* x) {
  std::unordered_map<const UOp*, const UOp*> now;  // look-up only
  for (const UOp* u : steps.order) {
    UOp copy = *u;
    for (const UOp*& s : copy.src) s = now.at(s);
    now[u] = u->uop == UOpKind::DefineVar ? x : builder.add(std::move(copy));
  }
  return now.at(steps.order.back());
}

}  // namespace

const MathFunction* math_function(Op op) {
  const auto found = std::ranges::find(kRows, op, &MathFunction::op);
  return found == std::end(kRows) ? nullptr : &*found;
}

std::vector<std::string> functions_of_library() {
  std::vector<std::string> names;
  for (const MathFunction& row : kRows)
    if (!row.c_name.empty()) names.emplace_back(row.c_name);
  return names;
}

const MathFunction* expansion_of(Op op, DType dtype, const CodegenOptions& options) {
  if (!is_float(dtype) || dtype == DType::Float64) return nullptr;
  const MathFunction* row = math_function(op);
  if (row == nullptr) return nullptr;
  const std::string_view library = row->c_name.empty() ? math_function(Op::Exp)->c_name : row->c_name;
  return std::ranges::find(options.library_math, library) == options.library_math.end() ? row : nullptr;
}

bool has_vector_form(Op op, const CodegenOptions& options) {
  return has_vector_form(op) || expansion_of(op, DType::Float32, options) != nullptr;
}

// What C++ adds first of two operands is the compiler's choice: in the list the sources of a value come before it in their order.
UOpList math_steps(const MathFunction& function, int lanes) {
  UOpBuilder any_order, in_order;
  const UOp* x = any_order.add(UOp{.uop = UOpKind::DefineVar, .dtype = DType::Float32, .lanes = lanes, .name = "x"});
  std::unordered_map<const UOp*, const UOp*> now;  // look-up only
  for (const UOp* u : toposort<UOp>({function.value(any_order, x)}, [](const UOp* v) { return v->src; })) {
    UOp copy = *u;
    for (const UOp*& s : copy.src) s = now.at(s);
    now[u] = in_order.add(std::move(copy));
  }
  return in_order.finish();
}

UOpList expand_math(const UOpList& uops, const CodegenOptions& options) {
  const auto row_of = [&](const UOp& u) { return u.uop == UOpKind::Alu ? expansion_of(u.op, u.dtype, options) : nullptr; };
  UOpList now = uops;
  while (std::ranges::any_of(now.order, [&](const UOp* u) { return row_of(*u) != nullptr; }))  // a row may call another
    now = rebuild(now, [&](UOpBuilder& b, UOp u, const UOp* original) {
      const MathFunction* row = row_of(u);
      if (row == nullptr) return add_again(b, std::move(u), original);
      const UOp* x = b.cast(u.src[0], DType::Float32);  // float16 and bfloat16 are rounded behind the steps
      return b.cast(add_steps(b, math_steps(*row, x->lanes), x), u.dtype);
    });
  return now;
}

}  // namespace etch
