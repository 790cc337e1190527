// The polynomials are minimax ones for the relative error of the result, their coefficients rounded to float32 from the lowest up, each
// time with the others fitted again. Sums stand where a fused a * b + c gives a result as good.
#include "codegen/math.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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
V operator-(V x) { return x.alu(Op::Neg, {x.u}); }
V operator+(V x, double y) { return x + x.number(y); }
V operator-(V x, double y) { return x - x.number(y); }
V operator*(V x, double y) { return x * x.number(y); }
V operator-(double x, V y) { return y.number(x) - y; }
V operator/(double x, V y) { return y.number(x) / y; }
V operator<(V x, V y) { return {x.b, x.b->alu(Op::CmpLt, DType::Bool, {x.u, y.u})}; }
V operator<(V x, double y) { return x < x.number(y); }
V operator<(double x, V y) { return y.number(x) < y; }
V equal(V x, V y) { return {x.b, x.b->alu(Op::CmpEq, DType::Bool, {x.u, y.u})}; }
V equal(V x, double y) { return equal(x, x.number(y)); }
V choose(V is, V x, V y) { return {x.b, x.b->alu(Op::Where, x.u->dtype, {is.u, x.u, y.u})}; }
V choose(V is, V x, double y) { return choose(is, x, x.number(y)); }
V choose(V is, double x, V y) { return choose(is, y.number(x), y); }
V choose(V is, double x, double y) { return choose(is, is.number(x), is.number(y)); }

V as(DType dtype, V x) { return {x.b, x.b->add(UOp{.uop = UOpKind::Bitcast, .dtype = dtype, .lanes = x.u->lanes, .src = {x.u}})}; }
V bits_of(V x) { return as(DType::UInt32, x); }
V float_of(V bits) { return as(DType::Float32, bits); }
V to_float(V x) { return {x.b, x.b->cast(x.u, DType::Float32)}; }
V shift_left(V x, int n) { return x.alu(Op::Shl, {x.u, x.bits(static_cast<std::uint32_t>(n)).u}); }
V shift_right(V x, int n) { return x.alu(Op::Shr, {x.u, x.b->constant(Scalar::of_int(x.u->dtype, n))}); }
V operator<<(V x, V n) { return x.alu(Op::Shl, {x.u, n.u}); }
V operator>>(V x, V n) { return x.alu(Op::Shr, {x.u, n.u}); }
V operator&(V x, V y) { return x.alu(Op::And, {x.u, y.u}); }
V operator^(V x, V y) { return x.alu(Op::Xor, {x.u, y.u}); }
V with_bits(V x, V y) { return x.alu(Op::Or, {x.u, y.u}); }
V only_bits(V x, std::uint32_t mask) { return x.alu(Op::And, {x.u, x.bits(mask).u}); }

// (c[0] + c[1] x + ...) * scale
V polynomial(V x, std::span<const double> c, double scale = 1) {
  V sum = x.number(c.back() * scale);
  for (const double k : c.first(c.size() - 1) | std::views::reverse) sum = k < 0 ? sum * x - -k * scale : sum * x + k * scale;
  return sum;
}
V polynomial(V x, std::initializer_list<double> c, double scale = 1) { return polynomial(x, std::span(c.begin(), c.size()), scale); }

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

// e^r for |r| <= ln(2) / 2
constexpr double kExp[] = {1.0, 1.0, 4.9999994e-01, 1.6666521e-01, 4.1668262e-02, 8.368674e-03, 1.3821041e-03};

// `scale` times e^r
V exp_power(V r, double scale = 1) { return polynomial(r, std::span(kExp), scale); }

// (e^r - 1 - r) / r^2
V exp_rest(V r) { return polynomial(r, std::span(kExp).subspan(2)); }

// NaN stays.
V within(V x, double low, double high) {
  const V above = choose(x < low, low, x).named("above");
  return choose(high < above, high, above).named("bounded");
}

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

