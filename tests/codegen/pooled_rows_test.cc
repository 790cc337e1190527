// Pools of random windows: in the registers of several targets, windows side by side share what they have of a row, as vectors along the
// row, as elements, or not at all. Against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/backends.h"
#include "support/rolling_steps.h"
#include "support/rounds.h"

namespace etch::pooled_rows_test {
namespace {

struct Side {
  std::int64_t size = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t padded() const { return size + before + after; }
  std::int64_t out() const { return (padded() - (kernel - 1) * dilation - 1) / stride + 1; }
};

// Channels, rows and columns, in planes or with the channels last.
struct Pool {
  std::int64_t channels = 1;
  Side y{}, x{};
  bool in_last = false, out_last = false;
  Op op = Op::ReduceMax;
  DType dtype = DType::Float32;

  static ShapeTracker image(std::int64_t c, std::int64_t y, std::int64_t x, bool last) {
    return last ? ShapeTracker::from_shape({y, x, c}).permute({2, 0, 1}) : ShapeTracker::from_shape({c, y, x});
  }
  ShapeTracker windows(const ShapeTracker& of) const {
    std::vector<View> views = of.pad({{0, 0}, {y.before, y.after}, {x.before, x.after}}).views();
    const std::vector<Sint> shape{channels, y.out(), x.out(), y.kernel, x.kernel};
    views.push_back(View::create(
        shape, std::vector<Sint>{y.padded() * x.padded(), y.stride * x.padded(), x.stride, y.dilation * x.padded(), x.dilation}));
    return ShapeTracker(views).simplify();
  }
  const LazyOp* store_in(LazyOps& ops) const {
    const LazyOp* value = ops.load(1, dtype, windows(image(channels, y.size, x.size, in_last)));
    if (op != Op::ReduceSum && y.before + y.after + x.before + x.after > 0) {
      const ShapeTracker one = ShapeTracker::from_shape({1, 1, 1}).expand({channels, y.size, x.size});
      const std::vector<Sint> shape{channels, y.out(), x.out(), y.kernel, x.kernel};
      const LazyOp* outside = ops.constant(start_of(op, dtype), ShapeTracker::from_shape(std::vector<Sint>(5, 1)).expand(shape));
      value = ops.elementwise(Op::Where, {ops.constant(Scalar::of_int(DType::Bool, 1), windows(one)), value, outside});
    }
    return ops.store(0, ops.reduce(op, value, {3, 4}),
                     image(channels, y.out(), x.out(), out_last).reshape({channels, y.out(), x.out(), 1, 1}));
  }
  double of(const Array& in, std::int64_t c, std::int64_t row, std::int64_t column) const {
    double total = start_of(op, dtype).as_double();
    for (std::int64_t i = 0; i < y.kernel; i++)
      for (std::int64_t j = 0; j < x.kernel; j++) {
        const std::int64_t h = row * y.stride + i * y.dilation - y.before, w = column * x.stride + j * x.dilation - x.before;
        if (h < 0 || h >= y.size || w < 0 || w >= x.size) continue;
        const double v = in.double_at(in_last ? (h * x.size + w) * channels + c : (c * y.size + h) * x.size + w);
        if (op == Op::ReduceSum)
          total += v;
        else
          total = std::isnan(total) || std::isnan(v) ? NAN : op == Op::ReduceMax ? std::max(total, v) : std::min(total, v);
      }
    return total;
  }
};

struct Draw {
  std::mt19937 rng;
  std::int64_t pick(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); }

