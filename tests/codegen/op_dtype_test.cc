// Every operation for every type it has, on values that are awkward for it, in C: equal to the reference interpreter, clean
// under strict warnings as C and as C++, and without undefined behaviour.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "interp/interp.h"
#include "support/compiled.h"

namespace etch {
namespace {

std::vector<double> awkward(DType d) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  if (d == DType::Bool) return {0, 1};
  if (is_float(d))
    return {0.0,  -0.0, 1,     -1,  0.5, -0.5, 1.5,  2.5,  -2.5, 3,    -7,    0.1,  100.25, -100.75,
            1e-3, 300,  70000, 1e5, 3e9, -3e9, 1e10, 6e-8, 1e19, 3e38, -3e38, kInf, -kInf,  kNan};
  const auto lo = static_cast<double>(int_min(d)), hi = static_cast<double>(int_max(d));
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
          is_unsigned(d) ? 9.0 : -1.0,
          is_unsigned(d) ? 8.0 : -2.0,
          is_unsigned(d) ? 15.0 : -7.0,
          is_unsigned(d) ? 16.0 : -100.0};
}

// All pairs (and triples: the third runs along) of the awkward values.
std::vector<Array> operands(const std::vector<DType>& types) {
  std::vector<std::vector<double>> values;
  for (DType t : types) values.push_back(awkward(t));
  const std::size_t n = 28 * 28;
  std::vector<Array> arrays;
  for (std::size_t a = 0; a < types.size(); a++) {
    std::vector<double> column;
    for (std::size_t i = 0; i < n; i++) column.push_back(values[a][(a == 0 ? i / 28 : i + a - 1) % values[a].size()]);
    Array array = Array::of_doubles(types[a], {static_cast<std::int64_t>(n)}, column);
    arrays.push_back(array);
  }
  return arrays;
}

bool is_computed(Op op) {  // by the C library or etch_math.h, to a few units in the last place
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Pow:
      return true;
    default:
      return false;
  }
}

double tolerance(Op op, DType d) {
  if (!is_computed(op)) return 0;
  if (d == DType::Float64) return 4e-15;
  if (d == DType::Float32) return op == Op::Pow ? 2e-6 : 1e-6;
  return d == DType::Float16 ? 1.1e-3 : 8e-3;
}

struct Case {
  std::string name;
  const LazyOp* ast;
  std::vector<Array> inputs;
  double tolerance;
};

ShapeTracker flat() { return ShapeTracker::from_shape({28 * 28}); }

std::vector<Case> all_cases(LazyOps& ops) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const LazyOp* value, std::vector<Array> inputs, double tolerance) {
    cases.push_back({name, ops.store(0, value, flat()), std::move(inputs), tolerance});
  };
  for (const OpInfo& row : kOps) {
    const Op op = op_named(row.name).value();
    if (!is_elementwise(op)) continue;
    for (int t = 0; t < kDTypeCount; t++) {
      const auto d = static_cast<DType>(t);
      if (!is_legal(op, d) || op == Op::MulAcc) continue;
      const std::string name = std::string(row.name) + " " + std::string(name_of(d));
      if (op == Op::Cast || op == Op::Bitcast) {
        for (int u = 0; u < kDTypeCount; u++) {
          const auto to = static_cast<DType>(u);
          if (to == d || (op == Op::Bitcast && (bytes_of(to) != bytes_of(d) || to == DType::Bool))) continue;
          const LazyOp* a = ops.load(1, d, flat());
          add(name + " " + std::string(name_of(to)), op == Op::Cast ? ops.cast(a, to) : ops.bitcast(a, to), operands({d}), 0);
        }
        continue;
      }
      std::vector<DType> types(static_cast<std::size_t>(info(op).arity), d);
      if (op == Op::Where) types[0] = DType::Bool;
      std::vector<const LazyOp*> src;
      for (std::size_t a = 0; a < types.size(); a++) src.push_back(ops.load(static_cast<int>(a) + 1, types[a], flat()));
      add(name, ops.elementwise(op, src), operands(types), tolerance(op, d));
      if (info(op).group != OpGroup::Binary) continue;
      for (double v : {0.0, 1.0, 3.0, -1.0}) {  // a constant on either side has texts of its own
        const LazyOp* c = ops.constant(Scalar::of_double(d, v), ShapeTracker::from_shape({1}).expand({28 * 28}));
        add(name + " right " + std::to_string(v), ops.elementwise(op, {src[0], c}), operands({d}), tolerance(op, d));
        add(name + " left " + std::to_string(v), ops.elementwise(op, {c, src[0]}), operands({d}), tolerance(op, d));
      }
    }
  }
  return cases;
}

bool agree(const Scalar& got, const Scalar& want, double tolerance) {
  if (got.is_nan() || want.is_nan()) return got.is_nan() && want.is_nan();
  if (!is_float(got.dtype())) return got == want;
  const double g = got.as_double(), w = want.as_double();
  if (g == w) return true;
  return std::isfinite(g) && std::isfinite(w) && std::fabs(g - w) <= tolerance * std::fabs(w) + (tolerance > 0 ? 1e-37 : 0);
}

class OpDtype : public testing::Test {
 protected:
  OpDtype() : cases(all_cases(ops)) {
    for (std::size_t i = 0; i < cases.size(); i++) {
      std::vector<Sint> elements(cases[i].inputs.size() + 1, 28 * 28);
      const auto names = test::kernel_names("k" + std::to_string(i), elements.size());
      CodegenOptions options;
      options.optimize = i % 16 == 0;  // the copies of an upcast are the same text again
      sources.push_back(generate_kernel(cases[i].ast, elements, std::vector<bool>(elements.size()), names, options).source);
    }
  }
  LazyOps ops;
  std::vector<Case> cases;
  std::vector<std::string> sources;
};

TEST_F(OpDtype, SameAsReference) {
  const test::Compiled compiled(sources, test::strict_flags());
  int wrong = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 20; i++) {
    const Case& c = cases[i];
    std::vector<const Array*> inputs;
    for (const Array& a : c.inputs) inputs.push_back(&a);
    const Array want = interp_evaluate(c.ast, inputs);
    const Array got = compiled.run(static_cast<int>(i), c.ast->dtype, 28 * 28, c.inputs);
    for (std::int64_t e = 0; e < got.size(); e++) {
      if (agree(got.at(e), want.at(e), c.tolerance)) continue;
      std::string text;
      for (const Array& a : c.inputs) text += " " + a.at(e).to_text();
      ADD_FAILURE() << c.name << " of" << text << " is " << got.at(e).to_text() << ", not " << want.at(e).to_text() << "\n" << sources[i];
      wrong++;
      break;
    }
  }
}

TEST_F(OpDtype, CleanAsCpp) {
  EXPECT_NO_THROW(test::Compiled(
      sources, {"-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-Wno-unused-function"}));
}

TEST_F(OpDtype, CleanUnderClang) {
  if (!find_program("clang-19")) GTEST_SKIP() << "clang-19 is not installed";
  std::vector<std::string> flags = test::strict_flags();
  EXPECT_NO_THROW(test::Compiled(sources, flags, "clang-19"));
}

TEST_F(OpDtype, NothingUndefined) {
  std::vector<test::SanitizedRun> runs;
  for (const Case& c : cases) runs.push_back({28 * 28 * bytes_of(c.ast->dtype), c.inputs});
  const ProcessResult result = test::run_sanitized(sources, runs);
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err.substr(0, 3000);
}

}  // namespace
}  // namespace etch