// With nothing to choose: 2^n is at most 1, so that it is always e^r that is 2^64 times too small.
V exp_nonpos_of(V x) {
  const V bounded = choose(x < -104.0, -104.0, x).named("bounded");
  const auto [whole, r] = reduced(bounded, x.number(to_exponent(64)));
  return exp_power(r, 0x1p-64) * power_of_two(whole);
}

/// A call of exp_nonpos's row.
V exp_nonpos(V x) { return x.alu(Op::ExpNonPos, {x.u}); }

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

// log(1 + x): what the sum loses is added as the first term of a series. Where it is lost as a whole the result is x.
V log1p_of(V x) {
  const V sum = (x + 1.0).named("sum"), lost = (x - (sum - 1.0)).named("lost");
  const V value = choose(x < kInfinity, log_of(sum) + lost / sum, x);
  return choose(equal(sum, 1), x, choose(equal(sum, 0), -kInfinity, value));
}

// Of |x|: (1 - e^-2x) / (1 + e^-2x), e^-2x being 2^n (e^r - 1) + 2^n. Both sides of the fraction round once where
// that counts: 1 - 2^n and 1 + 2^n are exact down to an n of -23.
V tanh_of(V x) {
  const V sign = only_bits(bits_of(x), kSign), size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const V most = choose(10.0 < size, 10.0, size).named("most");  // beyond it is 1
  const auto [whole, r] = reduced((most * -2.0).named("exponent"), x.number(to_exponent(0)));
  const V power = (exp_rest(r) * (r * r) + r).named("below_power"), scale = power_of_two(whole).named("scale");
  const V above = (power * scale + (scale - 1.0)).named("above"), below = (power * scale + (scale + 1.0)).named("below");
  return float_of(with_bits(only_bits(bits_of(above / below), kMagnitude), sign));
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
  const V far = (1.0 - exp_nonpos(exponent)).named("of_large");
  return float_of(with_bits(bits_of(choose(size < 0.95, near, far)), sign));
}

// e^-x is 2^n + 2^n (e^r - 1), both of which are exact for a rounded e^r - 1; numerator and denominator are 2^64 times too small, as e^104
// is no float. In this order a 1 beside a large 2^n is rounded once less. Beyond 30 the result is 1.
V sigmoid_of(V x) {
  const auto [whole, r] = reduced(-within(x, -104, 30), x.number(to_exponent(-64)));
  const V below_power = ((exp_rest(r) * r) * r + r).named("below_power");
  const V scale = power_of_two(whole).named("scale");
  return 0x1p-64 / ((below_power * scale + 0x1p-64) + scale);
}

// x / 2 * (1 + erf(x / sqrt 2)). For negative x it is -g(|x|), so that nothing cancels, and x - g(x) for others; g(t) = e^(-t^2/2) v p(v),
// v = t / (t + 2.34375). e^s with s = -t^2/2 - n ln(2) is 1 + (e^s - 1), of which the last sum alone rounds; with r = -2 s no factor is
// left in front of the squares. t^2 is the square of its first 12 bits, which is exact, and a rest. As for exp, what may be subnormal is
// first 2^64 times too large.
V gelu_of(V x) {
  const V size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const V most = choose(14.5 < size, 14.5, size).named("most");  // beyond, g is 0
  const V v = (most / (most + 2.34375)).named("v");
  const V p = polynomial(v,
                         {1.171875, -1.0195806, 0.00761314249, 0.240965992, 0.0847307593, -0.0144534782, -0.128843039, 0.162242025,
                          -0.275907695, 0.242739856, -0.0724495798},
                         0x1p-64);
  const V first = float_of(only_bits(bits_of(most), 0xfffff000)).named("first");
  const V whole = (most * most * (-0.5 * std::numbers::log2e) + to_exponent(64)).named("whole"), n = (whole - to_exponent(64)).named("n");
  const V r = ((first * first + n * (2 * kLn2High)) + n * (2 * kLn2Low) + (most - first) * (most + first)).named("r");
  const V below_one = polynomial(r, {0.124999985, -0.020833151, 0.0026042664, -0.00026152106, 2.1595377e-05}) * (r * r) + r * -0.5;
  const V without = (p * (v * power_of_two(whole))).named("without");
  const V tail = without * below_one.named("below_one") + without;
  const V value = choose(x < -0.0, -0.0, x) - tail.named("tail");
  return choose(-kInfinity < x, value, std::numeric_limits<double>::quiet_NaN());  // of -infinity it is -infinity * 0
}

