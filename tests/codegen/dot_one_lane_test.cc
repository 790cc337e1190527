// OptOp TC: dot products of one lane, of bytes and in steps with weights of 16 bits. Sums by plain loops are the reference.
#include <gtest/gtest.h>

#include "support/backends.h"
#include "support/boards.h"
#include "support/dot_sums.h"

namespace etch::dot_one_lane_test {
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
    if (rows[r].steps > 1 || rows[r].words) continue;
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
  EXPECT_EQ(all.size(), target.integer_vectors ? 100u : 102u);
  std::mt19937 rng(12);
  const auto of_case = [&](const DotCase&, DType dtype, std::int64_t n) { return numbers(dtype, n, rng); };
  int in_words = 0;
  test::expect_dot_sums(all, target, of_case, test::strict_flags(), "cc", &in_words);
  EXPECT_GE(in_words, target.integer_vectors ? 0 : 20);  // of 40
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
  CodegenOptions options = m4();
  struct Row {
    DType b;
    std::int64_t m, n, k;
    bool b_is_constant;
    const char* opts;
    bool small_code = false;
  };
  const Row rows[] = {
      {DType::Int8, 8, 16, 32, true, "TC 0 4, UPCAST 1 4, UPCAST 0 2"},
      {DType::Int8, 125, 16, 32, true, "TC 0 4, UPCAST 1 4, OVERLAP 0 2"},
      {DType::Int16, 125, 3, 64, true, "TC 0 7, UPCAST 1 3, OVERLAP 0 2, UNROLL 0 4"},
      {DType::Int16, 125, 16, 64, false, ""},
      {DType::Int16, 125, 16, 62, true, ""},
      // Whole words: sums that share the bytes, and copies of the loop, of which turns are left.
      {DType::Int16, 125, 16, 64, true, "TC 0 2, UPCAST 1 8, UNROLL 0 8"},
      {DType::Int16, 125, 36, 32, true, "TC 0 2, UPCAST 1 6, UNROLL 0 4"},
      {DType::Int8, 1, 128, 640, true, "TC 0 0, UPCAST 0 4, UNROLL 0 10"},
      {DType::Int8, 1, 128, 640, true, "TC 0 0, UPCAST 0 4, UNROLL 0 4", true},
      {DType::Int8, 1, 128, 64, true, "TC 0 0, UPCAST 0 4", true},
      {DType::Int8, 1, 128, 640, false, ""},
  };
  for (const Row& row : rows) {
    options.small_code = row.small_code;
    const Product p{DType::Int8, row.b, DType::Int32, row.m, row.n, row.k};
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
  for (std::size_t r = 0; r < m4().instructions.size(); r++) {
    const TargetInstruction row = m4().instructions[r];
    const Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 4, 4, 16};
    const std::vector<Opt> opts{{OptOp::Tensor, 0, static_cast<std::int64_t>(r)}, {OptOp::Upcast, 1, 4}};
    const std::string code = test::dot_assembly({p, opts}, m4(), test::compiler_of(target));
    EXPECT_NE(code.find("smlad"), std::string::npos) << row.name;
    EXPECT_NE(code.find("ror #8"), std::string::npos) << row.name;
    std::size_t pairs = 0;  // words of b that are loaded two at a time, in all turns of the loop that is left
    for (std::size_t at = code.find("ldrd"); at != std::string::npos; at = code.find("ldrd", at + 1)) pairs++;
    EXPECT_GE(pairs, row.words ? 4u : 0u) << row.name << "\n" << code;
  }
}

}  // namespace
}  // namespace etch::dot_one_lane_test
