// Linearizer: the terms that a sum may leave out. Padding is 0, and so is its product with a finite value. Its product with an infinity
// or NaN is NaN, which must be added.
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

// An upper bound of the magnitude of `op`, or kUnknown. of(s) gives that of operand s.
template <class Of>
double bound_from(const LazyOp* op, const std::vector<KernelArgument>& arguments, Of of) {
  const double largest = largest_of(op->dtype);
  double found = is_float(op->dtype) ? kUnknown : largest;
  switch (op->op) {
    case Op::Const:
      found = std::fabs(op->constant().value.as_double());
      break;
    case Op::Load: {
      if (arguments[static_cast<std::size_t>(op->mem().index)].is_bounded) found = std::min(kBounded, largest);
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
    case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Expm1: case Op::Log: case Op::Log2: case Op::Log1p: case Op::Sin: case Op::Cos:
    case Op::Tan: case Op::Asin: case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh:
    case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Bitcast:
    case Op::Div:
    case Op::Mod: case Op::Pow: case Op::CmpLt: case Op::CmpEq: case Op::CmpNe: case Op::And: case Op::Or: case Op::Xor:
    case Op::Shl: case Op::Shr: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin:
    case Op::ReduceProd: case Op::Expand: case Op::Store: break;
      // clang-format on
  }
  if (!is_float(op->dtype)) return std::min(found, largest);  // wraps around
  return found <= largest ? found : kUnknown;
}

bool contains(const std::vector<Sint>& terms, Sint t) { return std::ranges::find(terms, t) != terms.end(); }

bool is_product(const LazyOp* op) { return op->op == Op::Mul || op->op == Op::Cast || op->op == Op::Neg; }

}  // namespace

double Linearizer::bound(const LazyOp* op) {
  const auto below = [&](const LazyOp* o) { return bounds_.contains(o) || !is_elementwise(o->op) ? Sources() : Sources(o->src); };
  for (const LazyOp* o : toposort<LazyOp>({op}, below))
    if (!bounds_.contains(o)) bounds_[o] = bound_from(o, options_.arguments, [&](std::size_t s) { return bounds_.at(o->src[s]); });
  return bounds_.at(op);
}

// Where a product is 0: where one factor is 0 and the other one is finite or 0 too.
Linearizer::Zeros Linearizer::zeros_of_product(const LazyOp* mul, const Zeros& a, const Zeros& b) {
  Zeros zeros;
  const auto add = [&](const Zeros& one, const LazyOp* other, const Zeros& others) {
    const bool is_finite = !is_float(mul->dtype) || bound(other) < kUnknown;
    zeros.always = zeros.always || (one.always && (is_finite || others.always));
    for (Sint t : one.terms)
      if (is_finite || others.always || contains(others.terms, t)) zeros.terms.push_back(t);
  };
  add(b, mul->src[0], a);
  add(a, mul->src[1], b);
  return zeros;
}

// Where `op` is 0 for the current copy, from the masks of the factors of a product. Each copy of each factor is visited once.
const Linearizer::Zeros& Linearizer::zeros_of(const LazyOp* op) {
  const auto key = [&](const LazyOp* o) { return std::pair(number_.at(o), key_of(relevant_axes(o))); };
  if (const auto found = zeros_.find(key(op)); found != zeros_.end()) return found->second;
  const auto below = [](const LazyOp* o) { return is_product(o) ? Sources(o->src) : Sources(); };
  for (const LazyOp* f : toposort<LazyOp>({op}, below)) {
    const auto [place, is_new] = zeros_.try_emplace(key(f));
    if (!is_new) continue;
    Zeros& z = place->second;
    if (f->op == Op::Mul) {
      z = zeros_of_product(f, zeros_.at(key(f->src[0])), zeros_.at(key(f->src[1])));
    } else if (is_product(f)) {
      z = zeros_.at(key(f->src[0]));
    } else if (f->op == Op::Load && !is_indexed(f)) {
      const std::vector<Place>& places = lanes_of(k_.buf_of(f));
      z = {std::ranges::all_of(places, [](const Place& p) { return p.valid.is_int(0); }), terms_of(places[0].valid)};
      for (const Place& p : places) std::erase_if(z.terms, [lane = terms_of(p.valid)](Sint t) { return !contains(lane, t); });
    }
  }
  return zeros_.at(key(op));
}

// Conditions that must hold for any sum to get a nonzero term. They are tested once, outside of the loops that they do not depend on.
std::vector<Sint> Linearizer::find_guards() {
  std::vector<Sint> common;
  bool is_first = true;
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  if (k_.tensor()) return {};                                   // the instruction adds several products, of several work-items
  if (kept_.op != nullptr && kept_.stage == stage_) return {};  // what is kept is stored in any case
  for (const LazyOp* op : reduces)
    if (op->op != Op::ReduceSum || is_scan(op)) return {};
  for_each(axes_of(AxisKind::Unroll), [&] {
    for_each(axes_of(AxisKind::Upcast), [&] {
      for (const LazyOp* op : reduces) {
        if (!is_first && common.empty()) return;
        const Zeros& zeros = zeros_of(op->src[0]);
        if (zeros.always) continue;
        if (is_first) common = zeros.terms;
        std::erase_if(common, [&](Sint t) { return !contains(zeros.terms, t); });
        is_first = false;
      }
    });
  });
  return common;
}

}  // namespace etch
