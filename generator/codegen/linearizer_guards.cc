// Linearizer: what a sum may leave out. Padding is 0, and so is its product with anything that is finite; with an infinity or
// NaN it is NaN, and has to be added.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/toposort.h"
#include "codegen/linearizer_state.h"

namespace etch {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

double largest_of(DType dtype) {
  if (dtype == DType::Float16) return 65504;
  if (dtype == DType::BFloat16 || dtype == DType::Float32) return 0x1p127;
  return dtype == DType::Float64 ? 0x1p1023 : 0x1p64;
}

// A bound of the magnitude of `op`, which then is finite; infinity where none is found in a few steps.
double bound(const LazyOp* op, const std::vector<bool>& bounded, int depth = 0) {
  const auto of = [&](std::size_t s) { return bound(op->src[s], bounded, depth + 1); };
  const double largest = largest_of(op->dtype);
  double found = is_float(op->dtype) ? kUnknown : largest;
  if (depth > 8) return found;
  switch (op->op) {
    case Op::Const:
      found = std::fabs(op->constant().value.as_double());
      break;
    case Op::Load: {
      const auto argument = static_cast<std::size_t>(op->mem().index);
      if (argument < bounded.size() && bounded[argument]) found = std::min(kBounded, largest);
      break;
    }
    case Op::Index:
      found = 0x1p63;
      break;
    case Op::Neg:
    case Op::Cast:
      found = is_float(op->dtype) ? of(0) : largest;
      break;
    case Op::Add:
    case Op::Sub:
      found = of(0) + of(1);
      break;
    case Op::Mul:
      found = of(0) * of(1);
      break;
    case Op::Max:
    case Op::Min:
      found = std::max(of(0), of(1));
      break;
    case Op::Where:
      found = std::max(of(1), of(2));
      break;
      // clang-format off
    case Op::Exp: case Op::Exp2: case Op::Expm1: case Op::Log: case Op::Log2: case Op::Log1p: case Op::Sin: case Op::Cos:
    case Op::Tan: case Op::Asin: case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh:
    case Op::Atanh: case Op::Erf: case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::Bitcast:
    case Op::Div:
    case Op::Mod: case Op::Pow: case Op::CmpLt: case Op::CmpEq: case Op::CmpNe: case Op::And: case Op::Or: case Op::Xor:
    case Op::Shl: case Op::Shr: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin:
    case Op::ReduceProd: case Op::Store: break;
      // clang-format on
  }
  if (!is_float(op->dtype)) return std::min(found, largest);  // wraps around
  return found <= largest ? found : kUnknown;
}

bool contains(const std::vector<Sint>& terms, Sint t) { return std::ranges::find(terms, t) != terms.end(); }

}  // namespace

// Of a product: it is 0 where one factor is, if the other is finite or 0 there too.
Linearizer::Zeros Linearizer::zeros_of_product(const LazyOp* mul, const Zeros& a, const Zeros& b) const {
  Zeros zeros;
  const auto add = [&](const Zeros& one, const LazyOp* other, const Zeros& others) {
    const bool is_finite = !is_float(mul->dtype) || bound(other, options_.bounded) < kUnknown;
    zeros.always = zeros.always || (one.always && (is_finite || others.always));
    for (Sint t : one.terms)
      if (is_finite || others.always || contains(others.terms, t)) zeros.terms.push_back(t);
  };
  add(b, mul->src[0], a);
  add(a, mul->src[1], b);
  return zeros;
}

// Conditions without which `op` is 0: the masks of the factors of a product. Nothing if it is 0 anyway.
std::optional<std::vector<Sint>> Linearizer::zero_terms(const LazyOp* op) {
  const auto is_product = [](const LazyOp* o) { return o->op == Op::Mul || o->op == Op::Cast || o->op == Op::Neg; };
  static const std::vector<const LazyOp*> kNothing;
  std::unordered_map<const LazyOp*, Zeros> zeros;  // look-up only
  for (const LazyOp* f :
       toposort<LazyOp>({op}, [&](const LazyOp* o) -> const std::vector<const LazyOp*>& { return is_product(o) ? o->src : kNothing; })) {
    Zeros& z = zeros[f];
    if (f->op == Op::Mul) {
      z = zeros_of_product(f, zeros.at(f->src[0]), zeros.at(f->src[1]));
    } else if (is_product(f)) {
      z = zeros.at(f->src[0]);
    } else if (f->op == Op::Load) {
      const std::vector<Place>& places = lanes_of(k_.buf_of(f));
      z = {std::ranges::all_of(places, [](const Place& p) { return p.valid.is_int(0); }), terms_of(places[0].valid)};
      for (const Place& p : places) std::erase_if(z.terms, [lane = terms_of(p.valid)](Sint t) { return !contains(lane, t); });
    }
  }
  const Zeros& result = zeros.at(op);
  if (result.always) return std::nullopt;
  return result.terms;
}

// Conditions without which nothing is added to any sum: tested once, outside of the loops that they do not depend on.
std::vector<Sint> Linearizer::find_guards() {
  std::vector<Sint> common;
  bool is_first = true;
  for (const LazyOp* op : k_.reduces())
    if (op->op != Op::ReduceSum) return {};
  for_each(axes_of(AxisKind::Unroll), [&] {
    for_each(axes_of(AxisKind::Upcast), [&] {
      for (const LazyOp* op : k_.reduces()) {
        if (!is_first && common.empty()) return;
        const std::optional<std::vector<Sint>> terms = zero_terms(op->src[0]);
        if (!terms) continue;
        if (is_first) common = *terms;
        std::erase_if(common, [&](Sint t) { return std::ranges::find(*terms, t) == terms->end(); });
        is_first = false;
      }
    });
  });
  return common;
}

}  // namespace etch