// All ones where bit `n` of x is 1, else 0.
V all_ones_if(V x, int n) { return as(DType::UInt32, shift_right(as(DType::Int32, shift_left(x, 31 - n)), 31)); }

// In the sums that cross zero a number of less than 2^31 is one of both signs.
V signed_to_float(V bits) { return to_float(as(DType::Int32, bits)); }

// Of |x| * 2 / pi modulo 4: bit 30 says whether the nearest whole number is odd, bit 31 whether that is 2 or 3; and the rest, times pi / 2.
struct Quadrant {
  V bits, r;
};

// x = m 2^(e - 23), m a whole number of 24 bits. Of 2 / pi = 0.b1 b2 b3 ... the bits before e - 24 give products with m that are whole
// multiples of 4: the 88 from there on are enough for every float32, as none is nearer to a multiple of pi / 2 than 2^-30. All in
// integers, of which no product has more than 32 bits that count, so that it is the same for all processors.
Quadrant quadrant_of(V size) {
  const auto bits = [&](std::uint32_t x) { return size.bits(x); };
  const V above = (bits_of(size) + bits(0x00800000)).named("above");  // bits 23 to 29 are e
  // b-24 to b199
  constexpr std::uint32_t kTwoByPi[] = {0x00000051, 0x7cc1b727, 0x220a94fe, 0x13abe8fa, 0x9a6ee06d, 0xb14acc9e, 0x21c820ff};
  const V is_from_64 = all_ones_if(above, 29).named("is_from_64"), is_odd_word = all_ones_if(above, 28).named("is_odd_word");
  std::vector<V> two_steps, words;
  for (int k = 0; k < 5; k++) two_steps.push_back(bits(kTwoByPi[k]) ^ (is_from_64 & bits(kTwoByPi[k] ^ kTwoByPi[k + 2])));
  for (std::size_t k = 0; k < 4; k++) words.push_back(two_steps[k] ^ (is_odd_word & (two_steps[k] ^ two_steps[k + 1])));
  const V shift = only_bits(shift_right(above, 23), 31).named("shift"), back = (bits(31) - shift).named("back");
  const auto window = [&](std::size_t k) {
    const V next = shift_right(words[k + 1], 1);
    return with_bits(words[k] << shift, next >> back);
  };
  const V m = with_bits(only_bits(bits_of(size), 0x007fffff), bits(0x00800000)).named("m");
  const V m_high = shift_right(m, 16).named("m_high"), m_low = only_bits(m, 0xffff).named("m_low");
  const V middle = window(1).named("middle");
  const V high = shift_right(middle, 16).named("high"), low = only_bits(middle, 0xffff).named("low");
  const V low_high = (m_low * high).named("low_high"), low_low = (m_low * low).named("low_low");
  const V carried = (only_bits(low_high, 0xffff) + m_high * low + shift_right(low_low, 16)).named("carried");
  const V whole = m * window(0) + m_high * high + shift_right(low_high, 16) + shift_right(carried, 16);
  const V below = with_bits(shift_left(only_bits(carried, 0xffff), 8), only_bits(shift_right(low_low, 8), 0xff));
  const V rest = signed_to_float(below) * 0x1p-24 + signed_to_float(m) * signed_to_float(shift_right(window(2), 8)) * 0x1p-56;
  // What is above 2^30 are quadrants. Of the rest the first 12 bits times 12 bits of pi / 2 are exact.
  const V turned = (whole + bits(0x20000000)).named("turned");
  const V part = only_bits(turned, 0x3fffffff).named("part"), first = only_bits(part + bits(0x20000), 0xfffc0000).named("first");
  const V leading = signed_to_float(first - bits(0x20000000)).named("leading"), trailing = signed_to_float(part - first) + rest;
  constexpr double kUnit = std::numbers::pi / 2 * 0x1p-30, kUnitHigh = 3217 * 0x1p-41;
  const V r = leading * kUnitHigh + (leading * (kUnit - kUnitHigh) + trailing * kUnit);
  const V is_reduced = as(DType::UInt32, shift_right(as(DType::Int32, bits(kOne - 1) - bits_of(size)), 31));
  return {(turned & is_reduced).named("quadrant"), choose(size < 1.0, size, r).named("r")};
}

