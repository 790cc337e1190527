// For tests of OptOp TC: kernels of dot products run as C and compared with plain loops, or as text of the target's compiler.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>

#include "base/runtime_text.h"
#include "support/compiled.h"
#include "support/instructions.h"

namespace etch::test {

/// A product and the steps that its kernel takes.
struct DotCase {
  Product product;
  std::vector<Opt> opts;
  bool may_lay_out = true;  // b
  bool extremes = false;    // the products of the largest magnitude
};

inline ProgramKernel dot_kernel(LazyOps& ops, const std::string& name, const DotCase& c, CodegenOptions options) {
  options.opts = c.opts;
  const Product& p = c.product;
  const LazyOp* store = store_of(ops, p);
  return generate_kernel(store, signature_of(name, store, {p.m * p.n, p.m * p.k, p.k * p.n}, {false, false, c.may_lay_out}), kC, options);
}

/// n numbers of a factor of the case.
using DotNumbers = std::function<Array(const DotCase& c, DType dtype, std::int64_t n)>;

/// Random numbers, or the extremes of the types, whose products have the largest magnitude.
inline DotNumbers dot_numbers(unsigned seed) {
  return [rng = std::mt19937(seed)](const DotCase& c, DType dtype, std::int64_t n) mutable {
    if (!c.extremes) return random_numbers(dtype, n, rng);
    return Array::of_ints(dtype, {n}, std::vector<std::int64_t>(static_cast<std::size_t>(n), dtype == DType::Int8 ? -128 : 255));
  };
}

/// A sum in int32, which wraps around.
inline std::int32_t wrapped(double sum) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum))); }

/// Of the row that the case takes: whether b has to lie in whole words.
inline bool needs_words(const DotCase& c, const CodegenOptions& options) {
  const auto tc = std::ranges::find(c.opts, OptOp::Tensor, &Opt::op);
  return options.instructions[static_cast<std::size_t>(tc->amount)].words;
}

/// Every case, compiled with all others to one file, gives the sums; `in_words` counts those by instructions that need_words.
/// ASSERT_NO_FATAL_FAILURE where more follows.
inline void expect_dot_sums(const std::vector<DotCase>& all, const CodegenOptions& options, const DotNumbers& numbers,
                            const std::vector<std::string>& flags, const std::string& compiler, int* in_words = nullptr) {
  LazyOps ops;
  std::vector<std::string> sources;
  std::set<std::string> definitions;
  std::vector<std::vector<Array>> inputs;
  std::vector<ProductSums> wanted;
  for (const DotCase& c : all) {
    const Product& p = c.product;
    const ProgramKernel kernel = dot_kernel(ops, "k" + std::to_string(sources.size()), c, options);
    const bool is_swapped = p.b_first && p.a == p.b;  // what is laid out is the first operand
    const bool has_words = needs_words(c, options), fits = !has_words || (kernel.arguments[2].layout && !is_swapped);
    EXPECT_EQ(kernel.uops.find(" = Dot int32") != std::string::npos, fits) << to_text(c.opts);
    if (in_words != nullptr && has_words && fits) ++*in_words;
    sources.push_back(kernel.text.source);
    definitions.insert(kernel.text.definitions.begin(), kernel.text.definitions.end());
    const Array a = numbers(c, p.a, p.m * p.k), b = numbers(c, p.b, p.k * p.n);
    wanted.push_back(sums_of(p, a, b));
    inputs.push_back({a, kernel.arguments[2].layout ? relayout(b, *kernel.arguments[2].layout) : b});
  }
  std::string text;
  for (const std::string& d : definitions) text += d;
  sources[0].insert(0, text);
  const Compiled compiled(sources, flags, compiler);
  for (std::size_t i = 0; i < all.size(); i++) {
    const Array got = compiled.run(static_cast<int>(i), DType::Int32, all[i].product.m * all[i].product.n, inputs[i]);
    for (std::int64_t e = 0; e < got.size(); e++)
      ASSERT_EQ(got.double_at(e), wrapped(wanted[i].sums[static_cast<std::size_t>(e)])) << to_text(all[i].opts) << "\n" << sources[i];
  }
}

/// The compiler of the target, which is there, and its flags.
inline std::vector<std::string> compiler_of(const Target& target) {
  std::vector<std::string> command{target.toolchain.compilers[0]};
  for (const FlagKind kind : {FlagKind::Abi, FlagKind::Code})
    for (const std::string& flag : target.toolchain.flags_of(kind)) command.push_back(flag);
  return command;
}

/// What a compiler makes of a case: assembly. A warning is a failure.
inline std::string dot_assembly(const DotCase& c, const CodegenOptions& options, std::vector<std::string> compiler_and_flags) {
  LazyOps ops;
  const TempDir dir("etch-test");
  const ProgramKernel kernel = dot_kernel(ops, "k0", c, options);
  const std::string file = (dir.path() / "k.c").string(), out = (dir.path() / "k.s").string();
  std::string text = std::string(kTilesPragma) + "#include \"etch_math.h\"\n#include \"etch_quant.h\"\n";
  for (const std::string& d : kernel.text.definitions) text += d;
  std::ofstream(file) << text + kernel.text.source + "void (*const f)(void *const *arg) = k0;\n";
  compiler_and_flags.insert(compiler_and_flags.end(), {"-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                                                       "-I" ETCH_SOURCE_DIR "/runtime_c", "-S", "-o", out, file});
  const ProcessResult result = run_process(compiler_and_flags);
  EXPECT_TRUE(result.ok()) << describe(result) << result.err.substr(0, 2000);
  std::ifstream assembly(out);
  return {std::istreambuf_iterator<char>(assembly), {}};
}

}  // namespace etch::test
