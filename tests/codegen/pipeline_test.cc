// PIPELINE: the first stage of the next turn of a loop beside the second one of this turn. Random kernels of several stages against loops
// that compute each value by hand, as C and by LLVM, where outputs lie over inputs and where workers share the loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/in_place.h"
#include "support/kernel_replay.h"
#include "support/random_stages.h"
#include "support/rounds.h"

namespace etch::pipeline_test {
namespace {

using test::KnownAst;

CodegenOptions options_of(const Language& language, int vector_bits) {
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  options.float_registers = 32;
  return options;
}

// Steps in random order, of which the last begins a stage early; none if the kernel has no such stages.
std::vector<Opt> steps_of(const LazyOp* store, const CodegenOptions& options, std::mt19937& rng) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  Kernel k(store, options);
  for (int axis = k.first_upcast() - 1; options.vector_bits > 0 && axis >= k.first_reduce() && pick(0, 3) > 0; axis--)
    if (k.try_apply({OptOp::Vector, axis, options.vector_bits / 32})) break;
  for (int tries = pick(0, 2); tries > 0; tries--) k.try_apply({OptOp::Upcast, pick(0, 2), pick(2, 3)});
  if (pick(0, 1) == 0)
    for (int axis = 0; axis < 4; axis++) k.try_apply({OptOp::Unroll, axis, 2});
  if (pick(0, 2) == 0) k.try_apply({OptOp::Backwards});
  if (pick(0, 2) == 0) k.try_apply({OptOp::Outermost, 1, 0});
  const int turns = k.count(AxisKind::Global) - 1;
  if (pick(0, 2) == 0) k.try_apply({OptOp::Prefetch, turns, 0});
  return k.try_apply({OptOp::Pipeline}) ? k.applied() : std::vector<Opt>();
}

/// Random kernels that can begin a stage early, and the steps that do.
class Pipelined {
 public:
  Pipelined(unsigned seed, CodegenOptions options) : options_(std::move(options)), stages_(seed) {}

  std::pair<std::unique_ptr<KnownAst>, std::vector<Opt>> next() {
    while (true) {
      std::unique_ptr<KnownAst> ast = stages_.next();
      std::vector<Opt> steps = steps_of(ast->store, options_, stages_.rng());
      if (!steps.empty()) return {std::move(ast), std::move(steps)};
    }
  }

 private:
  CodegenOptions options_;
  test::Stages stages_;
};

void compare(const std::string& name, const Language& language, unsigned seed, int vector_bits) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  const CodegenOptions options = options_of(language, vector_bits);
  Pipelined random(seed, options);
  std::vector<std::unique_ptr<KnownAst>> cases;
  std::vector<test::BackendKernel> kernels;
  for (int i = 0; i < test::rounds(150); i++) {
    auto [ast, steps] = random.next();
    kernels.push_back({ast->store, &ast->inputs, static_cast<std::int64_t>(ast->expected.size()), steps});
    cases.push_back(std::move(ast));
  }
  const Program program = test::program_of(kernels, language, options, true);
  const std::vector<Array> got = device->load(program)->run({});
  const auto is_late = [](const ProgramKernel& kernel) { return kernel.uops.find(" last_") != std::string::npos; };
  EXPECT_GT(std::ranges::count_if(program.kernels, is_late), std::ssize(cases) / 10) << "what is stored a turn late";
  for (std::size_t k = 0; k < cases.size(); k++)
    ASSERT_EQ(test::first_difference(got[k], cases[k]->expected), "") << k << ", " << program.kernels[k].opts << "\n"
                                                                      << to_text(cases[k]->store) << program.kernels[k].text.source;
}

TEST(Pipeline, CAgreesWithLoops) { compare("c", kC, 1, 0); }
TEST(Pipeline, VectorsAgreeWithLoops) { compare("c", kC, 2, 128); }
TEST(Pipeline, LlvmAgreesWithLoops) { compare("llvm", kLlvm, 3, 0); }
TEST(Pipeline, LlvmVectorsAgreeWithLoops) { compare("llvm", kLlvm, 4, 256); }

TEST(Pipeline, AgreesWithLoopsWhereOutputsLieOverInputs) {
  const auto device = test::backend("c");
  if (!device) GTEST_SKIP() << device.why;
  test::InPlace in_place(kC, 128);
  Pipelined random(5, in_place.options());
  std::vector<std::unique_ptr<KnownAst>> cases;
  while (std::ssize(cases) < test::rounds(100)) {
    auto [ast, steps] = random.next();
    if (in_place.add(*ast, steps)) cases.push_back(std::move(ast));
  }
  test::expect_in_place_agrees(*device, in_place, cases, std::ssize(cases) / 2, test::first_difference);
}