// The sine of r, or its cosine in odd quadrants, for |r| <= 1
V sine_in(V quadrant, V r) {
  const V square = (r * r).named("square");
  const V sine = polynomial(square, {-1.6666667e-01, 8.333354e-03, -1.9842385e-04, 2.726271e-06}) * (square * r) + r;
  const V cosine = polynomial(square, {4.1666575e-02, -1.3884697e-03, 2.4201614e-05}) * (square * square) + (1.0 - square * 0.5);
  const V is_odd = 0.0 < float_of(only_bits(quadrant, 0x40000000));
  return choose(is_odd, cosine.named("cosine"), sine.named("sine"));
}

V finite_or_nan(V size, V value) { return choose(size < kInfinity, value, std::numeric_limits<double>::quiet_NaN()); }

V sin_of(V x) {
  const V size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const auto [quadrant, r] = quadrant_of(size);
  const V sign = only_bits(bits_of(x) ^ quadrant, kSign);
  return finite_or_nan(size, float_of(bits_of(sine_in(quadrant, r)) ^ sign));
}

V cos_of(V x) {
  const V size = float_of(only_bits(bits_of(x), kMagnitude)).named("size");
  const auto [before, r] = quadrant_of(size);
  const V quadrant = (before + x.bits(0x40000000)).named("next");
  return finite_or_nan(size, float_of(bits_of(sine_in(quadrant, r)) ^ only_bits(quadrant, kSign)));
}

// x = 2^k m, m from sqrt(1/2) to sqrt(2); log2(m) = (2 / ln 2) (s + s^3 / 3 + ...), s = (m - 1) / (m + 1). The sum of the three has about
// 31 bits. Numbers of 12 bits are split off, whose products are exact: so it does not matter where they are fused with a sum.
struct Log2 {
  V k, high, low;
};
V first_bits(V x) { return float_of(only_bits(bits_of(x), 0xfffff000)); }
Log2 log2_of(V size) {
  const V is_subnormal = (size < std::numeric_limits<float>::min()).named("is_subnormal");
  constexpr std::uint32_t kRootOfHalf = 0x3f3504f3;
  const V above = (bits_of(choose(is_subnormal, size * 0x1p23, size)) - size.bits(kRootOfHalf)).named("above");
  const V k = (to_float(shift_right(as(DType::Int32, above), 23)) + choose(is_subnormal, -23.0, 0.0)).named("k");
  const V m = float_of(only_bits(above, 0x007fffff) + size.bits(kRootOfHalf)).named("m");
  const V f = (m - 1.0).named("f"), d = (m + 1.0).named("d"), d_first = first_bits(d).named("d_first");
  const V s = first_bits(f / d).named("s");
  const V s_rest = (((f - s * d_first) - s * (m - (d_first - 1.0))) / d).named("s_rest");
  // The leading part of s^3 / 3 is rounded once, too.
  const V both = (s + s_rest).named("both"), square = (both * both).named("square");
  constexpr double kFactor = 2 * std::numbers::log2e, kFirst = 2955 * 0x1p-10, kThird = kFactor / 3, kThirdFirst = 3939 * 0x1p-12;
  const V s_square = (s * s).named("s_square"), cut = first_bits(s_square).named("cut"), leading = (cut * kThirdFirst).named("leading");
  const V rest = (s_square - cut) * kThird + cut * (kThird - kThirdFirst) + s_rest * (s + both) * kThird;
  const V more = rest + square * square * polynomial(square, {5.77079e-01, 4.1190845e-01, 3.3695242e-01});
  const V low = s * (kFactor - kFirst) + s_rest * kFactor + (leading * s + (leading * s_rest + both * more));
  return {k, (s * kFirst).named("high"), low.named("low")};
}

