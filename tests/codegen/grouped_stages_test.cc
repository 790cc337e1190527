// Kernels of several stages whose rows are shared by the work-items of a group (GROUP, GROUPTOP): what is legal, what is made of it, what
// the heuristics choose, and the numbers on OPENCL and CUDA against loops that compute each row by hand, and against INTERP.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/evaluate.h"
#include "support/rounds.h"

namespace etch::grouped_stages_test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // outputs of one row, each of its length or of length 1

double largest(const Row& x) { return *std::ranges::max_element(x); }

double mean(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

double variance(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += (v - mean(x)) * (v - mean(x));
  return sum / static_cast<double>(x.size());
}

double log_sum(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += std::exp(v - largest(x));
  return std::log(sum) + largest(x);
}

template <class F>
Row each(const Row& x, F f) {
  Row y;
  for (const double v : x) y.push_back(f(v));
  return y;
}

struct Function {
  const char* name;
  std::vector<Tensor> (*build)(const Tensor& x, int axis);
  Rows (*by_hand)(const Row& x);
};

const Function kFunctions[] = {
    {"softmax", [](const Tensor& x, int a) -> std::vector<Tensor> { return {x.softmax(a)}; },
     [](const Row& x) -> Rows { return {each(x, [s = log_sum(x)](double v) { return std::exp(v - s); })}; }},
    {"log_softmax", [](const Tensor& x, int a) -> std::vector<Tensor> { return {x.log_softmax(a)}; },
     [](const Row& x) -> Rows { return {each(x, [s = log_sum(x)](double v) { return v - s; })}; }},
    {"layer norm",
     [](const Tensor& x, int a) -> std::vector<Tensor> {
       const Tensor centred = x - x.mean({a}, true);
       return {centred / ((centred * centred).mean({a}, true) + 1e-5).sqrt()};
     },
     [](const Row& x) -> Rows { return {each(x, [m = mean(x), s = std::sqrt(variance(x) + 1e-5)](double v) { return (v - m) / s; })}; }},
    {"variance", [](const Tensor& x, int a) -> std::vector<Tensor> { return {x.variance({a}, true)}; },
     [](const Row& x) -> Rows { return {{variance(x)}}; }},
    {"logarithm of a sum",
     [](const Tensor& x, int a) -> std::vector<Tensor> {
       const Tensor m = x.max({a}, true);
       return {(x - m).exp().sum({a}, true).log() + m};
     },
     [](const Row& x) -> Rows { return {{log_sum(x)}}; }},
    {"parts of a sum", [](const Tensor& x, int a) -> std::vector<Tensor> { return {x / ((x * x).sum({a}, true) + 1.0)}; },
     [](const Row& x) -> Rows {
       double sum = 1;
       for (const double v : x) sum += v * v;
       return {each(x, [&](double v) { return v / sum; })};
     }},
    {"argmax with its value", [](const Tensor& x, int a) -> std::vector<Tensor> { return {x.max({a}, true), x.argmax(a, true)}; },
     [](const Row& x) -> Rows { return {{largest(x)}, {static_cast<double>(std::ranges::max_element(x) - x.begin())}}; }},
};

struct Variant {
  const char* name;
  std::int64_t outer, length, inner;     // the reduced axis is in the middle
  std::optional<std::vector<Opt>> opts;  // instead of the heuristics
  std::int64_t items;                    // in a group
};

const Variant kVariants[] = {
    {"one long row", 1, 4096, 1, std::nullopt, 256},
    {"three rows", 3, 1000, 1, std::nullopt, 125},
    {"a few rows", 12, 96, 1, std::nullopt, 32},
    {"strided rows", 2, 64, 3, std::nullopt, 32},
    {"rows that fill a group together", 6, 32, 1, std::nullopt, 32},
    {"odd sizes", 3, 35, 1, {{{OptOp::Group, 0, 5}}}, 5},
    {"odd sizes, each item's elements side by side", 3, 35, 1, {{{OptOp::GroupTop, 0, 7}}}, 7},
    {"a whole row", 5, 21, 1, {{{OptOp::Group, 0, 0}}}, 21},
    {"twice, with LOCAL", 6, 48, 1, {{{OptOp::Group, 0, 4}, {OptOp::Local, 0, 3}, {OptOp::GroupTop, 0, 3}}}, 36},
    {"rows upcast and padded", 7, 40, 1, {{{OptOp::Group, 0, 10}, {OptOp::PadTo, 0, 4}, {OptOp::Upcast, 0, 2}, {OptOp::Local, 0, 2}}}, 20},
    {"in two steps, padded", 5, 80, 1, {{{OptOp::PadTo, 0, 3}, {OptOp::GroupTop, 0, 40}, {OptOp::Local, 0, 3}}}, 120},
    {"an odd number in two steps", 2, 90, 1, {{{OptOp::Group, 0, 45}, {OptOp::Upcast, 0, 2}}}, 45},
    {"a prime number of items", 2, 74, 1, {{{OptOp::Group, 0, 37}, {OptOp::LastLocal, 0, 2}}}, 74},
};

Array values_of(const Variant& v, int seed) {
  const std::int64_t n = v.outer * v.length * v.inner;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; i++) numbers.push_back(static_cast<double>((i * 7919 + 31 * seed) % 10007) / 2048 - 2.5);
  return Array::of_doubles(DType::Float32, {v.outer, v.length, v.inner}, numbers);
}

