// Kernels in LLVM IR, compiled in this process: every operation for every type it has, on values that are difficult for it; roundings; the
// recorded kernels in scalars, register tiles and vectors. Results equal the reference interpreter's.
#include <gtest/gtest.h>

#include "support/on_device.h"

namespace etch {
namespace {

using test::BackendKernel;

// `contract`: whether a * b + c may be rounded once.
std::unique_ptr<Device> device(bool contract = true) {
  DeviceOptions options;
  options.of<LlvmOptions>().contract = contract;
  return make_device("llvm", options);
}

Array reference(const LazyOp* store, const std::vector<Array>& inputs) { return test::reference_of(store, inputs); }

std::vector<Array> run(const Program& program, bool contract = true) { return device(contract)->load(program)->run({}); }

TEST(Llvm, EveryOperationOnEveryType) {
  LazyOps ops;
  const std::vector<test::OpCase> cases = test::op_cases(ops, true);
  ASSERT_GT(cases.size(), 1000u);
  test::expect_operations(*device(), cases, {});
}

TEST(Llvm, FunctionsOfTheCLibrary) {
  LazyOps ops;
  std::vector<test::OpCase> cases = test::op_cases(ops, false);
  std::erase_if(cases, [](const test::OpCase& c) { return c.tolerance == 0; });
  CodegenOptions native;
  native.native_math = true;
  test::expect_operations(*device(), cases, native);
}

TEST(Llvm, RoundsAfterEachOperation) { test::expect_roundings(*device(false)); }

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

TEST(Llvm, RecordedKernels) {
  CodegenOptions plain, tiles, vectors;
  plain.optimize = false;
  tiles.register_tiles = true;
  vectors.register_tiles = true;
  vectors.vector_bits = 256;
  const auto check = [](const test::RecordedConfig& config, const Program& program) {
    EXPECT_EQ(std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return k.text.uses_vectors; }),
              config.options.vector_bits > 0);
  };
  test::expect_recorded(*device(), {{"plain", plain}, {"hand-coded", {}}, {"register tiles", tiles}, {"vectors", vectors}}, check);
}

}  // namespace
}  // namespace etch
