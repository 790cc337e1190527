// Rows with NaNs and infinities. The largest element of a row is found without a look at NaNs where a later sum of the row is NaN then
// anyway, and all results with it (softmax); elsewhere it is NaN itself. Against loops in doubles.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/backends.h"

namespace etch::softmax_nan_test {
namespace {

struct Row {
  std::vector<double> x;
  double max() const {
    double largest = -HUGE_VAL;
    for (const double v : x) largest = std::isnan(v) || std::isnan(largest) ? NAN : std::max(largest, v);
    return largest;
  }
  double sum() const {
    double total = 0;
    for (const double v : x) total += std::exp(v - max());
    return total;
  }
};

struct Parts {
  LazyOps& ops;
  std::vector<Sint> whole;
  const LazyOp *x, *max, *distance, *e;
  const LazyOp* sum() const { return ops.expand(ops.reduce(Op::ReduceSum, e, {1}), whole); }
};

struct Case {
  const char* name;
  bool without_nans;
  const LazyOp* (*result)(const Parts& p);
  double (*value)(const Row& row, std::size_t i);
};
const Case kCases[] = {
    {"softmax", true,
     [](const Parts& p) {
       const LazyOp* one = p.ops.constant(Scalar::of_double(DType::Float32, 1), ShapeTracker::from_shape({1, 1}).expand(p.whole));
       return p.ops.elementwise(Op::Mul, {p.e, p.ops.elementwise(Op::Div, {one, p.sum()})});
     },
     [](const Row& r, std::size_t i) { return std::exp(r.x[i] - r.max()) * (1 / r.sum()); }},
    {"log_softmax", true, [](const Parts& p) { return p.ops.elementwise(Op::Sub, {p.distance, p.ops.elementwise(Op::Log, {p.sum()})}); },
     [](const Row& r, std::size_t i) { return r.x[i] - r.max() - std::log(r.sum()); }},
    {"no sum", false, [](const Parts& p) { return p.e; }, [](const Row& r, std::size_t i) { return std::exp(r.x[i] - r.max()); }},
    {"a sum that is only compared", false,
     [](const Parts& p) { return p.ops.elementwise(Op::Where, {p.ops.elementwise(Op::CmpLt, {p.x, p.sum()}), p.e, p.distance}); },
     [](const Row& r, std::size_t i) { return r.x[i] < r.sum() ? std::exp(r.x[i] - r.max()) : r.x[i] - r.max(); }},
    {"a sum that the largest is not in", false,
     [](const Parts& p) {
       const LazyOp* e = p.ops.elementwise(Op::ExpNonPos, {p.ops.elementwise(Op::Sub, {p.x, p.x})});
       return p.ops.elementwise(Op::Add, {p.max, p.ops.expand(p.ops.reduce(Op::ReduceSum, e, {1}), p.whole)});
     },
     [](const Row& r, std::size_t) {
       double sum = r.max();
       for (const double v : r.x) sum += std::exp(v - v);
       return sum;
     }},
};

// Rows of all kinds: each special number at a random place of some of them.
std::vector<Row> random_rows(std::mt19937& rng, std::size_t count, std::size_t length) {
  constexpr double kSpecial[] = {NAN, HUGE_VAL, -HUGE_VAL, -200, 3e38, -0.0};
  std::vector<Row> rows(count);
  for (std::size_t r = 0; r < count; r++) {
    for (std::size_t i = 0; i < length; i++) rows[r].x.push_back(std::uniform_int_distribution<int>(-64, 64)(rng) / 16.0);
    if (r == 0) continue;
    if (r == 1) rows[r].x.assign(length, NAN);
    if (r == 2) rows[r].x.assign(length, -HUGE_VAL);
    for (int n = std::uniform_int_distribution<int>(0, 2)(rng); n > 0; n--)
      rows[r].x[std::uniform_int_distribution<std::size_t>(0, length - 1)(rng)] =
          kSpecial[std::uniform_int_distribution<std::size_t>(0, std::size(kSpecial) - 1)(rng)];
  }
  return rows;
}

const LazyOp* store_of(LazyOps& ops, const Case& c, const std::vector<Sint>& whole) {
  const ShapeTracker st = ShapeTracker::from_shape(whole);
  const LazyOp* x = ops.load(1, DType::Float32, st);
  const LazyOp* max = ops.expand(ops.reduce(Op::ReduceMax, x, {1}), whole);
  const LazyOp* distance = ops.elementwise(Op::Sub, {x, max});
  return ops.store(0, c.result({ops, whole, x, max, distance, ops.elementwise(Op::ExpNonPos, {distance})}), st);
}

void compare(const std::string& name, const Language& language, int vector_bits) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(3);
  for (const std::int64_t length : {5, 16, 40, 75}) {
    constexpr std::int64_t kRows = 24;
    const std::vector<Row> rows = random_rows(rng, kRows, static_cast<std::size_t>(length));
    std::vector<double> all;
    for (const Row& row : rows) all.insert(all.end(), row.x.begin(), row.x.end());
    const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {kRows * length}, all)};
    LazyOps ops;
    std::vector<test::BackendKernel> kernels;
    for (const Case& c : kCases) kernels.push_back({store_of(ops, c, {kRows, length}), &inputs, kRows * length, {}});
    CodegenOptions options = test::options_for(language);
    options.vector_bits = vector_bits;
    const Program program = test::program_of(kernels, language, options);
    const std::vector<Array> got = device->load(program)->run({});
    for (std::size_t k = 0; k < std::size(kCases); k++) {
      SCOPED_TRACE(std::string(kCases[k].name) + ", " + std::to_string(length) + "\n" + program.kernels[k].text.source);
      if (name == "c" && vector_bits > 0) {
        const bool has_max = program.kernels[k].text.source.find("etch_max_f32x") != std::string::npos;
        EXPECT_EQ(has_max, !kCases[k].without_nans);
      }
      for (std::int64_t at = 0; at < kRows * length; at++) {
        const double wanted = kCases[k].value(rows[static_cast<std::size_t>(at / length)], static_cast<std::size_t>(at % length));
        const double value = got[k].double_at(at);
        const bool is_same = std::isnan(wanted)   ? std::isnan(value)
                             : std::isinf(wanted) ? value == wanted
                                                  : std::abs(value - wanted) <= 1e-5 * std::max(std::abs(wanted), 1e-3);
        ASSERT_TRUE(is_same) << "row " << at / length << ", " << at % length << ": " << value << ", not " << wanted;
      }
    }
  }
}