// The outputs of `f`, row-major.
std::vector<Row> by_hand(const Function& f, const Variant& v, const Array& x) {
  std::vector<Row> outputs;
  for (std::int64_t o = 0; o < v.outer; o++)
    for (std::int64_t i = 0; i < v.inner; i++) {
      const auto at = [&](std::int64_t k, std::int64_t length) { return static_cast<std::size_t>((o * length + k) * v.inner + i); };
      Row row;
      for (std::int64_t k = 0; k < v.length; k++) row.push_back(x.double_at(static_cast<std::int64_t>(at(k, v.length))));
      const Rows rows = f.by_hand(row);
      outputs.resize(rows.size());
      for (std::size_t r = 0; r < rows.size(); r++) {
        const auto length = static_cast<std::int64_t>(rows[r].size());
        outputs[r].resize(static_cast<std::size_t>(v.outer * length * v.inner));
        for (std::int64_t k = 0; k < length; k++) outputs[r][at(k, length)] = rows[r][static_cast<std::size_t>(k)];
      }
    }
  return outputs;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++) n++;
  return n;
}

// A group waits outside of all loops and conditions; each reduction has an array of its own.
void expect_shape(const ProgramKernel& k, const Variant& v) {
  EXPECT_NE(k.opts.find("GROUP"), std::string::npos) << k.opts;
  std::int64_t items = 1;
  for (const Sint& size : k.local_size) items *= size.as_int();
  EXPECT_EQ(items, v.items) << k.opts;
  std::istringstream lines(k.uops);
  int waits = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("= Barrier") == std::string::npos) continue;
    EXPECT_EQ(line[0], '%') << k.uops;
    waits++;
  }
  EXPECT_GE(waits, 1) << k.uops;
  const int reductions = static_cast<int>(std::ranges::count_if(toposort(k.ast), [](const LazyOp* op) { return is_reduce(op->op); }));
  EXPECT_EQ(count(k.uops, "= DefineLocal"), reductions) << k.uops;
}

