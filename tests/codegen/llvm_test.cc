// Kernels in LLVM IR, compiled in this process: every operation for every type it has, on values that are difficult for it; roundings; the
// recorded kernels in scalars, register tiles and vectors. Results equal the reference interpreter's.
#include <gtest/gtest.h>

#include <cmath>

#include "interp/interp.h"
#include "ir/near.h"
#include "support/ast_cases.h"
#include "support/backends.h"
#include "support/op_cases.h"
#include "support/rounding_cases.h"

namespace etch {
namespace {

using test::BackendKernel;

// `contract`: whether a * b + c may be rounded once.
std::vector<Array> run(const Program& program, bool contract = true) {
  DeviceOptions options;
  options.of<LlvmOptions>().contract = contract;
  return make_device("llvm", options)->load(program)->run({});
}

Array reference(const LazyOp* store, const std::vector<Array>& inputs) {
  std::vector<const Array*> pointers;
  for (const Array& a : inputs) pointers.push_back(&a);
  return interp_evaluate(store, pointers);
}

void expect_operations(const std::vector<test::OpCase>& cases, const CodegenOptions& options) {
  std::vector<BackendKernel> kernels;
  for (std::size_t i = 0; i < cases.size(); i++) {
    BackendKernel kernel{cases[i].ast, &cases[i].inputs, test::kOpCaseSize, std::nullopt};
    if (i % 16 != 0) kernel.opts = std::vector<Opt>();  // the copies of an upcast are the same IR again
    kernels.push_back(kernel);
  }
  const Program program = test::program_of(kernels, kLlvm, options);
  const std::vector<Array> got = run(program);
  int wrong = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 20; i++) {
    const std::string problem = test::difference(cases[i], got[i], reference(cases[i].ast, cases[i].inputs), cases[i].tolerance);
    EXPECT_EQ(problem, "") << program.kernels[i].text.source;
    wrong += problem.empty() ? 0 : 1;
  }
}

TEST(Llvm, EveryOperationOnEveryType) {
  LazyOps ops;
  const std::vector<test::OpCase> cases = test::op_cases(ops, true);
  ASSERT_GT(cases.size(), 1000u);
  expect_operations(cases, {});
}

TEST(Llvm, FunctionsOfTheCLibrary) {
  LazyOps ops;
  std::vector<test::OpCase> cases = test::op_cases(ops, false);
  std::erase_if(cases, [](const test::OpCase& c) { return c.tolerance == 0; });
  CodegenOptions native;
  native.native_math = true;
  expect_operations(cases, native);
}

TEST(Llvm, RoundsAfterEachOperation) {
  LazyOps ops;
  std::vector<test::RoundingChain> chains;
  std::vector<std::vector<Array>> inputs;
  for (const test::RoundingCase& c : test::kRoundingCases)
    for (test::RoundingChain& chain : test::rounding_chains(ops, c)) {
      inputs.push_back({Array::of_doubles(c.dtype, {test::kRoundingSize}, test::kRoundingInput)});
      chains.push_back(std::move(chain));
    }
  std::vector<BackendKernel> kernels;
  for (std::size_t i = 0; i < chains.size(); i++) kernels.push_back({chains[i].store, &inputs[i], test::kRoundingSize, std::nullopt});
  const std::vector<Array> got = run(test::program_of(kernels, kLlvm, {}), false);
  for (std::size_t i = 0; i < chains.size(); i++) EXPECT_EQ(got[i].doubles(), chains[i].expected) << chains[i].name;
}

// 1 + x + x * x, as bits, for a value whose square needs more bits than a float has.
TEST(Llvm, ContractsAsTheOptionsSay) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({1});
  const LazyOp *x = ops.load(1, DType::Float32, st), *c = ops.load(2, DType::Float32, st);
  const LazyOp* store = ops.store(0, ops.elementwise(Op::Add, {ops.elementwise(Op::Mul, {x, x}), c}), st);
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {1}, std::vector<double>{1 + 0x1p-12}),
                                  Array::of_doubles(DType::Float32, {1}, std::vector<double>{-1 - 0x1p-11})};
  const Program program = test::program_of({{store, &inputs, 1, std::nullopt}}, kLlvm, {});
  EXPECT_EQ(run(program, false)[0].double_at(0), 0);
  const double fused = run(program, true)[0].double_at(0);
  EXPECT_TRUE(fused == 0 || fused == 0x1p-24) << fused;  // 0: a processor without the instruction
}