// Sums of products of integers over unrolled steps are added element by element elsewhere.
TEST(Pipeline, OfIntegersInUnrolledStepsAgreesWithLoops) {
  const auto device = test::backend("c");
  if (!device) GTEST_SKIP() << device.why;
  constexpr std::int64_t kRows = 8, kLength = 8;
  KnownAst c;
  const std::vector<Sint> whole{kRows, kLength};
  const ShapeTracker st = ShapeTracker::from_shape(whole);
  const LazyOp* x = c.ops.load(1, DType::Int32, st);
  const LazyOp* distance = c.ops.elementwise(Op::Sub, {x, c.ops.expand(c.ops.reduce(Op::ReduceMax, x, {1}), whole)});
  const LazyOp* sum = c.ops.reduce(Op::ReduceSum, c.ops.elementwise(Op::Mul, {distance, distance}), {1});
  c.store = c.ops.store(0, sum, ShapeTracker::from_shape({kRows, 1}));
  std::vector<double> data;
  for (std::int64_t i = 0; i < kRows * kLength; i++) data.push_back(static_cast<double>(i * 37 % 23));
  c.inputs.push_back(Array::of_doubles(DType::Int32, {kRows * kLength}, data));
  for (std::int64_t row = 0; row < kRows; row++) {
    const auto begin = data.begin() + row * kLength;
    const double largest = *std::max_element(begin, begin + kLength);
    double total = 0;
    for (auto v = begin; v != begin + kLength; v++) total += (*v - largest) * (*v - largest);
    c.expected.push_back(total);
  }
  const std::vector<Opt> steps{{OptOp::Upcast, 0, 2}, {OptOp::Unroll, 0, 2}, {OptOp::Unroll, 1, 2}, {OptOp::Pipeline}};
  const Program program = test::program_of({{c.store, &c.inputs, kRows, steps}}, kC, options_of(kC, 0));
  EXPECT_EQ(test::first_difference(device->load(program)->run({})[0], c.expected), "") << program.kernels[0].text.source;
}

// The bytes of rows that a worker reads, and those that it writes.
using Bytes = std::set<std::int64_t>;

struct Rows {
  Bytes read, written;
};

Rows rows_of(const LinearKernel& made, int worker, int workers) {
  Rows rows;
  const test::KernelReplay replay(made.linear.uops, made.arguments, {{"worker", worker}, {"workers", workers}});
  for (const test::MemoryEvent& e : replay.events())
    for (std::int64_t at = e.begin; at < e.end; at++) (e.is_store ? rows.written : rows.read).insert(at);
  return rows;
}

const LazyOp* softmax(LazyOps& ops, std::int64_t rows, std::int64_t length) {
  const std::vector<Sint> whole{rows, length};
  const ShapeTracker st = ShapeTracker::from_shape(whole);
  const LazyOp* x = ops.load(1, DType::Float32, st);
  const auto reduced = [&](Op op, const LazyOp* a) { return ops.expand(ops.reduce(op, a, {1}), whole); };
  const LazyOp* e = ops.elementwise(Op::ExpNonPos, {ops.elementwise(Op::Sub, {x, reduced(Op::ReduceMax, x)})});
  return ops.store(0, ops.elementwise(Op::Div, {e, reduced(Op::ReduceSum, e)}), st);
}

std::vector<KernelArgument> arguments_of(std::int64_t elements) {
  return {{DType::Float32, elements, "out", Access::Write}, {DType::Float32, elements, "in"}};
}

// With one loop over rows a worker reads those alone that it writes, also where it has none: another one may write over the input there.
TEST(Pipeline, WorkersReadTheirOwnRows) {
  for (const std::int64_t rows : {2, 3, 5, 16})
    for (const bool backwards : {false, true}) {
      CodegenOptions options = options_of(kC, 128);
      options.workers = {.most = 4, .least_work = 0};
      LazyOps ops;
      Kernel k(softmax(ops, rows, 20), options);
      k.apply({OptOp::Vector, 1, 4});
      if (backwards) k.apply({OptOp::Backwards});
      k.apply({OptOp::Pipeline});
      const LinearKernel made = linearize_kernel(k, arguments_of(rows * 20), kC);
      prove_indices(made.linear, made.arguments);
      ASSERT_FALSE(made.linear.shared.empty());
      for (int workers = 1; workers <= 4; workers++) {
        std::size_t all = 0;
        for (int worker = 0; worker < workers; worker++) {
          const Rows own = rows_of(made, worker, workers);
          EXPECT_EQ(own.read, own.written) << worker << " of " << workers << ", " << rows << " rows";
          all += own.written.size();
        }
        EXPECT_EQ(all, static_cast<std::size_t>(rows * 20 * 4));
      }
    }
}