/// Every `step`th function, from the first or a later one, in one program on `name`.
void expect_numbers(const std::string& name, const Variant& v, std::size_t first = 0, std::size_t step = 1) {
  SCOPED_TRACE(v.name);
  const auto device = test::backend(name, true);
  if (!device) GTEST_SKIP() << device.why;
  const auto graph = LazyGraph::create();
  std::map<std::string, Array> inputs;
  std::vector<Tensor> outputs;
  std::vector<Row> wanted;
  for (std::size_t k = first; k < std::size(kFunctions); k += step) {
    const Function& f = kFunctions[k];
    const auto number = static_cast<int>(inputs.size());
    const std::string x = "x" + std::to_string(number);
    inputs[x] = values_of(v, number);
    for (const Tensor& y : f.build(Tensor::input(*graph, x, DType::Float32, {v.outer, v.length, v.inner}), 1)) outputs.push_back(y);
    for (Row& row : by_hand(f, v, inputs[x])) wanted.push_back(std::move(row));
  }
  std::vector<OutputSpec> specs;
  for (const Tensor& t : outputs) specs.push_back({"y" + std::to_string(specs.size()), t});
  LowerOptions options;
  options.language = device->language();
  options.codegen = test::options_for(*device->language());
  options.codegen.opts = v.opts;
  const Program program = lower(graph, create_schedule(*graph, specs), options);
  ASSERT_EQ(program.kernels.size(), inputs.size());
  for (const ProgramKernel& k : program.kernels) expect_shape(k, v);
  std::vector<Array> given;
  for (const int b : program.inputs) given.push_back(inputs.at(program.buffers[static_cast<std::size_t>(b)].name));
  const std::vector<Array> got = device->load(program)->run(given), interp = test::evaluate_tensors(outputs, inputs);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t y = 0; y < got.size(); y++) {
    SCOPED_TRACE("output " + std::to_string(y));
    EXPECT_EQ(test::difference(got[y], interp[y], 1e-5, 1e-5), "");
    ASSERT_EQ(got[y].size(), static_cast<std::int64_t>(wanted[y].size()));
    for (std::int64_t i = 0; i < got[y].size(); i++) {
      const double want = wanted[y][static_cast<std::size_t>(i)];
      ASSERT_NEAR(got[y].double_at(i), want, 1e-5 + 1e-5 * std::fabs(want)) << i;
    }
  }
}

// PoCL takes long to compile: it gets a third of them, outside of ./dev test --full for every second variant.
TEST(GroupedStages, OpenClAgreesWithLoops) {
  const std::size_t step = test::rounds(2) == 2 ? 1 : 2;
  for (std::size_t v = 0; v < std::size(kVariants); v += step) expect_numbers("opencl", kVariants[v], v / step % 3, 3);
}
TEST(GroupedStages, CudaAgreesWithLoops) {
  for (const Variant& v : kVariants) expect_numbers("cuda", v);
}

const LazyOp* softmax(LazyOps& ops, const std::vector<Sint>& shape, std::vector<int> axes = {1}) {
  const LazyOp* x = ops.load(1, DType::Float32, ShapeTracker::from_shape(shape));
  const LazyOp* e = ops.elementwise(Op::Exp, {ops.elementwise(Op::Sub, {x, ops.expand(ops.reduce(Op::ReduceMax, x, axes), shape)})});
  const LazyOp* sum = ops.expand(ops.reduce(Op::ReduceSum, e, std::move(axes)), shape);
  return ops.store(0, ops.elementwise(Op::Div, {e, sum}), ShapeTracker::from_shape(shape));
}

// All items of a group add the sums up in one order: what is equal in the input is equal to the bit in the output.
void expect_equal_totals(const std::string& name) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  LazyOps ops;
  std::vector<double> numbers;
  for (int i = 0; i < 3 * 480; i++) numbers.push_back(i % 3 * 0.7 + 0.1);
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {3, 480}, numbers)};
  for (const std::int64_t items : {8, 32, 96, 480}) {
    const test::BackendKernel kernel{softmax(ops, {3, 480}), &inputs, 3 * 480, std::vector<Opt>{{OptOp::Group, 0, items}}};
    const Array y = device->load(test::program_of({kernel}, *device->language(), test::options_for(*device->language())))->run({})[0];
    for (int i = 0; i < 480; i++) ASSERT_EQ(y.double_at(i), y.double_at(i % 3)) << items;
  }
}