// x < 0 ? x + 0 : x < 1 ? x + 1 : ... : exp(x): each branch in another, more of them than are nested in IR.
TEST(Llvm, ManyBranchesInEachOther) {
  LazyOps ops;
  constexpr std::int64_t kSize = 64;
  const ShapeTracker st = ShapeTracker::from_shape({kSize});
  const LazyOp* x = ops.load(1, DType::Float32, st);
  const LazyOp* value = ops.elementwise(Op::Exp, {x});
  for (int i = 50; i >= 0; i--) {
    const LazyOp* c = ops.constant(Scalar::of_int(DType::Float32, i), ShapeTracker::from_shape({1}).expand({kSize}));
    value = ops.elementwise(Op::Where, {ops.elementwise(Op::CmpLt, {x, c}), ops.elementwise(Op::Add, {x, c}), value});
  }
  const LazyOp* store = ops.store(0, value, st);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < kSize; i++) numbers.push_back(static_cast<double>(i) - 4.5);
  const std::vector<Array> inputs{Array::of_doubles(DType::Float32, {kSize}, numbers)};
  const Program program = test::program_of({{store, &inputs, kSize, std::nullopt}}, kLlvm, {});
  const Array got = run(program)[0], wanted = reference(store, inputs);
  for (std::int64_t i = 0; i < kSize; i++)
    EXPECT_TRUE(is_near(got.double_at(i), wanted.double_at(i), 1e-6 * std::fabs(wanted.double_at(i)))) << i << " " << got.double_at(i);
}

struct Config {
  const char* name;
  int vector_bits;
  bool register_tiles, optimize;
};

TEST(Llvm, RecordedKernels) {
  LazyOps ops;
  const std::vector<test::AstCase> cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  ASSERT_EQ(cases.size(), 160u);
  std::vector<BackendKernel> kernels;
  std::vector<Array> wanted;
  for (const test::AstCase& c : cases) {
    kernels.push_back({c.store, &c.inputs, c.output_size, std::nullopt});
    wanted.push_back(reference(c.store, c.inputs));
  }
  constexpr Config kConfigs[] = {
      {"plain", 0, false, false}, {"hand-coded", 0, false, true}, {"register tiles", 0, true, true}, {"vectors", 256, true, true}};
  for (const Config& config : kConfigs) {
    CodegenOptions options;
    options.vector_bits = config.vector_bits;
    options.register_tiles = config.register_tiles;
    options.optimize = config.optimize;
    const Program program = test::program_of(kernels, kLlvm, options, true);
    EXPECT_EQ(std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return k.text.uses_vectors; }), config.vector_bits > 0);
    const std::vector<Array> got = run(program);
    for (std::size_t k = 0; k < cases.size(); k++) {
      const double mean = cases[k].output_abs_sum / static_cast<double>(std::max<std::int64_t>(cases[k].output_size, 1));
      const double scale = std::isfinite(mean) ? mean : 1.0;
      for (std::int64_t i = 0; i < got[k].size(); i++) {
        const double g = got[k].double_at(i), w = wanted[k].double_at(i);
        ASSERT_TRUE(is_near(g, w, 2e-3 * std::fabs(w) + 2e-4 * scale))
            << config.name << " " << cases[k].id << " element " << i << " is " << g << ", expected " << w;
      }
    }
  }
}

}  // namespace
}  // namespace etch