// 2^(a + b), b being the smaller one; a has 24 bits, so that a - n is exact
V exp2_of(V a, V b) {
  const V sum = within(a + b, -160, 130), is_small = (sum < 0.0).named("is_small");
  const V to_whole = choose(is_small, to_exponent(64), to_exponent(-64)).named("to_whole");
  const V whole = (sum + to_whole).named("whole");
  const V r = within((a - (whole - to_whole)) + b, -1, 1);
  const V power = polynomial(r, {1.0, 6.931472e-01, 2.402265e-01, 5.550405e-02, 9.618087e-03, 1.3337951e-03, 1.5452168e-04, 1.4329626e-05});
  return power * power_of_two(whole) * choose(is_small, 0x1p-64, 0x1p64);
}

// |x|^y of finite numbers that are not 0: 2^(y log2 |x|)
V power_of(V size, V y) {
  const auto [k, high, low] = log2_of(size);
  const V t = first_bits(k + (high + low)).named("t"), t_rest = ((k - t) + high) + low;
  const V bounded = within(y, -0x1p32, 0x1p32);  // of that the result is 0 or infinity, unless |x| is 1
  const V y_first = first_bits(bounded).named("y_first");
  const V rest = (t * (bounded - y_first) + t_rest * bounded).named("rest");
  return exp2_of((t * y_first).named("product"), rest);
}

V nearest_whole(V size) { return choose(size < 0x1p23, (size + 0x1p23) - 0x1p23, size); }

// The special operands are those of C99, F.9.4.4.
V pow_of(V x, V y) {
  const V size = float_of(only_bits(bits_of(x), kMagnitude)).named("size"), is_negative = (y < 0.0).named("is_negative");
  const V extreme = choose(size < 1.0, choose(is_negative, kInfinity, 0.0), choose(is_negative, 0.0, kInfinity)).named("extreme");
  const V finite = choose(equal(size, 0), extreme, choose(size < kInfinity, power_of(size, y), extreme)).named("magnitude");
  const V count = float_of(only_bits(bits_of(y), kMagnitude)).named("count"), half = (count * 0.5).named("half_of_count");
  const V is_even = equal(nearest_whole(half), half), is_whole = equal(nearest_whole(count), count);
  const V signed_value = choose(is_even, finite, float_of(bits_of(finite) ^ only_bits(bits_of(x), kSign)));
  const V of_fraction = choose(x < 0.0, choose(-kInfinity < x, std::numeric_limits<double>::quiet_NaN(), finite), finite);
  const V value = choose(is_whole, signed_value.named("of_whole"), of_fraction.named("of_fraction"));
  const V or_nan = choose(equal(x, x), choose(equal(y, y), value, y), x);
  return choose(equal(x, 1), 1.0, choose(equal(y, 0), 1.0, or_nan));
}

using Operands = std::span<const UOp* const>;

template <V (*f)(V)>
const UOp* value_of(UOpBuilder& builder, Operands operands) {
  return f({&builder, operands[0]}).u;
}
template <V (*f)(V, V)>
const UOp* value_of(UOpBuilder& builder, Operands operands) {
  return f({&builder, operands[0]}, {&builder, operands[1]}).u;
}