TEST(GroupedStages, TotalsAreEqualOnOpenCl) { expect_equal_totals("opencl"); }
TEST(GroupedStages, TotalsAreEqualOnCuda) { expect_equal_totals("cuda"); }

CodegenOptions grid() {
  CodegenOptions options;
  options.has_local = true;
  return options;
}

std::string opts_of(const LazyOp* store) {
  const CodegenOptions options = grid();
  Kernel kernel(store, options);
  hand_coded_optimizations(kernel);
  return to_text(kernel.applied());
}

// Long rows are shared where there are few of them. Neighbouring items have neighbouring elements.
TEST(GroupedStages, HeuristicsShareLongRows) {
  LazyOps ops;
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 4096);
  EXPECT_EQ(opts_of(softmax(ops, {1, 4096})), "GROUP 0 256, UPCAST 3 4, UNROLL 2 4, UNROLL 1 4");
  EXPECT_EQ(opts_of(softmax(ops, {3, 1000})), "GROUP 0 125, UPCAST 4 4, UNROLL 2 4, UNROLL 1 4");
  EXPECT_EQ(opts_of(softmax(ops, {100, 768})), "GROUP 0 96, UPCAST 4 4, UNROLL 2 4, UNROLL 1 4");
  EXPECT_EQ(opts_of(softmax(ops, {100, 48})), "GROUP 0 24");
  EXPECT_EQ(opts_of(softmax(ops, {100, 32})), "GROUP 0 16, LOCAL 0 2");
  EXPECT_EQ(opts_of(softmax(ops, {2048, 768})), "UPCAST 3 4, UNROLL 1 4, UNROLL 0 4, LOCAL 0 32");  // enough rows
  EXPECT_EQ(opts_of(softmax(ops, {3, 16})), "UPCAST 3 4, UNROLL 1 4, UNROLL 0 4, LOCAL 0 3");       // short
  EXPECT_EQ(opts_of(softmax(ops, {2, 197})), "LOCAL 0 2");                                          // a prime number
  EXPECT_EQ(opts_of(softmax(ops, {1, n})), "");
  EXPECT_EQ(opts_of(softmax(ops, {n, 4096})), "UPCAST 3 4, UNROLL 1 4, UNROLL 0 4, NOLOCALS");
}

// An item has at least a sixteenth of the elements whose sums it adds up.
TEST(GroupedStages, ItemsOfARow) {
  const std::pair<std::int64_t, std::int64_t> rows[] = {{31, 1},     {32, 16},    {37, 1},      {64, 32},       {96, 32},
                                                        {100, 25},   {197, 1},    {384, 64},    {768, 96},      {1000, 125},
                                                        {1024, 128}, {4096, 256}, {32000, 256}, {1 << 20, 256}, {65537, 1}};
  for (const auto& [size, items] : rows) EXPECT_EQ(items_of_row(size), items) << size;
}

struct Illegal {
  std::vector<Opt> before;
  Opt opt;
  const char* why;  // null: it is legal
};