// Three passes over each row became two: an element of the input is loaded for the largest one and for exp, those of the last rows once
// more for a turn that there is not.
TEST(Pipeline, ReadsRowsOnceAhead) {
  constexpr std::int64_t kRows = 12, kLength = 32;
  const CodegenOptions options = options_of(kC, 512);
  LazyOps ops;
  Kernel k(softmax(ops, kRows, kLength), options);
  k.apply({OptOp::Vector, 1, 16});
  k.apply({OptOp::Upcast, 0, 2});
  k.apply({OptOp::Pipeline});
  const LinearKernel made = linearize_kernel(k, arguments_of(kRows * kLength), kC);
  std::map<std::int64_t, int> loads;  // by row
  const test::KernelReplay replay(made.linear.uops, made.arguments);
  for (const test::MemoryEvent& e : replay.events())
    if (!e.is_store && e.argument == 1) loads[e.begin / (kLength * 4)]++;
  for (std::int64_t row = 0; row < kRows; row++) EXPECT_EQ(loads[row], (row < kRows - 2 ? 2 : 3) * kLength / 16) << row;
}

std::string chosen(std::int64_t rows, std::int64_t length, const CodegenOptions& options) {
  LazyOps ops;
  return to_text(choose_opts(softmax(ops, rows, length), arguments_of(rows * length), options).applied());
}

// Where there are turns and registers for it, and rows lie in a cache.
TEST(Pipeline, IsTakenWhereItPays) {
  const auto has = [](const std::string& text, const char* step) { return text.find(step) != std::string::npos; };
  CodegenOptions options = options_of(kC, 512);
  options.cache_bytes = 64 << 10;
  EXPECT_TRUE(has(chosen(64, 64, options), "PIPELINE"));
  EXPECT_TRUE(has(chosen(64, 72, options), "PIPELINE")) << "half a vector is left over";
  EXPECT_FALSE(has(chosen(64, 64, options), "PREFETCH"));
  EXPECT_FALSE(has(chosen(8, 64, options), "PIPELINE")) << "few turns";
  EXPECT_FALSE(has(chosen(2048, 64, options), "PIPELINE")) << "farther away";
  EXPECT_TRUE(has(chosen(2048, 64, options), "PREFETCH 0"));
  options.workers = {.most = 8, .least_work = 0};
  EXPECT_FALSE(has(chosen(64, 64, options), "PIPELINE")) << "few turns for each";
  options.workers = {};
  options.float_registers = 16;
  EXPECT_FALSE(has(chosen(64, 64, options), "PIPELINE"));
  options.float_registers = 32;
  options.in_order = true;
  EXPECT_FALSE(has(chosen(64, 64, options), "PIPELINE"));
}

TEST(Pipeline, SaysWhyNot) {
  LazyOps ops;
  const CodegenOptions options = options_of(kC, 128);
  const LazyOp* store = softmax(ops, 12, 32);
  const auto why = [&](const std::vector<Opt>& before, const Opt& opt) {
    Kernel k(store, options);
    for (const Opt& step : before) k.apply(step);
    return k.why_illegal(opt).value_or("");
  };
  const Opt pipeline{OptOp::Pipeline};
  EXPECT_EQ(why({}, pipeline), "");
  EXPECT_EQ(why({}, {OptOp::Pipeline, 0, 2}), "it takes no axis and no amount");
  EXPECT_EQ(why({}, {OptOp::Pipeline, 1, 0}), "it takes no axis and no amount");
  EXPECT_EQ(why({pipeline}, pipeline), "nothing is computed ahead yet");
  EXPECT_EQ(why({{OptOp::Upcast, 0, 12}}, pipeline), "there is a loop over an axis that is not reduced");
  EXPECT_EQ(why({{OptOp::Unroll, 0, 2}}, pipeline), "the first two stages have the same loops");
  const ShapeTracker row = ShapeTracker::from_shape({12, 1}), whole = ShapeTracker::from_shape({12, 32});
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.load(1, DType::Float32, whole), {1});
  store = ops.store(0, sum, row);
  EXPECT_EQ(why({}, pipeline), "its second stage has a sum, which is no running one");
  const LazyOp* other = ops.elementwise(Op::Sub, {ops.load(2, DType::Float32, whole), ops.expand(sum, {12, 32})});
  store = ops.store(0, ops.reduce(Op::ReduceSum, other, {1}), row);
  EXPECT_EQ(why({{OptOp::Vector, 0, 4}}, pipeline), "lanes are of the reduced axis");
  EXPECT_EQ(why({}, pipeline), "the first stage reads what the second one reads too, element by element");
}

// Steps behind it that leave the stages other loops, or others around them, undo it.
TEST(Pipeline, EndsWithTheLoopsThatItNeeds) {
  LazyOps ops;
  const CodegenOptions options = options_of(kC, 128);
  const LazyOp* store = softmax(ops, 12, 32);
  for (const Opt& behind : {Opt{OptOp::Unroll, 0, 2}, Opt{OptOp::Upcast, 0, 12}}) {
    Kernel k(store, options);
    k.apply({OptOp::Pipeline});
    EXPECT_EQ(k.pipelined_axis(), 0);
    k.apply(behind);
    EXPECT_EQ(k.pipelined_axis(), -1) << to_text(behind);
    prove_indices(linearize_kernel(k, arguments_of(12 * 32), kC).linear, arguments_of(12 * 32));
  }
}

}  // namespace
}  // namespace etch::pipeline_test
