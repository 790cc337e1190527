// What is chosen in lanes, by each compiler: the larger and the smaller one, a bound, of all pairs of numbers that are special for
// comparisons, against the same in doubles, one number after the other. GCC gets x86's instructions, which are not symmetric in their
// operands where one is NaN or both are zeros.
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
};

class LaneChoices : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Compilers, LaneChoices, testing::Values("gcc", "clang-19"),
                         [](const auto& row) { return std::string(row.param).substr(0, 3); });

TEST_P(LaneChoices, AreThoseOfSingleNumbers) {
  DeviceOptions device_options;
  device_options.of<COptions>().cc = GetParam();
  device_options.of<COptions>().flags = {"-std=gnu11", "-O2", "-march=native"};
  const auto device = test::usable(make_device("c", device_options));
  if (!device) GTEST_SKIP() << device.why;
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
    const std::vector<Array> got = device->load(program)->run({});
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

}  // namespace
}  // namespace etch
