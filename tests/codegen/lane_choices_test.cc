// What is chosen in lanes, by each compiler: the larger and the smaller one, a bound, the larger of a square root, of all pairs of numbers
// that are special for comparisons, against the same in doubles, one number after the other. GCC gets x86's instructions, which are not
// symmetric in their operands where one is NaN or both are zeros.
#include <gtest/gtest.h>

#include <cmath>

#include "support/backends.h"

namespace etch {
namespace {

const LazyOp* chosen(LazyOps& ops, const LazyOp* a, const LazyOp* b, bool is_first) {
  return ops.elementwise(Op::Where, {ops.elementwise(Op::CmpLt, {a, b}), is_first ? a : b, is_first ? b : a});
}

struct Choice {
  const char* name;
  const LazyOp* (*of)(LazyOps& ops, const LazyOp* a, const LazyOp* b);
  double (*value)(double a, double b);
};
const Choice kChoices[] = {
    {"etch_max_", [](LazyOps& ops, const LazyOp* a, const LazyOp* b) { return ops.elementwise(Op::Max, {a, b}); },
     [](double a, double b) { return std::isnan(b) || a < b ? b : a; }},
    {"etch_min_", [](LazyOps& ops, const LazyOp* a, const LazyOp* b) { return ops.elementwise(Op::Min, {a, b}); },
     [](double a, double b) { return std::isnan(b) || b < a ? b : a; }},
    {"etch_at_least_", [](LazyOps& ops, const LazyOp* a, const LazyOp* b) { return chosen(ops, a, b, false); },
     [](double a, double b) { return a < b ? b : a; }},
    {"etch_at_most_", [](LazyOps& ops, const LazyOp* a, const LazyOp* b) { return chosen(ops, a, b, true); },
     [](double a, double b) { return a < b ? a : b; }},
    {"etch_sqrt_",
     [](LazyOps& ops, const LazyOp* a, const LazyOp* b) { return ops.elementwise(Op::Max, {ops.elementwise(Op::Sqrt, {a}), b}); },
     [](double a, double b) {
       const double root = static_cast<double>(std::sqrt(static_cast<float>(a)));
       return std::isnan(b) || root < b ? b : root;
     }},
};

struct Way {
  const char *name, *compiler, *flag;
};
const Way kWays[] = {
    {"Gcc", "gcc", "-march=native"},
    {"Clang", "clang-19", "-march=native"},
#if defined(__x86_64__)
    {"GccWithAvx2", "gcc", "-mavx2"},
    {"GccWithoutAvx", "gcc", "-march=x86-64"},
#endif
};

test::UsableDevice device_of(const Way& way) {
  DeviceOptions options;
  options.of<COptions>().cc = way.compiler;
  options.of<COptions>().flags = {"-std=gnu11", "-O2", way.flag, "-Wall", "-Werror", "-Wno-psabi", "-Wno-unused-function"};
  return test::usable(make_device("c", options));
}

class LaneChoices : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (!device_) GTEST_SKIP() << device_.why;
  }
  const test::UsableDevice device_ = device_of(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Ways, LaneChoices, testing::ValuesIn(kWays), [](const auto& row) { return std::string(row.param.name); });

TEST_P(LaneChoices, AreThoseOfSingleNumbers) {
  const double special[] = {0.0, -0.0, 1.5, -1.5, 0x1p-149, -0x1p-126, 0x1.fffffep127, HUGE_VAL, -HUGE_VAL, NAN};
  std::vector<double> a, b;
  for (const double x : special)
    for (const double y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  a.resize(112, 1.0);  // lanes of any width leave nothing over
  b.resize(112, 2.0);
  const auto n = static_cast<std::int64_t>(a.size());
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {n}, a), Array::of_doubles(DType::Float32, {n}, b)};
  const ShapeTracker st = ShapeTracker::from_shape({n});
  for (const int bits : {128, 256, 512}) {
    LazyOps ops;
    std::vector<test::BackendKernel> kernels;
    for (const Choice& c : kChoices)
      kernels.push_back({ops.store(0, c.of(ops, ops.load(1, DType::Float32, st), ops.load(2, DType::Float32, st)), st), &inputs, n, {}});
    CodegenOptions options = test::options_for(kC);
    options.vector_bits = bits;
    const Program program = test::program_of(kernels, kC, options);
    const std::vector<Array> got = device_->load(program)->run({});
    for (std::size_t k = 0; k < std::size(kChoices); k++) {
      const std::string function = std::string(kChoices[k].name) + "f32x" + std::to_string(bits / 32);
      EXPECT_NE(program.kernels[k].text.source.find(function), std::string::npos) << function;
      for (std::int64_t i = 0; i < n; i++) {
        const double x = a[static_cast<std::size_t>(i)], y = b[static_cast<std::size_t>(i)];
        const double value = got[k].double_at(i), wanted = kChoices[k].value(x, y);
        EXPECT_TRUE(std::isnan(wanted) ? std::isnan(value) : value == wanted && std::signbit(value) == std::signbit(wanted))
            << function << " of " << x << " and " << y << " is " << value;
      }
    }
  }
}