  Side side(bool wide) {
    Side s{.kernel = pick(1, 5), .stride = pick(1, 3), .dilation = pick(0, 3) == 0 ? 2 : 1};
    const std::int64_t reach = (s.kernel - 1) * s.dilation;
    s.before = pick(0, std::min<std::int64_t>(reach, 3)), s.after = pick(0, std::min<std::int64_t>(reach, 3));
    const std::int64_t wanted = wide ? 4 * pick(1, 12) : pick(1, 9);
    s.size = std::max(reach + 1, (wanted - 1) * s.stride + reach + 1 - s.before - s.after + pick(0, s.stride - 1));
    return s;
  }
  Pool pool() {
    Pool p{.channels = pick(0, 1) == 0 ? pick(1, 3) : 8 * pick(1, 2), .y = side(false), .x = side(pick(0, 3) > 0)};
    p.in_last = pick(0, 2) == 0, p.out_last = p.in_last != (pick(0, 4) == 0);
    const Op ops[] = {Op::ReduceMax, Op::ReduceMax, Op::ReduceSum, Op::ReduceMin};
    const DType types[] = {DType::Float32, DType::Float32, DType::Float32, DType::Float64, DType::Int32, DType::Int8};
    p.op = ops[pick(0, 3)], p.dtype = types[pick(0, 5)];
    if (p.op == Op::ReduceMin && !is_float(p.dtype)) p.op = Op::ReduceMax;
    if (p.dtype == DType::Int8) p.op = Op::ReduceMax;
    return p;
  }
  Array input(const Pool& p) {
    std::vector<double> data;
    const bool has_others = is_float(p.dtype) && p.op != Op::ReduceSum && pick(0, 1) == 0;
    for (std::int64_t i = 0; i < p.channels * p.y.size * p.x.size; i++) {
      const std::int64_t kind = has_others ? pick(0, 40) : 3;
      const double infinity = std::numeric_limits<double>::infinity();
      data.push_back(kind == 0 ? NAN : kind == 1 ? infinity : kind == 2 ? -infinity : static_cast<double>(pick(-99, 99)));
    }
    return Array::of_doubles(p.dtype, {std::ssize(data)}, data);
  }
  // Steps that lead to shared rows where the kernel has them, in other orders than the heuristics'.
  std::vector<Opt> steps(const LazyOp* store, const CodegenOptions& options) {
    if (pick(0, 2) == 0) return test::rolling_steps(store, options, rng);
    Kernel k(store, options);
    if (options.vector_bits > 0 && pick(0, 3) > 0) k.try_apply({OptOp::Vector, static_cast<int>(pick(0, 2)), options.vector_bits / 32});
    k.try_apply({OptOp::Unroll, k.count(AxisKind::Reduce) - 1, 0});
    for (int n = static_cast<int>(pick(1, 2)); n > 0 && k.first_reduce() > 0; n--)
      k.try_apply({OptOp::Upcast, static_cast<int>(pick(0, k.first_reduce() - 1)), pick(2, 9)});
    if (pick(0, 1) == 0) k.try_apply({OptOp::Interior});
    return k.applied();
  }
};

struct Case {
  LazyOps ops;
  Pool pool;
  std::vector<Array> inputs;
};

void compare(const test::UsableDevice& device, const std::string& name, const Language& language, int vector_bits) {
  if (!device) GTEST_SKIP() << device.why;
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  options.float_registers = 32;
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<test::BackendKernel> kernels;
  const int rounds = test::rounds(200);
  for (int i = 0; i < rounds; i++) {
    Draw draw{std::mt19937(static_cast<unsigned>(i))};
    Case& c = *cases.emplace_back(std::make_unique<Case>());
    c.pool = draw.pool();
    const LazyOp* store = c.pool.store_in(c.ops);
    c.inputs.push_back(draw.input(c.pool));
    std::optional<std::vector<Opt>> opts;
    if (i % 3 > 0) opts = draw.steps(store, options);
    kernels.push_back({store, &c.inputs, c.pool.channels * c.pool.y.out() * c.pool.x.out(), opts});
  }
  const Program program = test::program_of(kernels, language, options);
  const std::vector<Array> got = device->load(program)->run({});
  int shared = 0, rolling = 0;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    const Pool& p = cases[k]->pool;
    const std::string& text = program.kernels[k].text.source;
    for (std::int64_t i = 0; i < kernels[k].output_size; i++) {
      const std::int64_t c = p.out_last ? i % p.channels : i / (p.y.out() * p.x.out());
      const std::int64_t at = p.out_last ? i / p.channels : i % (p.y.out() * p.x.out());
      const double wanted = p.of(cases[k]->inputs[0], c, at / p.x.out(), at % p.x.out()), value = got[k].double_at(i);
      ASSERT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << k << ": " << i << " " << value << " " << wanted << text;
    }
    rolling += program.kernels[k].opts.find(", ROLL") == std::string::npos ? 0 : 1;
    shared += text.find("below_") == std::string::npos ? 0 : 1;
  }
  EXPECT_GT(rolling, rounds / 30);
  if (name == "c") EXPECT_GT(shared, rounds / 8);
}

// A padded row of 28 is four vectors of eight in two tiles, both at a border: each has a body, in which no mask of lanes changes.
TEST(PooledRows, TwoTilesOfARowHaveABodyEach) {
  LazyOps ops;
  const Side side{.size = 28, .kernel = 3, .before = 1, .after = 1};
  const Pool pool{.channels = 2, .y = side, .x = side, .op = Op::ReduceSum};
  CodegenOptions options;
  options.vector_bits = 256;
  const std::int64_t elements = 2 * 28 * 28;
  const std::vector<KernelArgument> arguments{{DType::Float32, elements, "out", Access::Write}, {DType::Float32, elements, "in"}};
  const std::string text = generate_kernel(pool.store_in(ops), {"f", arguments, {}}, kC, options).text.source;
  EXPECT_NE(text.find("etch_f32x8_u"), std::string::npos) << text;
  for (const char* mask : {"x_above", "x_below", "x_tile"}) EXPECT_EQ(text.find(mask), std::string::npos) << text;
}

TEST(PooledRows, C) { compare(test::backend("c"), "c", kC, 0); }
TEST(PooledRows, VectorsOfC) { compare(test::backend("c"), "c", kC, 256); }
TEST(PooledRows, ShortVectorsOfC) { compare(test::backend("c"), "c", kC, 128); }
TEST(PooledRows, VectorsOfLlvm) { compare(test::backend("llvm"), "llvm", kLlvm, 256); }

// Before version 12 GCC has another name for lanes of two vectors.
TEST(PooledRows, VectorsOfAnOldGcc) {
  DeviceOptions options;
  options.of<COptions>().cc = "gcc";
  options.of<COptions>().flags = {"-std=gnu11", "-O1", "-U__GNUC__", "-D__GNUC__=11"};
  compare(test::usable(make_device("c", options)), "c", kC, 256);
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

// 20 elements of each row and 13 steps of a window: 5 vectors are loaded and reduced in each of 13 turns, and lanes of them 13 times for
// each of 5 vectors of windows; not 13 loads in each turn.
TEST(PooledRows, LoadsEachElementOnce) {
  const Side side{.size = 20, .kernel = 13, .before = 6, .after = 6};
  const Pool pool{.channels = 4, .y = side, .x = side};
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 128;
  options.float_registers = 32;
  const std::int64_t elements = 4 * 20 * 20;
  const std::vector<KernelArgument> arguments{{DType::Float32, elements, "out", Access::Write}, {DType::Float32, elements, "in"}};
  const std::string text = generate_kernel(pool.store_in(ops), {"f", arguments, {}}, kC, options).text.source;
  const int bodies = count(text, "for (int i = ");
  EXPECT_EQ(count(text, "&in["), 5 * bodies) << text;
  EXPECT_LE(count(text, "etch_max_f32x4("), bodies * (5 + 5 * 12)) << text;
}

}  // namespace
}  // namespace etch::pooled_rows_test
