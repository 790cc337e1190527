// OptOp TC: dot products of several lanes, each row of each target by itself and among other steps. Sums by plain loops are the reference.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "support/compiled.h"
#include "support/instructions.h"

namespace etch {
namespace {

using test::Product;
using test::store_of;

struct TargetRow {
  const char* target;
  std::vector<const char*> mnemonics;  // of each of its rows
  const char* processor;               // the flag of this machine's processor that the instructions need; empty: it is another one
};
const TargetRow kTargets[] = {{"cortex-a55", {"sdot", "udot"}, ""},
                              {"x86-64-v3", {"vpmaddwd", "vpmaddwd"}, "avx2"},
                              {"x86-64-v4", {"vpmaddwd", "vpmaddwd", "vpmaddwd"}, "avx512bw"},
                              {"x86-64-vnni", {"vpdpbusd", "vpdpbusd"}, "avx512_vnni"}};
void PrintTo(const TargetRow& row, std::ostream* out) { *out << row.target; }

struct Case {
  Product product;
  std::vector<Opt> opts;
  bool extremes = false;  // the products of the largest magnitude
};

std::vector<Case> cases(const CodegenOptions& options) {
  std::vector<Case> all;
  std::mt19937 rng(14);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (std::size_t r = 0; r < options.instructions.size(); r++) {
    const TargetInstruction& row = options.instructions[r];
    const Opt tc{OptOp::Tensor, 0, static_cast<std::int64_t>(r)};
    const std::vector<std::vector<Opt>> chains{{tc},
                                               {tc, {OptOp::Upcast, 0, 3}},
                                               {tc, {OptOp::Unroll, 0, 2}, {OptOp::Upcast, 1, 2}},
                                               {{OptOp::Unroll, 0, 2}, tc, {OptOp::Upcast, 0, 3}},
                                               {tc, {OptOp::PadTo, 0, 4}, {OptOp::Upcast, 0, 4}}};
    for (const std::vector<Opt>& chain : chains)
      for (const bool b_rows : {false, true}) {
        Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 3 * pick(1, 3), row.lanes * 2 * pick(1, 2), 8 * pick(1, 6)};
        p.b_rows = b_rows;
        p.b_first = pick(0, 1) == 1;
        all.push_back({p, chain, all.size() % 5 == 4});
      }
  }
  return all;
}

Array numbers(DType dtype, std::int64_t n, bool extremes, std::mt19937& rng) {
  const std::int64_t extreme = dtype == DType::Int8 ? -128 : 255;
  return extremes ? Array::of_ints(dtype, {n}, std::vector<std::int64_t>(static_cast<std::size_t>(n), extreme))
                  : test::random_numbers(dtype, n, rng);
}

class DotOfLanes : public testing::TestWithParam<TargetRow> {
 protected:
  const Target target = test::target_named(GetParam().target);
  const CodegenOptions options = codegen_options(target, kC);
};

void expect_sums(const CodegenOptions& target, const std::vector<std::string>& flags, const std::string& compiler) {
  LazyOps ops;
  std::mt19937 rng(15);
  const std::vector<Case> all = cases(target);
  std::vector<std::string> sources;
  std::set<std::string> definitions;
  std::vector<std::vector<Array>> inputs;
  std::vector<test::ProductSums> wanted;
  for (const Case& c : all) {
    const Product& p = c.product;
    CodegenOptions options = target;
    options.opts = c.opts;
    const LazyOp* store = store_of(ops, p);
    const std::string name = "k" + std::to_string(sources.size());
    const ProgramKernel kernel =
        generate_kernel(store, test::signature_of(name, store, {p.m * p.n, p.m * p.k, p.k * p.n}, {false, false, true}), kC, options);
    EXPECT_NE(kernel.uops.find(" = Dot int32x"), std::string::npos) << to_text(c.opts);
    sources.push_back(kernel.text.source);
    definitions.insert(kernel.text.definitions.begin(), kernel.text.definitions.end());
    const Array a = numbers(p.a, p.m * p.k, c.extremes, rng), b = numbers(p.b, p.k * p.n, c.extremes, rng);
    wanted.push_back(test::sums_of(p, a, b));
    inputs.push_back({a, kernel.arguments[2].layout ? relayout(b, *kernel.arguments[2].layout) : b});
  }
  std::string text;
  for (const std::string& d : definitions) text += d;
  sources[0].insert(0, text);
  const test::Compiled compiled(sources, flags, compiler);
  for (std::size_t i = 0; i < all.size(); i++) {
    const Array got = compiled.run(static_cast<int>(i), DType::Int32, all[i].product.m * all[i].product.n, inputs[i]);
    for (std::int64_t e = 0; e < got.size(); e++)
      ASSERT_EQ(got.double_at(e), wanted[i].sums[static_cast<std::size_t>(e)]) << to_text(all[i].opts) << "\n" << sources[i];
  }
}

TEST_P(DotOfLanes, GiveTheSumsInPlainC) { expect_sums(options, test::strict_flags(), "cc"); }

TEST_P(DotOfLanes, GiveTheSumsByTheInstruction) {
  std::ifstream file("/proc/cpuinfo");
  const std::string processor{std::istreambuf_iterator<char>(file), {}}, wanted = GetParam().processor;
  if (wanted.empty() || processor.find(" " + wanted) == std::string::npos) GTEST_SKIP() << "this processor does not have it";
  std::vector<std::string> flags = test::strict_flags();
  for (const std::string& flag : target.toolchain.flags_of(FlagKind::Code)) flags.push_back(flag);
  flags.push_back("-O1");
  if (find_program("clang-19")) expect_sums(options, flags, "clang-19");
}

// The compiler of the target makes that instruction of each row.
TEST_P(DotOfLanes, AreInstructionsOfTheTargetsCompiler) {
  const std::string compiler = target.toolchain.compilers[0];
  if (!find_program(compiler)) GTEST_SKIP() << compiler << " is not installed";
  ASSERT_EQ(options.instructions.size(), GetParam().mnemonics.size());
  LazyOps ops;
  const TempDir dir("etch-test");
  for (std::size_t r = 0; r < options.instructions.size(); r++) {
    const TargetInstruction& row = options.instructions[r];
    CodegenOptions own = options;
    own.opts = {{{OptOp::Tensor, 0, static_cast<std::int64_t>(r)}}};
    const Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 4, row.lanes, 16};
    const LazyOp* store = store_of(ops, p);
    const ProgramKernel kernel =
        generate_kernel(store, test::signature_of("k0", store, {p.m * p.n, p.m * p.k, p.k * p.n}, {false, false, true}), kC, own);
    const std::string file = (dir.path() / "k.c").string(), out = (dir.path() / "k.s").string();
    std::string text = "#include \"etch_math.h\"\n#include \"etch_quant.h\"\n";
    for (const std::string& d : kernel.text.definitions) text += d;
    std::ofstream(file) << text + kernel.text.source + "void (*const f)(void *const *arg) = k0;\n";
    std::vector<std::string> command{compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-I" ETCH_SOURCE_DIR "/runtime_c"};
    for (const FlagKind kind : {FlagKind::Abi, FlagKind::Code})
      for (const std::string& flag : target.toolchain.flags_of(kind)) command.push_back(flag);
    command.insert(command.end(), {"-S", "-o", out, file});
    const ProcessResult result = run_process(command);
    if (result.err.find("gnu/stubs") != std::string::npos || result.err.find("file not found") != std::string::npos)
      GTEST_SKIP() << "the headers of the target's C library are not installed";
    ASSERT_TRUE(result.ok()) << describe(result) << result.err.substr(0, 2000);
    std::ifstream assembly(out);
    const std::string code{std::istreambuf_iterator<char>(assembly), {}};
    EXPECT_NE(code.find(GetParam().mnemonics[r]), std::string::npos) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DotOfLanes, testing::ValuesIn(kTargets), [](const auto& made) {
  std::string name = made.param.target;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace etch
