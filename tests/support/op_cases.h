// For tests: every operation for every type it has, on values that are difficult for it (limits, zeros, NaN).
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"
#include "ir/near.h"

namespace etch::test {

inline std::vector<double> awkward_values(DType d) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  if (d == DType::Bool) return {0, 1};
  if (is_float(d)) {
    return {0.0,  -0.0, 1,     -1,  0.5, -0.5, 1.5,  2.5,  -2.5, 3,    -7,    0.1,  100.25, -100.75,
            1e-3, 300,  70000, 1e5, 3e9, -3e9, 1e10, 6e-8, 1e19, 3e38, -3e38, kInf, -kInf,  kNan};
  }
  const auto lo = static_cast<double>(int_min(d)), hi = static_cast<double>(int_max(d));
  const bool u = is_unsigned(d);
  return {0,
          1,
          2,
          3,
          5,
          7,
          31,
          32,
          63,
          100,
          hi,
          d == DType::UInt64 ? 18446744073709551615.0 : hi / 2,
          lo,
          lo / 2,
          u ? 9.0 : -1.0,
          u ? 8.0 : -2.0,
          u ? 15.0 : -7.0,
          u ? 16.0 : -100.0};
}

constexpr std::int64_t kOpCaseSize = 28 * 28;

/// All pairs of the difficult values (in triples the third value just cycles through them). `negative`: none is above 0.
inline std::vector<Array> awkward_operands(const std::vector<DType>& types, bool negative = false) {
  std::vector<Array> arrays;
  for (std::size_t a = 0; a < types.size(); a++) {
    const std::vector<double> values = awkward_values(types[a]);
    std::vector<double> column;
    for (std::size_t i = 0; i < kOpCaseSize; i++) column.push_back(values[(a == 0 ? i / 28 : i + a - 1) % values.size()]);
    for (double& v : column)
      if (negative && v > 0) v = -v;
    arrays.push_back(Array::of_doubles(types[a], {kOpCaseSize}, column));
  }
  return arrays;
}

struct OpCase {
  std::string name;
  const LazyOp* ast;
  std::vector<Array> inputs;
  double tolerance;  // relative; 0: the same bits, but for NaNs
};

inline double op_tolerance(Op op, DType d) {
  if (!is_library_call(op)) return 0;
  if (d == DType::Float64) return 4e-15;
  if (d == DType::Float32) return op == Op::Pow ? 2e-6 : 1e-6;
  return d == DType::Float16 ? 1.1e-3 : 8e-3;
}

/// `with_constants`: also with a constant on either side, for which other texts are generated.
inline std::vector<OpCase> op_cases(LazyOps& ops, bool with_constants) {
  std::vector<OpCase> cases;
  const ShapeTracker flat = ShapeTracker::from_shape({kOpCaseSize});
  const auto add = [&](const std::string& name, const LazyOp* value, std::vector<Array> inputs, double tolerance) {
    cases.push_back({name, ops.store(0, value, flat), std::move(inputs), tolerance});
  };
  for (const OpInfo& row : kOps) {
    const Op op = op_named(row.name).value();
    if (!is_elementwise(op) || op == Op::MulAcc) continue;
    for (int t = 0; t < kDTypeCount; t++) {
      const auto d = static_cast<DType>(t);
      if (!is_legal(op, d)) continue;
      const std::string name = std::string(row.name) + " " + std::string(name_of(d));
      if (op == Op::Cast || op == Op::Bitcast) {
        for (int u = 0; u < kDTypeCount; u++) {
          const auto to = static_cast<DType>(u);
          if (to == d || (op == Op::Bitcast && (bytes_of(to) != bytes_of(d) || to == DType::Bool))) continue;
          const LazyOp* a = ops.load(1, d, flat);
          add(name + " " + std::string(name_of(to)), op == Op::Cast ? ops.cast(a, to) : ops.bitcast(a, to), awkward_operands({d}), 0);
        }
        continue;
      }
      std::vector<DType> types(static_cast<std::size_t>(info(op).arity), d);
      if (op == Op::Where) types[0] = DType::Bool;
      std::vector<const LazyOp*> src;
      for (std::size_t a = 0; a < types.size(); a++) src.push_back(ops.load(static_cast<int>(a) + 1, types[a], flat));
      add(name, ops.elementwise(op, src), awkward_operands(types, op == Op::ExpNonPos), op_tolerance(op, d));
      if (info(op).group != OpGroup::Binary || !with_constants) continue;
      for (double v : {0.0, 1.0, 3.0, -1.0}) {
        const LazyOp* c = ops.constant(Scalar::of_double(d, v), ShapeTracker::from_shape({1}).expand({kOpCaseSize}));
        add(name + " right " + std::to_string(v), ops.elementwise(op, {src[0], c}), awkward_operands({d}), op_tolerance(op, d));
        add(name + " left " + std::to_string(v), ops.elementwise(op, {c, src[0]}), awkward_operands({d}), op_tolerance(op, d));
      }
    }
  }
  return cases;
}

/// Functions of float16 are rounded to float32 first: the second time, a subnormal number may be off by its last place.
inline bool agree(const Scalar& got, const Scalar& want, double tolerance) {
  if (!is_float(got.dtype())) return got == want;
  const double w = want.as_double(), least = got.dtype() == DType::Float16 ? 0x1p-24 : 1e-37;
  return is_near(got.as_double(), w, tolerance * std::fabs(w) + (tolerance > 0 ? least : 0));
}

/// The first element that is wrong, in words; empty if there is none.
inline std::string difference(const OpCase& c, const Array& got, const Array& want, double tolerance) {
  for (std::int64_t e = 0; e < got.size(); e++) {
    if (agree(got.at(e), want.at(e), tolerance)) continue;
    std::string text = c.name + " of";
    for (const Array& a : c.inputs) text += " " + a.at(e).to_text();
    return text + " is " + got.at(e).to_text() + ", not " + want.at(e).to_text();
  }
  return "";
}

}  // namespace etch::test