// The largest elements are an output of their own, beside log(sum): they have their NaNs.
TEST(SoftmaxOfNans, NotWhereTheLargestIsStored) {
  for (const bool is_stored : {false, true}) {
    LazyOps ops;
    const std::vector<Sint> whole{24, 64};
    const ShapeTracker st = ShapeTracker::from_shape(whole), rows = ShapeTracker::from_shape({24, 1});
    const LazyOp* x = ops.load(is_stored ? 2 : 1, DType::Float32, st);
    const LazyOp* max = ops.reduce(Op::ReduceMax, x, {1});
    const LazyOp* e = ops.elementwise(Op::ExpNonPos, {ops.elementwise(Op::Sub, {x, ops.expand(max, whole)})});
    const LazyOp* log = ops.elementwise(Op::Log, {ops.reduce(Op::ReduceSum, e, {1})});
    std::vector<KernelArgument> arguments{{DType::Float32, 24, "log", Access::Write}, {DType::Float32, 24 * 64, "in", Access::Read}};
    if (is_stored) arguments.insert(arguments.begin() + 1, {DType::Float32, 24, "largest", Access::Write});
    const LazyOp* store = is_stored ? ops.store(0, log, rows, {ops.store(1, max, rows)}) : ops.store(0, log, rows);
    CodegenOptions options = test::options_for(kC);
    options.vector_bits = 256;
    const std::string text = generate_kernel(store, {"f", arguments, {}}, kC, options).text.source;
    EXPECT_EQ(text.find("etch_max_f32x") != std::string::npos, is_stored) << text;
  }
}

TEST(SoftmaxOfNans, C) { compare("c", kC, 0); }
TEST(SoftmaxOfNans, VectorsOfC) { compare("c", kC, 256); }
TEST(SoftmaxOfNans, Llvm) { compare("llvm", kLlvm, 0); }
TEST(SoftmaxOfNans, VectorsOfLlvm) { compare("llvm", kLlvm, 256); }
TEST(SoftmaxOfNans, OpenCl) { compare("opencl", kOpenCl, 0); }

}  // namespace
}  // namespace etch::softmax_nan_test
