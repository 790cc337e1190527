// For tests: chains of operations whose value shows where floats are rounded. Expected values are those of numpy 1.23.2 in float32
// and float16; for bfloat16 numpy in float32, rounded to nearest even after each operation.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch::test {

inline constexpr std::int64_t kRoundingSize = 11;
inline const std::vector<double> kRoundingInput{0.1, 0.7, 2.3, -2.3, 2.5, 3.7, 5.0, 1.0 / 3, 7.1, -11.3, 100.3};

struct RoundingCase {
  DType dtype;
  double big;                      // from its two thirds up to twice that the type counts in ones
  std::vector<double> whole;       // (x + big) - big
  std::vector<double> third;       // x / 3 * 3 == x
  std::vector<double> polynomial;  // (x * x + x) * x
};

inline const std::vector<RoundingCase> kRoundingCases{
    {DType::Float32,
     12582912,
     {0, 1, 2, -2, 2, 4, 5, 0, 7, -11, 100},
     {0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
     {0x1.6872b0p-7, 0x1.aa7ef8p-1, 0x1.174fe0p+4, -0x1.b820c4p+2, 0x1.5ep+4, 0x1.015f3cp+6, 0x1.2cp+7, 0x1.2f684ep-3, 0x1.98522cp+8,
      -0x1.48cd40p+10, 0x1.f199e6p+19}},
    {DType::Float16,
     1536,
     {0, 1, 2, -2, 2, 4, 5, 0, 7, -11, 100},
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     {0x1.684p-7, 0x1.aacp-1, 0x1.178p+4, -0x1.b88p+2, 0x1.5ep+4, 0x1.014p+6, 0x1.2cp+7, 0x1.2f4p-3, 0x1.988p+8, -0x1.488p+10, INFINITY}},
    {DType::BFloat16,
     192,
     {0, 1, 2, -2, 2, 4, 5, 0, 7, -11, 100},
     {0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
     {0x1.6ap-7, 0x1.aap-1, 0x1.16p+4, -0x1.b6p+2, 0x1.5ep+4, 0x1.02p+6, 0x1.2cp+7, 0x1.30p-3, 0x1.96p+8, -0x1.4ap+10, 0x1.f6p+19}},
};

/// For one chain: the kernel's AST, which reads the input as buffer 1, and the expected result.
struct RoundingChain {
  std::string name;
  const LazyOp* store = nullptr;
  std::vector<double> expected;
};

inline std::vector<RoundingChain> rounding_chains(LazyOps& ops, const RoundingCase& c) {
  const ShapeTracker st = ShapeTracker::from_shape({kRoundingSize});
  const LazyOp* x = ops.load(1, c.dtype, st);
  const auto constant = [&](double v) {
    return ops.constant(Scalar::of_double(c.dtype, v), ShapeTracker::from_shape({1}).expand({kRoundingSize}));
  };
  const auto op = [&](Op o, const LazyOp* a, const LazyOp* b) { return ops.elementwise(o, {a, b}); };
  const std::string type(name_of(c.dtype));
  return {{type + " whole", ops.store(0, op(Op::Sub, op(Op::Add, x, constant(c.big)), constant(c.big)), st), c.whole},
          {type + " third", ops.store(0, op(Op::CmpEq, op(Op::Mul, op(Op::Div, x, constant(3)), constant(3)), x), st), c.third},
          {type + " polynomial", ops.store(0, op(Op::Mul, op(Op::Add, op(Op::Mul, x, x), x), x), st), c.polynomial}};
}

}  // namespace etch::test
