// The functions of codegen/math.h on a sample of all float32 numbers, by every backend, as numbers and as vectors. The whole of float32:
// math_full_test.cc.
#include "math_functions.h"
#include "support/math_places.h"

namespace etch {
namespace {

/// 2^22 patterns of bits, a few hundred on both sides of where a function changes its way or its result's kind, and what is special.
const std::vector<float>& sample() {
  static const std::vector<float> values = [] {
    std::vector<float> made;
    for (std::uint64_t k = 0; k < (std::uint64_t{1} << 22); k++) made.push_back(test::float_of_bits(k << 10 | (k * 523 & 1023)));
    const std::vector<float> places = test::around_math_places(200);
    made.insert(made.end(), places.begin(), places.end());
    made.push_back(NAN);
    made.resize(made.size() / 16 * 16);
    return made;
  }();
  return values;
}

/// 2^21 random pairs, and all pairs of numbers that are special for powers.
const test::Pairs& pairs() {
  static const test::Pairs kPairs = [] {
    test::Pairs made = test::random_pairs(0, std::uint64_t{1} << 21);
    const std::vector<float> operands = test::operands_of_powers();
    for (const float x : operands)
      for (const float y : operands) {
        made.x.push_back(x);
        made.y.push_back(y);
      }
    made.x.resize(made.x.size() / 16 * 16 + 16, 1.0f);
    made.y.resize(made.x.size(), 1.0f);
    return made;
  }();
  return kPairs;
}

void expect_pairs_within_limits(const Device& device, int vector_bits) {
  for (const test::ExactPairFunction& f : test::exact_pair_functions()) {
    std::string where;
    EXPECT_LE(test::worst_of(f, pairs(), test::values_of(f.op, {pairs().x, pairs().y}, device, vector_bits), &where), f.limit) << where;
  }
}

class MathFunctions : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, MathFunctions, testing::Values("c", "llvm", "opencl", "cuda"),
                         [](const auto& row) { return row.param; });

TEST_P(MathFunctions, AreRightForASampleOfAllNumbers) {
  const auto device = test::backend(GetParam());
  if (!device) GTEST_SKIP() << device.why;
  for (const test::ExactFunction& f : test::exact_functions())
    test::expect_within(f, sample(), test::values_of(f.op, {sample()}, *device, 0));
  expect_pairs_within_limits(*device, 0);
}

// float16 and bfloat16 are computed in float32 and rounded once.
TEST_P(MathFunctions, OfHalvesAreRoundedOnce) {
  const auto device = test::backend(GetParam());
  if (!device) GTEST_SKIP() << device.why;
  std::vector<double> numbers;
  for (int k = -400; k <= 400; k++) numbers.push_back(k / 64.0);
  for (const auto& [dtype, bits] : {std::pair(DType::Float16, 11), std::pair(DType::BFloat16, 8)}) {
    LazyOps ops;
    const std::vector<Array> inputs{Array::of_doubles(dtype, {static_cast<std::int64_t>(numbers.size())}, numbers)};
    const ShapeTracker st = ShapeTracker::from_shape({inputs[0].size()});
    const LazyOp* store = ops.store(0, ops.elementwise(Op::Tanh, {ops.load(1, dtype, st)}), st);
    const Program program =
        test::program_of({{store, &inputs, inputs[0].size(), std::nullopt}}, *device->language(), test::options_for(*device->language()));
    const std::vector<double> got = device->load(program)->run({})[0].doubles(), in = inputs[0].doubles();
    for (std::size_t i = 0; i < in.size(); i++) {
      const double exact = std::tanh(in[i]), half_ulp = std::ldexp(1.0, std::ilogb(std::max(std::fabs(exact), 1e-9)) - bits);
      EXPECT_NEAR(got[i], exact, half_ulp * 1.001) << in[i];
    }
  }
}

class MathVectors : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bits, MathVectors, testing::Values(128, 256, 512));

TEST_P(MathVectors, AreRightForASampleOfAllNumbers) {
  for (const char* name : {"c", "llvm"}) {
    const auto device = test::backend(name);
    if (!device) GTEST_SKIP() << device.why;
    for (const test::ExactFunction& f : test::exact_functions())
      test::expect_within(f, sample(), test::values_of(f.op, {sample()}, *device, GetParam()));
    expect_pairs_within_limits(*device, GetParam());
  }
}

