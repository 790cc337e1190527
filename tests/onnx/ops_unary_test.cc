// Operators on one tensor: newer ones that the installed ONNX node tests lack, and all integer types. Floats are compared with the
// definition computed in double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/node_model.h"

namespace etch::ops_unary_test {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using test::NodeModel;

const std::vector<double> kX = {-30, -2.5, -1, -0.5, 0, 0.25, 1, 1.5, 2.5, 30};

struct FloatCase {
  const char* op;
  int opset;
  Attributes attributes;
  std::function<double(double)> f;
};

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

const FloatCase kFloatCases[] = {
    {"Gelu", 20, {}, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"Gelu",
     20,
     {{"approximate", "tanh"}},
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
    {"Mish", 18, {}, [](double x) { return x * std::tanh(softplus(x)); }},
    {"HardSwish", 14, {}, [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }},
    {"Softplus", 7, {}, softplus},
    {"Celu", 28, {{"alpha", 2.0}}, [](double x) { return std::max(0.0, x) + std::min(0.0, 2 * (std::exp(x / 2) - 1)); }},
    {"Elu", 7, {{"alpha", 0.5}}, [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }},
    {"Selu", 7, {{"alpha", 2.0}, {"gamma", 3.0}}, [](double x) { return 3 * (x > 0 ? x : 2 * std::exp(x) - 2); }},
    {"HardSigmoid", 7, {}, [](double x) { return std::max(0.0, std::min(1.0, 0.2 * x + 0.5)); }},
    {"LeakyRelu", 16, {{"alpha", 0.1}}, [](double x) { return x < 0 ? 0.1 * x : x; }},
    {"ThresholdedRelu", 10, {}, [](double x) { return x > 1 ? x : 0; }},
    {"Shrink", 9, {{"lambd", 1.0}, {"bias", 0.5}}, [](double x) { return x < -1  ? x + 0.5
                                                                         : x > 1 ? x - 0.5
                                                                                 : 0; }},
    {"Round", 11, {}, [](double x) { return std::nearbyint(x); }},
    {"Sign", 13, {}, [](double x) { return x > 0   ? 1
                                           : x < 0 ? -1
                                                   : 0; }},
    {"Sigmoid", 13, {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Softsign", 7, {}, [](double x) { return x / (1 + std::abs(x)); }},
    {"Erf", 13, {}, [](double x) { return std::erf(x); }},
    {"Tan", 7, {}, [](double x) { return std::tan(x); }},
    {"Asinh", 9, {}, [](double x) { return std::asinh(x); }},
};

TEST(OnnxUnary, FloatsFollowTheDefinition) {
  const auto n = static_cast<std::int64_t>(kX.size());
  for (const FloatCase& c : kFloatCases) {
    std::vector<double> wanted;
    for (double x : kX) wanted.push_back(c.f(x));
    expect_node({c.op, c.opset, {floats({n}, kX)}, c.attributes}, {floats({n}, wanted)}, 1e-5, 1e-6);
    expect_node({c.op, c.opset, {floats({n}, kX, DType::Float64)}, c.attributes}, {floats({n}, wanted, DType::Float64)}, 1e-6, 1e-7);
    expect_node({c.op, c.opset, {floats({n}, kX, DType::Float16)}, c.attributes}, {floats({n}, wanted, DType::Float16)}, 4e-3, 1e-3);
  }
}

/// For arguments and results near 0 the error must be small relative to the result itself.
TEST(OnnxUnary, SmallResultsAreExactToo) {
  const FloatCase kRows[] = {
      {"Elu", 7, {{"alpha", 0.5}}, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {"Celu", 28, {{"alpha", 2.0}}, [](double x) { return std::max(0.0, x) + std::min(0.0, 2 * std::expm1(x / 2)); }},
      {"Selu", 7, {{"alpha", 2.0}, {"gamma", 3.0}}, [](double x) { return 3 * (x > 0 ? x : 2 * std::expm1(x)); }},
      {"Softplus", 7, {}, softplus},
      {"Mish", 18, {}, [](double x) { return x * std::tanh(softplus(x)); }},
  };
  const std::vector<double> x = {-40, -20, -10, -0.1, -0x1p-10, -0x1p-20, -0x1p-30, 0x1p-30, 0x1p-10, 0.5};
  const auto n = static_cast<std::int64_t>(x.size());
  for (const FloatCase& c : kRows) {
    for (std::size_t constants_from : {1u, 0u}) {
      const Array y = test::run_node({c.op, c.opset, {floats({n}, x)}, c.attributes, 1, constants_from})[0];
      for (std::int64_t i = 0; i < n; i++) {
        const double wanted = c.f(x[static_cast<std::size_t>(i)]);
        EXPECT_NEAR(y.double_at(i) / wanted, 1, 1e-6) << c.op << " of " << x[static_cast<std::size_t>(i)];
      }
    }
  }
}

TEST(OnnxUnary, NaNAndInfinity) {
  const Array x = floats({3}, {NAN, INFINITY, -INFINITY});
  expect_node({"Sign", 13, {x}}, {floats({3}, {NAN, 1, -1})});
  expect_node({"Abs", 13, {x}}, {floats({3}, {NAN, INFINITY, INFINITY})});
  expect_node({"Softplus", 7, {x}}, {floats({3}, {NAN, INFINITY, 0})});
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    const Array y = floats({4}, {NAN, INFINITY, -INFINITY, 1}, dtype);
    const auto flags = [](std::vector<std::int64_t> v) { return ints({4}, std::move(v), DType::Bool); };
    expect_node({"IsNaN", 20, {y}}, {flags({1, 0, 0, 0})});
    expect_node({"IsInf", 20, {y}}, {flags({0, 1, 1, 0})});
    expect_node({"IsInf", 20, {y}, {{"detect_negative", std::int64_t{0}}}}, {flags({0, 1, 0, 0})});
    expect_node({"IsInf", 20, {y}, {{"detect_positive", std::int64_t{0}}}}, {flags({0, 0, 1, 0})});
    expect_node({"IsInf", 20, {y}, {{"detect_positive", std::int64_t{0}}, {"detect_negative", std::int64_t{0}}}}, {flags({0, 0, 0, 0})});
  }
}

struct IntCase {
  const char* op;
  DType dtype;
  Attributes attributes;
  std::vector<std::int64_t> x, y;
};

const IntCase kIntCases[] = {
    {"Abs", DType::Int8, {}, {-128, -1, 0, 5}, {-128, 1, 0, 5}},
    {"Abs", DType::Int64, {}, {std::numeric_limits<std::int64_t>::min(), -7}, {std::numeric_limits<std::int64_t>::min(), 7}},
    {"Abs", DType::UInt8, {}, {0, 255}, {0, 255}},
    {"Neg", DType::Int32, {}, {-2147483648, 3}, {-2147483648, -3}},
    {"Neg", DType::Int8, {}, {-128, 3}, {-128, -3}},
    {"Sign", DType::Int16, {}, {-300, 0, 300}, {-1, 0, 1}},
    {"Sign", DType::UInt64, {}, {-1, 0, 3}, {1, 0, 1}},
    {"Shrink", DType::Int32, {{"lambd", 1.5}}, {-3, -2, -1, 0, 1, 2, 3}, {-3, -2, 0, 0, 0, 2, 3}},
    {"Shrink", DType::Int8, {{"lambd", 2.0}, {"bias", 1.0}}, {-3, -2, 2, 3}, {-2, 0, 0, 2}},
    {"Shrink", DType::UInt8, {{"lambd", 1.0}, {"bias", 1.0}}, {0, 1, 2, 255}, {0, 0, 1, 254}},
};

TEST(OnnxUnary, IntegersStayIntegers) {
  for (const IntCase& c : kIntCases) {
    const auto n = static_cast<std::int64_t>(c.x.size());
    expect_node({c.op, 13, {ints({n}, c.x, c.dtype)}, c.attributes}, {ints({n}, c.y, c.dtype)});
  }
}

TEST(OnnxUnary, HardmaxChangedWithOpset13) {
  const Array x = floats({2, 2, 2}, {1, 2, 3, 3, 5, 4, 4, 5});
  expect_node({"Hardmax", 11, {x}}, {floats({2, 2, 2}, {0, 0, 1, 0, 1, 0, 0, 0})});  // rows of 4
  expect_node({"Hardmax", 13, {x}}, {floats({2, 2, 2}, {0, 1, 1, 0, 1, 0, 0, 1})});  // the last axis
  expect_node({"Hardmax", 13, {x}, {{"axis", std::int64_t{0}}}}, {floats({2, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1})});
}

TEST(OnnxUnary, PReluBroadcastsItsSlope) {
  const Array x = floats({2, 2}, {-1, -2, 3, -4});
  expect_node({"PRelu", 16, {x, floats({2}, {0.5, 2})}}, {floats({2, 2}, {-0.5, -4, 3, -8})});
  expect_node({"PRelu", 16, {ints({2}, {-3, 3}, DType::Int32), ints({1}, {2}, DType::Int32)}}, {ints({2}, {-6, 3}, DType::Int32)});
  expect_refused({"PRelu", 16, {floats({2}, {1, 2}), floats({2, 2}, {1, 1, 1, 1})}}, "the slope has 2 axes, x has 1");
}

TEST(OnnxUnary, RefusalsSayWhatIsWrong) {
  expect_refused({"Gelu", 20, {floats({1}, {1})}, {{"approximate", "erf"}}}, "accepted are none and tanh");
  expect_refused({"Gelu", 17, {floats({1}, {1})}}, "supported from opset 20 on");
  expect_refused({"Neg", 13, {ints({1}, {1}, DType::UInt8)}}, "its input 0 is uint8, Neg takes");
  expect_refused({"Exp", 13, {ints({1}, {1}, DType::Int32)}}, "its input 0 is int32, accepted are: float");
  expect_refused({"Not", 7, {floats({1}, {1})}}, "its input 0 is float32, accepted are: bool");
  expect_refused({"Shrink", 9, {ints({1}, {1}, DType::Int32)}, {{"bias", 0.5}}}, "attribute bias is 0.5");
  expect_refused({"Elu", 7, {floats({1}, {1})}, {{"beta", 0.5}}}, "attribute beta is not supported");
}

// Steps overflow or vanish in float16, results do not. Expected: numpy's float64, rounded once.
TEST(OnnxUnary, HalvesAreRoundedOnce) {
  const auto half = [](std::vector<double> v) {
    const auto n = static_cast<std::int64_t>(v.size());
    return floats({n}, std::move(v), DType::Float16);
  };
  const auto row = [](std::vector<double> v) {
    const auto n = static_cast<std::int64_t>(v.size());
    return floats({1, n}, std::move(v), DType::Float16);
  };
  const Array axis = ints({1}, {1});
  const struct {
    NodeModel node;
    Array wanted;
  } rows[] = {
      {{"Sigmoid", 13, {half({-11.2, -15, 12, 100})}}, half({1.3649464e-05, 3.0590223e-07, 0.9999939, 1})},
      {{"HardSwish", 14, {half({60000, -4, 1})}}, half({60000, 0, 0.6666667})},
      {{"Gelu", 20, {half({300, -3, 2})}, {{"approximate", "tanh"}}}, half({300, -0.0036373, 1.9545977})},
      {{"Gelu", 20, {half({-4, 2})}}, half({-0.00012669, 1.9544997})},
      {{"Mish", 18, {half({-12, 15})}}, half({-7.3730e-05, 15})},
      {{"Selu", 13, {half({40000})}, {{"gamma", 1.5}}}, half({60000})},
      {{"Softsign", 13, {half({60000, -60000})}}, half({0.99998, -0.99998})},
      {{"Pow", 15, {half({300, 0.01}), half({-3, 3})}}, half({3.7037e-08, 1e-06})},
      {{"ReduceL2", 18, {row({300, 400}), axis}}, floats({1, 1}, {500}, DType::Float16)},
      {{"ReduceSumSquare", 18, {row({0.0001, 200}), axis}}, floats({1, 1}, {40000}, DType::Float16)},
      {{"ReduceLogSumExp", 18, {row({20, 20}), axis}}, floats({1, 1}, {20.693147}, DType::Float16)},
      {{"ReduceLogSum", 18, {row({60000, 60000}), axis}}, floats({1, 1}, {11.695247}, DType::Float16)},
      {{"ReduceProd", 18, {row({60000, 60000, 0.0001, 0.0001}), axis}}, floats({1, 1}, {36.01}, DType::Float16)},
      {{"LpNormalization", 13, {row({300, 400})}}, row({0.6, 0.8})},
      {{"LpPool", 18, {floats({1, 1, 2}, {300, 400}, DType::Float16)}, {{"kernel_shape", std::vector<std::int64_t>{2}}}},
       floats({1, 1, 1}, {500}, DType::Float16)},
      {{"Sum", 13, {half({60000}), half({60000}), half({-60000})}}, half({60000})},
      {{"Mean", 13, {half({60000}), half({60000})}}, half({60000})},
      {{"GlobalAveragePool", 13, {floats({1, 1, 2}, {60000, 60000}, DType::Float16)}}, floats({1, 1, 1}, {60000}, DType::Float16)},
      {{"MatMul", 13, {row({300, 300}), floats({2, 1}, {300, -300}, DType::Float16)}}, floats({1, 1}, {0}, DType::Float16)},
      {{"Gemm", 13, {row({300, 300}), floats({2, 1}, {300, 300}, DType::Float16)}, {{"alpha", 0.25}}},
       floats({1, 1}, {45000}, DType::Float16)},
      {{"Einsum", 12, {half({300, 300}), half({300, -300})}, {{"equation", "i,i->"}}}, floats({}, {0}, DType::Float16)},
  };
  for (const auto& r : rows) expect_node(r.node, {r.wanted}, 1e-3, 0);
  // bfloat16 has the range of float32 but 8 bits: 1 + exp(-x) alone would lose them.
  expect_node({"Sigmoid", 13, {floats({2}, {5, -20}, DType::BFloat16)}}, {floats({2}, {0.99330715, 2.0611537e-09}, DType::BFloat16)}, 4e-3,
              0);
}

}  // namespace
}  // namespace etch::ops_unary_test
