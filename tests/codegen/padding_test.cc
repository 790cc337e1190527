// Padding in sums of products: 0 times infinity is NaN, so it is skipped only where the other factor is known to be finite.
#include <gtest/gtest.h>

#include <cmath>

#include "interp/interp.h"
#include "support/compiled.h"

namespace etch {
namespace {

constexpr std::int64_t kRows = 3, kInner = 40, kWide = kInner + 2;

// sum over k of pad(x)[i,k] * w[k] * s, `scaled` or without s; x padded by one on both sides.
const LazyOp* padded_sum(LazyOps& ops, DType dtype, bool scaled) {
  const LazyOp* x = ops.load(1, dtype, ShapeTracker::from_shape({kRows, kInner}).pad({{0, 0}, {1, 1}}));
  const LazyOp* w = ops.load(2, dtype, ShapeTracker::from_shape({1, kWide}).expand({kRows, kWide}));
  if (scaled) w = ops.elementwise(Op::Mul, {w, ops.load(3, dtype, ShapeTracker::from_shape({1, 1}).expand({kRows, kWide}))});
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {x, w}), {1});
  return ops.store(0, sum, ShapeTracker::from_shape({kRows, 1}));
}

TEST(Padding, TimesInfinityIsNotANumber) {
  const struct {
    const char* what;
    DType dtype;
    double first, second, scale;  // w[0], which meets padding, w[1], s
    std::vector<bool> bounded;    // what the generator is told
    double expected;              // by hand, of x = 1 and w = 1 elsewhere
  } rows[] = {
      {"run time weights, infinite at the border", DType::Float32, INFINITY, 1, 1, {}, NAN},
      {"run time weights, NaN at the border", DType::Float32, NAN, 1, 1, {}, NAN},
      {"run time weights, infinite inside", DType::Float32, 1, INFINITY, 1, {}, INFINITY},
      {"run time weights", DType::Float32, 5, 1, 1, {}, kInner},
      {"constant weights", DType::Float32, 5, 1, 1, {false, false, true, true}, kInner},
      {"constant weights, scale of run time", DType::Float32, 5, 1, INFINITY, {false, false, true, false}, NAN},
      {"the product of the constants overflows", DType::Float16, 60000, 1, 2, {false, false, true, true}, NAN},
      {"integers", DType::Int32, 5, 1, 1, {}, kInner},
  };
  std::vector<std::string> sources;
  std::vector<std::vector<Array>> inputs;
  for (const auto& row : rows) {
    LazyOps ops;
    std::vector<double> w(kWide, 1.0);
    w[0] = row.first;
    w[1] = row.second;
    inputs.push_back({Array::of_doubles(row.dtype, {kRows * kInner}, std::vector<double>(kRows * kInner, 1.0)),
                      Array::of_doubles(row.dtype, {kWide}, w), Array::of_doubles(row.dtype, {1}, std::vector<double>{row.scale})});
    const std::string name = "k" + std::to_string(sources.size());
    const LazyOp* store = padded_sum(ops, row.dtype, true);
    sources.push_back(
        generate_kernel(store, test::signature_of(name, store, {kRows, kRows * kInner, kWide, 1}, {}, row.bounded), kC, {}).text.source);
    const Array reference = interp_evaluate(store, {&inputs.back()[0], &inputs.back()[1], &inputs.back()[2]});
    for (double v : reference.doubles())
      EXPECT_TRUE(v == row.expected || (std::isnan(v) && std::isnan(row.expected))) << row.what << " " << v;
  }
  const test::Compiled compiled(sources, test::strict_flags());
  for (std::size_t i = 0; i < sources.size(); i++) {
    const Array got = compiled.run(static_cast<int>(i), rows[i].dtype, kRows, inputs[i]);
    for (double v : got.doubles())
      EXPECT_TRUE(v == rows[i].expected || (std::isnan(v) && std::isnan(rows[i].expected))) << rows[i].what << " " << v << "\n"
                                                                                            << sources[i];
  }
}

TEST(Padding, IsSkippedWhereTheOtherFactorIsFinite) {
  const struct {
    DType dtype;
    bool scaled;
    std::vector<bool> bounded;
    bool skips;
  } rows[] = {
      {DType::Float32, false, {}, false},
      {DType::Float32, false, {false, false, true}, true},
      {DType::Float32, true, {false, false, true, true}, true},
      {DType::Float32, true, {false, false, true, false}, false},
      {DType::Float16, true, {false, false, true, true}, false},  // 65504 * 65504 is infinite
      {DType::Int32, true, {}, true},
  };
  for (const auto& row : rows) {
    LazyOps ops;
    const std::vector<Sint> elements{kRows, kRows * kInner, kWide, 1};
    const auto source = [&](const std::vector<bool>& bounded) {
      const LazyOp* store = padded_sum(ops, row.dtype, row.scaled);
      CodegenOptions options;
      options.optimize = false;
      return generate_kernel(store, test::signature_of("k0", store, elements, {}, bounded), kC, options).text.source;
    };
    const std::string text = source(row.bounded);
    EXPECT_EQ(text.find("if (") != std::string::npos, row.skips) << text;
  }
}

}  // namespace
}  // namespace etch