// Of the softmax of 16 rows of 2048; its axes are n and, of the stages, k, k, k.
const Illegal kIllegal[] = {
    {{}, {OptOp::Group, 0, 8}, nullptr},
    {{}, {OptOp::GroupTop, 1, 8}, "the axes of the first stage are grouped, and those of the others with them"},
    {{}, {OptOp::Group, 2, 8}, "only a reduced axis can be grouped"},
    {{}, {OptOp::Group, 0, 3}, "the amount divides the size 2048"},
    {{}, {OptOp::Group, 0, 0}, "a work-group has at most 1024 items"},
    {{{OptOp::Unroll, 0, 4}}, {OptOp::Group, 0, 8}, "all stages have that part of the axis: none is split in another way"},
    {{{OptOp::Unroll, 1, 4}}, {OptOp::Group, 0, 8}, "all stages have that part of the axis: none is split in another way"},
    {{{OptOp::Upcast, 3, 4}}, {OptOp::GroupTop, 0, 8}, "all stages have that part of the axis: none is split in another way"},
    {{{OptOp::Unroll, 0, 4}, {OptOp::Unroll, 1, 4}, {OptOp::Upcast, 3, 4}}, {OptOp::Group, 0, 8}, nullptr},
    {{{OptOp::Group, 0, 8}}, {OptOp::GroupTop, 0, 8}, nullptr},
    {{{OptOp::Group, 0, 8}}, {OptOp::UpcastMid, 0, 4}, "in a kernel of several stages all work-items of a group go on"},
    {{{OptOp::Group, 0, 8}}, {OptOp::NoLocals}, "no axis is local or grouped"},
    {{{OptOp::NoLocals}}, {OptOp::Group, 0, 8}, "the driver does not choose the work-groups (NOLOCALS)"},
    // 1024 work-items with 2 sums of 4 bytes are 8192 bytes.
    {{{OptOp::Group, 0, 1024}}, {OptOp::Upcast, 0, 8}, "the sums of a work-group take at most 32768 bytes"},
    {{{OptOp::Group, 0, 1024}}, {OptOp::Upcast, 0, 4}, nullptr},
    {{{OptOp::Group, 0, 1024}, {OptOp::Upcast, 0, 4}}, {OptOp::Upcast, 4, 2}, nullptr},  // of the last stage: no sums
    {{{OptOp::Group, 0, 256}}, {OptOp::Local, 0, 8}, "a work-group has at most 1024 items"},
};

TEST(GroupedStages, IllegalStepsSayWhy) {
  LazyOps ops;
  const CodegenOptions options = grid(), plain;
  for (const Illegal& t : kIllegal) {
    Kernel kernel(softmax(ops, {16, 2048}), options);
    for (const Opt& opt : t.before) kernel.apply(opt);
    EXPECT_EQ(kernel.why_illegal(t.opt), t.why == nullptr ? std::nullopt : std::optional<std::string>(t.why))
        << to_text(t.before) << ": " << to_text(t.opt);
  }
  EXPECT_EQ(Kernel(softmax(ops, {16, 2048}), plain).why_illegal({OptOp::Group, 0, 8}), "the language has work-groups");
  const LazyOp* scan = ops.scan(Op::ReduceSum, ops.load(1, DType::Float32, ShapeTracker::from_shape({16, 64})), 1);
  EXPECT_EQ(Kernel(ops.store(0, scan, ShapeTracker::from_shape({16, 64})), options).why_illegal({OptOp::Group, 0, 8}),
            "a scan is not grouped");
}

// Every stage is split alike: the same item has an element in all of them.
TEST(GroupedStages, AxesOfAllStages) {
  LazyOps ops;
  const CodegenOptions options = grid();
  Kernel kernel(softmax(ops, {5, 48}), options);
  kernel.apply({OptOp::Group, 0, 8});
  kernel.apply({OptOp::GroupTop, 0, 3});
  const std::vector<Axis> want{{AxisKind::Global, 0, 5, 1, Axis::kOuter, 0},
                               {AxisKind::Group, 1, 8, 1, Axis::kOuter, 0},
                               {AxisKind::Group, 1, 3, 16, Axis::kOuter, 0},
                               {AxisKind::Reduce, 1, 2, 8, 0, 0},
                               {AxisKind::Reduce, 1, 2, 8, 1, 0},
                               {AxisKind::Inner, 1, 2, 8, 2, 0}};
  EXPECT_EQ(kernel.axes(), want);
  EXPECT_EQ(kernel.shape_name(), "r_5_8_3_2_2_2");
}

}  // namespace
}  // namespace etch::grouped_stages_test
