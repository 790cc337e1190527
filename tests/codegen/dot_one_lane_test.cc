// OptOp TC: dot products of one lane, of bytes and in steps with weights of 16 bits. Sums by plain loops are the reference.
#include <gtest/gtest.h>

#include "support/backends.h"
#include "support/boards.h"
#include "support/dot_sums.h"

namespace etch {
namespace {

using test::DotCase;
using test::Product;
using test::store_of;

CodegenOptions options_of(const char* target) { return codegen_options(test::target_named(target), kC); }
CodegenOptions m4() { return options_of("cortex-m4f"); }
constexpr const char* kTargets[] = {"cortex-m4f", "cortex-m55"};

// Each row of the target, by itself and among other steps.
std::vector<DotCase> cases(const CodegenOptions& options) {
  const std::vector<TargetInstruction>& rows = options.instructions;
  std::vector<DotCase> all;
  std::mt19937 rng(11);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (std::size_t r = 0; r < rows.size(); r++) {
    const Opt tc{OptOp::Tensor, 0, static_cast<std::int64_t>(r)};
    std::vector<std::vector<Opt>> chains{
        {tc},
        {tc, {OptOp::Upcast, 1, 4}, {OptOp::Overlap, 0, 2}},
        {tc, {OptOp::Unroll, 0, 2}, {OptOp::Upcast, 1, 2}},
        {{OptOp::Unroll, 0, 2}, tc, {OptOp::Overlap, 0, 4}},
        {tc, {OptOp::PadTo, 0, 4}, {OptOp::Upcast, 0, 4}},
    };
    if (options.integer_vectors) {
      chains.push_back({tc, {OptOp::Vector, 1, 4}});
      chains.push_back({tc, {OptOp::Vector, 1, 4}, {OptOp::Overlap, 0, 2}});
      chains.push_back({tc, {OptOp::Vector, 1, 4}, {OptOp::Unroll, 0, 2}, {OptOp::Backwards}});
    }
    for (const std::vector<Opt>& chain : chains)
      for (const bool b_rows : {false, true}) {
        Product p{*dtype_named(rows[r].a), *dtype_named(rows[r].b), DType::Int32,
                  2 * pick(2, 4) + 1,      4 * pick(1, 3),          (options.integer_vectors ? 32 : 16) * pick(1, 4)};
        p.b_rows = b_rows;
        p.b_first = pick(0, 1) == 1;
        all.push_back({p, chain, pick(0, 3) > 0});
      }
    if (rows[r].steps > 1) continue;
    for (const std::size_t chain : {std::size_t{0}, std::size_t{1}})  // some products are left over
      for (const bool b_rows : {false, true}) {
        Product p{*dtype_named(rows[r].a), *dtype_named(rows[r].b), DType::Int32,
                  2 * pick(2, 4) + 1,      4 * pick(1, 3),          rows[r].macs * pick(1, 8) + pick(1, 3)};
        p.b_rows = b_rows;
        all.push_back({p, chains[chain], pick(0, 3) > 0});
      }
  }
  return all;
}

Array numbers(DType dtype, std::int64_t n, std::mt19937& rng) {
  if (dtype != DType::Int16) return test::random_numbers(dtype, n, rng);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<std::int64_t>(rng() % 256) - 128);  // a byte, widened
  return Array::of_ints(dtype, {n}, values);
}

class DotOfOneLane : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, DotOfOneLane, testing::ValuesIn(kTargets), [](const auto& made) {
  std::string name = made.param;
  std::erase(name, '-');
  return name;
});

TEST_P(DotOfOneLane, GivesTheSums) {
  const CodegenOptions target = options_of(GetParam());
  const std::vector<DotCase> all = cases(target);
  EXPECT_EQ(all.size(), target.integer_vectors ? 100u : 62u);
  std::mt19937 rng(12);
  const auto of_case = [&](const DotCase&, DType dtype, std::int64_t n) { return numbers(dtype, n, rng); };
  test::expect_dot_sums(all, target, of_case, test::strict_flags(), "cc");
}

TEST_P(DotOfOneLane, GivesTheSumsInLlvm) {
  LazyOps ops;
  std::mt19937 rng(13);
  const CodegenOptions target = options_of(GetParam());
  const std::vector<DotCase> all = cases(target);
  const std::unique_ptr<Device> device = make_device("llvm", {});
  std::vector<std::vector<Array>> inputs;
  std::vector<test::BackendKernel> kernels;
  for (const DotCase& c : all)
    inputs.push_back({numbers(c.product.a, c.product.m * c.product.k, rng), numbers(c.product.b, c.product.k * c.product.n, rng)});
  for (std::size_t i = 0; i < all.size(); i++)
    kernels.push_back({store_of(ops, all[i].product), &inputs[i], all[i].product.m * all[i].product.n, all[i].opts});
  const auto outputs = device->load(test::program_of(kernels, *device->language(), target, true))->run({});
  for (std::size_t i = 0; i < all.size(); i++) {
    const test::ProductSums want = test::sums_of(all[i].product, inputs[i][0], inputs[i][1]);
    for (std::int64_t e = 0; e < outputs[i].size(); e++)
      ASSERT_EQ(outputs[i].double_at(e), want.sums[static_cast<std::size_t>(e)]) << to_text(all[i].opts);
  }
}

// With steps, b has to lie in the order of the steps: constants alone can; a keeps the order of memory.
TEST(DotOfOneLaneOnM4, HeuristicsPlaceTiles) {
  LazyOps ops;
  const CodegenOptions options = m4();
  struct Row {
    DType b;
    std::int64_t m, k;
    bool b_is_constant;
    const char* opts;
  };
  const Row rows[] = {
      {DType::Int8, 8, 32, true, "TC 0 0, UPCAST 1 4, UPCAST 0 2"},
      {DType::Int8, 125, 32, true, "TC 0 0, UPCAST 1 4, OVERLAP 0 2"},
      {DType::Int16, 125, 64, true, "TC 0 3, UPCAST 1 4, OVERLAP 0 2, UNROLL 0 4"},
      {DType::Int16, 125, 64, false, ""},
      {DType::Int16, 125, 62, true, ""},
  };
  for (const Row& row : rows) {
    const Product p{DType::Int8, row.b, DType::Int32, row.m, 16, row.k};
    Kernel kernel(store_of(ops, p), options);
    std::vector<KernelArgument> arguments(3);
    arguments[1].elements = p.m * p.k;
    arguments[2].elements = p.k * p.n;
    arguments[2].is_constant = row.b_is_constant;
    EXPECT_EQ(tensor_optimizations(kernel, arguments), *row.opts != '\0');
    EXPECT_EQ(to_text(kernel.applied()), row.opts);
  }
}

// The compiler of the target uses the instructions, and its text is C without warnings.
TEST(DotOfOneLaneOnM4, TheTargetsCompilerUsesTheInstructions) {
  const Target target = test::target_named("cortex-m4f");
  if (const std::string why = test::missing_compiler_line(target); !why.empty()) GTEST_SKIP() << why;
  for (const std::size_t r : {std::size_t{0}, std::size_t{3}, std::size_t{4}}) {
    const TargetInstruction row = m4().instructions[r];
    const Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 4, 4, 16};
    const std::string code = test::dot_assembly({p, {{OptOp::Tensor, 0, static_cast<std::int64_t>(r)}}}, m4(), test::compiler_of(target));
    EXPECT_NE(code.find("smlad"), std::string::npos) << row.name;
    EXPECT_NE(code.find("ror #8"), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace etch