// One condition for all lanes of a row: each branch is as it is loaded, or computed.
TEST_P(LaneChoices, OfOneConditionForAllLanes) {
  constexpr std::int64_t kRows = 4, kLength = 32, kAll = kRows * kLength;
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < kAll; i++) {
    a.push_back(static_cast<double>(i));
    b.push_back(static_cast<double>(-2 * i));
  }
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {kAll}, a), Array::of_doubles(DType::Float32, {kAll}, b),
                                  Array::of_ints(DType::Bool, {kRows}, std::vector<std::int64_t>{1, 0, 0, 1})};
  const ShapeTracker st = ShapeTracker::from_shape({kRows, kLength}),
                     of_row = ShapeTracker::from_shape({kRows, 1}).expand({kRows, kLength});
  LazyOps ops;
  const LazyOp *x = ops.load(1, DType::Float32, st), *y = ops.load(2, DType::Float32, st), *is_x = ops.load(3, DType::Bool, of_row);
  const LazyOp* factor = ops.constant(Scalar::of_double(DType::Float32, 0.5), ShapeTracker::from_shape({1, 1}).expand({kRows, kLength}));
  const LazyOp* half = ops.elementwise(Op::Mul, {y, factor});
  CodegenOptions options = test::options_for(kC);
  options.vector_bits = 256;
  std::vector<test::BackendKernel> kernels;
  for (const auto& [one, other] : {std::pair(x, y), std::pair(x, half), std::pair(half, x), std::pair(half, half)})
    kernels.push_back({ops.store(0, ops.elementwise(Op::Where, {is_x, one, other}), st), &inputs, kAll, {}});
  const Program program = test::program_of(kernels, kC, options);
  const std::vector<Array> got = device_->load(program)->run({});
  for (std::int64_t i = 0; i < kAll; i++) {
    const double of_x = a[static_cast<std::size_t>(i)], of_y = b[static_cast<std::size_t>(i)], of_half = of_y / 2;
    const bool is_first = i < kLength || i >= 3 * kLength;
    const double wanted[] = {is_first ? of_x : of_y, is_first ? of_x : of_half, is_first ? of_half : of_x, of_half};
    for (std::size_t k = 0; k < std::size(wanted); k++) ASSERT_EQ(got[k].double_at(i), wanted[k]) << program.kernels[k].text.source;
  }
}

// Two choices by one comparison, which is a variable then; and a bound that is a constant.
TEST_P(LaneChoices, LeaveNoVariableUnused) {
  const std::vector<double> a{-1, -0.0, 0, 1, 2, NAN, -HUGE_VAL, HUGE_VAL}, b{2, 0, -0.0, 1, -2, 1, 0, 3};
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {8}, a), Array::of_doubles(DType::Float32, {8}, b)};
  const ShapeTracker st = ShapeTracker::from_shape({8});
  LazyOps ops;
  const LazyOp *x = ops.load(1, DType::Float32, st), *y = ops.load(2, DType::Float32, st);
  const LazyOp* bound = ops.constant(Scalar::of_double(DType::Float32, -0.0), ShapeTracker::from_shape({1}).expand({8}));
  const LazyOp* both = ops.elementwise(Op::Sub, {chosen(ops, x, y, false), chosen(ops, x, y, true)});
  CodegenOptions options = test::options_for(kC);
  options.vector_bits = 256;
  const std::vector<test::BackendKernel> kernels{{ops.store(0, both, st), &inputs, 8, {}},
                                                 {ops.store(0, chosen(ops, x, bound, false), st), &inputs, 8, {}}};
  const Program program = test::program_of(kernels, kC, options);
  const std::vector<Array> got = device_->load(program)->run({});
  EXPECT_NE(program.kernels[0].text.source.find("etch_choose_f32x8"), std::string::npos);
  EXPECT_NE(program.kernels[1].text.source.find("etch_at_least_f32x8"), std::string::npos);
  for (std::size_t i = 0; i < a.size(); i++) {
    const double larger = a[i] < b[i] ? b[i] : a[i], smaller = a[i] < b[i] ? a[i] : b[i], raised = a[i] < 0 ? -0.0 : a[i];
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_TRUE(std::isnan(larger - smaller) ? std::isnan(got[0].double_at(at)) : got[0].double_at(at) == larger - smaller) << i;
    const double value = got[1].double_at(at);
    EXPECT_TRUE(std::isnan(raised) ? std::isnan(value) : value == raised && std::signbit(value) == std::signbit(raised)) << i;
  }
}

}  // namespace
}  // namespace etch