// Of two operands one may be the same number for all lanes.
TEST(MathFunctions, TakeANumberBesideAVector) {
  std::vector<float> inputs(64);
  for (std::size_t k = 0; k < inputs.size(); k++) inputs[k] = 0.1f * static_cast<float>(k + 1);
  const std::vector<Array> arrays{test::array_of(inputs)};
  const ShapeTracker st = ShapeTracker::from_shape({arrays[0].size()});
  for (const char* name : {"c", "llvm"}) {
    const auto device = test::backend(name);
    if (!device) GTEST_SKIP() << device.why;
    for (const bool is_exponent : {false, true}) {
      LazyOps ops;
      const LazyOp *vector = ops.load(1, DType::Float32, st),
                   *number = ops.constant(Scalar::of_double(DType::Float32, 2.5),
                                          ShapeTracker({View::create({arrays[0].size()}, std::vector<Sint>{Sint(0)})}));
      const LazyOp* power = is_exponent ? ops.elementwise(Op::Pow, {vector, number}) : ops.elementwise(Op::Pow, {number, vector});
      CodegenOptions options = test::options_for(*device->language());
      options.vector_bits = 256;
      const Program program =
          test::program_of({{ops.store(0, power, st), &arrays, arrays[0].size(), std::nullopt}}, *device->language(), options);
      EXPECT_TRUE(program.kernels[0].text.uses_vectors);
      const std::vector<double> got = device->load(program)->run({})[0].doubles();
      for (std::size_t k = 0; k < inputs.size(); k++) {
        const auto x = static_cast<double>(inputs[k]);
        EXPECT_LE(test::ulps(static_cast<float>(got[k]), is_exponent ? std::pow(x, 2.5) : std::pow(2.5, x)), 4) << name << " " << x;
      }
    }
  }
}

TEST(MathFunctions, HaveARowForEachThatIsTested) {
  for (const test::ExactFunction& f : test::exact_functions()) EXPECT_NE(math_function(f.op), nullptr) << name_of(f.op);
  for (const test::ExactPairFunction& f : test::exact_pair_functions()) EXPECT_NE(math_function(f.op), nullptr) << name_of(f.op);
  int rows = 0;
  for (int op = 0; op <= static_cast<int>(Op::Store); op++) rows += math_function(static_cast<Op>(op)) != nullptr ? 1 : 0;
  EXPECT_EQ(rows, static_cast<int>(test::exact_functions().size() + test::exact_pair_functions().size()));
}

// What a target leaves to its C library is called there; sigmoid goes with exp.
TEST(MathFunctions, AreLeftToTheLibraryIfTheTargetSaysSo) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({std::int64_t{64}});
  CodegenOptions options;
  options.library_math = {"expf", "tanhf", "sinf", "erff"};
  const auto text_of = [&](Op op) {
    const LazyOp* store = ops.store(0, ops.elementwise(op, {ops.load(1, DType::Float32, st)}), st);
    return generate_kernel(store, {"k", {{DType::Float32, 64, "out", Access::Write}, {DType::Float32, 64, "in", Access::Read}}, {}}, kC,
                           options)
        .text.source;
  };
  EXPECT_NE(text_of(Op::Exp).find(" expf("), std::string::npos) << text_of(Op::Exp);
  EXPECT_NE(text_of(Op::Tanh).find(" tanhf("), std::string::npos);
  EXPECT_NE(text_of(Op::Sigmoid).find("1.0f / (1.0f + expf("), std::string::npos) << text_of(Op::Sigmoid);
  EXPECT_NE(text_of(Op::Sin).find(" sinf("), std::string::npos);
  EXPECT_NE(text_of(Op::Gelu).find("1.0f + erff("), std::string::npos) << text_of(Op::Gelu);
  EXPECT_NE(text_of(Op::Log).find(" etch_log_f32("), std::string::npos);
  EXPECT_NE(text_of(Op::Cos).find(" etch_cos_f32("), std::string::npos);
}

}  // namespace
}  // namespace etch