constexpr MathFunction kRows[] = {
    {Op::Exp, "exp", "expf", "e^x = 2^n e^r, within 2 ulp", value_of<exp_of>},
    {Op::ExpNonPos, "exp_nonpos", "expf", "e^x = 2^(n + 64) (e^r / 2^64) for x of at most 0, within 2 ulp", value_of<exp_nonpos_of>},
    {Op::Expm1, "expm1", "expm1f", "e^x - 1 = 2^n (e^r - 1) + (2^n - 1), within 2 ulp", value_of<expm1_of>},
    {Op::Log, "log", "logf", "log(x) = k log(2) + log(1 + f), within 1 ulp", value_of<log_of>},
    {Op::Log1p, "log1p", "log1pf", "log(1 + x) = log(u) + (x - (u - 1)) / u with u = 1 + x rounded, within 2 ulp", value_of<log1p_of>},
    {Op::Sin, "sin", "sinf", "sin(x) by x modulo pi / 2 in integers and two polynomials, within 2 ulp", value_of<sin_of>},
    {Op::Cos, "cos", "cosf", "cos(x) by x modulo pi / 2 in integers and two polynomials, within 2 ulp", value_of<cos_of>},
    {Op::Tanh, "tanh", "tanhf", "tanh(x) = (1 - e^-2x) / (1 + e^-2x) with e^-2x = 2^n + 2^n (e^r - 1), within 2 ulp", value_of<tanh_of>},
    {Op::Erf, "erf", "erff", "erf(x) = 1 - e^p(x), near 0 a polynomial, within 2 ulp", value_of<erf_of>},
    {Op::Sigmoid, "sigmoid", "expf", "1 / (1 + e^-x) with e^-x = 2^n + 2^n (e^r - 1), both sides of the fraction / 2^64, within 2 ulp",
     value_of<sigmoid_of>},
    {Op::Gelu, "gelu", "erff", "x times the part of a normal distribution below x, within 4 ulp", value_of<gelu_of>},
    {Op::Pow, "pow", "powf", "x to the y = 2^(y log2(x)), the logarithm as two floats, within 4 ulp", value_of<pow_of>},
};

// Adds the steps to `builder` and returns the value for the operands.
const UOp* add_steps(UOpBuilder& builder, const UOpList& steps, Operands operands) {
  const auto operand = [&](const UOp& u) { return operands[u.name == kMathOperands[0] ? 0 : 1]; };
  std::unordered_map<const UOp*, const UOp*> now;  // look-up only
  for (const UOp* u : steps.order) {
    UOp copy = *u;
    for (const UOp*& s : copy.src) s = now.at(s);
    now[u] = u->uop == UOpKind::DefineVar ? operand(*u) : builder.add(std::move(copy));
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
    if (std::ranges::find(names, row.c_name) == names.end()) names.emplace_back(row.c_name);
  return names;
}

const MathFunction* expansion_of(Op op, DType dtype, const CodegenOptions& options) {
  if (!is_float(dtype) || dtype == DType::Float64) return nullptr;
  const MathFunction* row = math_function(op);
  if (row == nullptr) return nullptr;
  return std::ranges::find(options.library_math, row->c_name) == options.library_math.end() ? row : nullptr;
}

bool has_vector_form(Op op, const CodegenOptions& options) {
  return has_vector_form(op) || expansion_of(op, DType::Float32, options) != nullptr;
}

// What C++ adds first of two operands is the compiler's choice: in the list the sources of a value come before it in their order.
UOpList math_steps(const MathFunction& function, int lanes) {
  UOpBuilder any_order, in_order;
  std::vector<const UOp*> operands;
  for (int k = 0; k < info(function.op).arity; k++)
    operands.push_back(any_order.add(UOp{.uop = UOpKind::DefineVar, .dtype = DType::Float32, .lanes = lanes, .name = kMathOperands[k]}));
  std::unordered_map<const UOp*, const UOp*> now;  // look-up only
  for (const UOp* u : toposort<UOp>({function.value(any_order, operands)}, [](const UOp* v) { return v->src; })) {
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
      for (const UOp*& s : u.src) s = b.cast(s, DType::Float32);  // float16 and bfloat16 are rounded behind the steps
      return b.cast(add_steps(b, math_steps(*row, u.lanes), u.src), u.dtype);
    });
  return now;
}

}  // namespace etch
