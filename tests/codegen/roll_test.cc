// ROLL: each row is added to all windows that it is in. Random windows of small whole numbers, whose sums are exact, against loops, as C
// and by LLVM; where workers share loops; and where the heuristics roll.
#include <gtest/gtest.h>

#include <random>

#include "codegen/kernel.h"
#include "support/exact_kernels.h"
#include "support/random_windows.h"
#include "support/rolling_steps.h"
#include "support/rounds.h"

namespace etch::roll_test {
namespace {

using test::windows::LaidWindow;

LaidWindow random_windows(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LaidWindow w{.channels = pick(1, 4), .outputs = pick(1, 3)};
  w.kernel = pick(1, 6);
  w.stride = pick(1, 4);
  w.pad = pick(0, w.kernel - 1);
  w.height = pick(w.kernel, 24);
  w.width = pick(w.kernel, 40);
  w.depthwise = pick(0, 2) > 0;
  w.in_last = pick(0, 3) == 0;
  w.out_last = pick(0, 3) == 0;
  return w;
}

ProgramKernel kernel_of(const LaidWindow& w, const CodegenOptions& options) {
  LazyOps ops;
  const KernelSignature signature{"k", test::windows::arguments_of(w, DType::Float32), {}};
  return generate_kernel(test::windows::store_of(ops, w, DType::Float32), signature, kC, options);
}

bool rolls(const LaidWindow& w, const CodegenOptions& options) { return kernel_of(w, options).opts.find(", ROLL") != std::string::npos; }

void compare(const char* name, const Language& language, int vector_bits, unsigned seed) {
  test::ExactKernels kernels(name, language, vector_bits);
  ASSERT_TRUE(kernels.is_there()) << kernels.why();
  std::mt19937 rng(seed);
  LazyOps ops;
  int rolling = 0;
  for (int tries = 0; rolling < test::rounds(60) && tries < 100000; tries++) {
    const LaidWindow w = random_windows(rng);
    const LazyOp* store = test::windows::store_of(ops, w, DType::Float32);
    const std::vector<Opt> steps = test::rolling_steps(store, kernels.options, rng);
    if (steps.empty()) continue;
    rolling++;
    const auto arguments = test::windows::arguments_of(w, DType::Float32);
    const std::vector<Array> inputs{test::small_numbers(rng, arguments[1].elements.as_int()),
                                    test::small_numbers(rng, arguments[2].elements.as_int())};
    kernels.add(store, inputs, convolution(w, inputs[0], inputs[1]), steps);
  }
  EXPECT_EQ(rolling, test::rounds(60)) << "random windows that roll";
  kernels.run(true);
}

TEST(Roll, ScalarCGivesTheSumsOfLoops) { compare("c", kC, 0, 1); }
TEST(Roll, FourLanesInCGiveTheSumsOfLoops) { compare("c", kC, 128, 2); }
TEST(Roll, EightLanesInCGiveTheSumsOfLoops) { compare("c", kC, 256, 3); }
TEST(Roll, SixteenLanesInCGiveTheSumsOfLoops) { compare("c", kC, 512, 4); }
TEST(Roll, LlvmGivesTheSumsOfLoops) { compare("llvm", kLlvm, 0, 5); }
TEST(Roll, LanesOfLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, 6); }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

CodegenOptions wide_options() {
  CodegenOptions options;
  options.vector_bits = 512;
  options.float_registers = 32;
  return options;
}

// A row of 56 is four vectors; each turn loads it in three places for each, of which the first two of the first vector are one, and no mask
// is left. The turns in which the first and the last row are outside are in front of the loop and behind it.
TEST(Roll, RowsOfDepthwiseWindowsAreReadOnce) {
  const LaidWindow w{.channels = 8, .height = 56, .width = 56, .kernel = 3, .pad = 1, .depthwise = true};
  const ProgramKernel made = kernel_of(w, wide_options());
  EXPECT_EQ(made.opts, "VECTOR 2 16, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, ROLL");
  const std::string& text = made.text.source;
  const std::size_t begin = text.find("for (int y = 0; y < 54; y++)"), end = text.find("\n    }", begin);
  ASSERT_NE(end, std::string::npos) << text;
  const std::string turn = text.substr(begin, end - begin);
  EXPECT_EQ(count(turn, "&in["), 4 * 3 - 1) << text;
  EXPECT_EQ(count(turn, " * w_"), 4 * 9) << text;
  EXPECT_EQ(count(text, " ? "), 0) << text;
  EXPECT_EQ(count(text, "if ("), 0) << text;
}

// Where registers hold no row's sums, or windows share what they read with other channels, other tiles are better.
TEST(Roll, IsForRowsThatRegistersHold) {
  const LaidWindow depthwise{.channels = 8, .height = 28, .width = 56, .kernel = 3, .pad = 1, .depthwise = true};
  LaidWindow wide = depthwise, dense = depthwise, whole = depthwise;
  wide.width = 224;
  dense.depthwise = false, dense.channels = 1, dense.outputs = 16;
  whole.kernel = 7, whole.height = 6;
  CodegenOptions few = wide_options(), small = wide_options();
  few.vector_bits = 256, few.float_registers = 16;
  small.small_code = true;
  EXPECT_TRUE(rolls(depthwise, wide_options()));
  EXPECT_FALSE(rolls(depthwise, few));
  EXPECT_FALSE(rolls(depthwise, small));
  EXPECT_FALSE(rolls(wide, wide_options()));
  EXPECT_FALSE(rolls(dense, wide_options()));
  EXPECT_FALSE(rolls(whole, wide_options())) << "a loop has no fewer turns than the window rows";
  const LaidWindow plain{.channels = 8, .height = 18, .width = 18, .kernel = 3, .depthwise = true};
  EXPECT_FALSE(rolls(plain, wide_options())) << "a row is one vector, and no element is outside";
}

// Two vectors of a row have too few sums: two channels at once, but not where lanes are picked from two vectors. Where lanes are channels,
// three rows, which share what their windows read.
TEST(Roll, HasSumsThatDoNotWait) {
  LaidWindow w{.channels = 8, .height = 28, .width = 28, .kernel = 3, .pad = 1, .depthwise = true};
  EXPECT_EQ(kernel_of(w, wide_options()).opts, "UPCAST 0 2, VECTOR 2 16, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, ROLL");
  w.height = w.width = 56, w.stride = 2;
  EXPECT_EQ(kernel_of(w, wide_options()).opts, "VECTOR 2 16, UPCAST 2 0, UNROLL 0 0, UNROLL 0 0, ROLL");
  const LaidWindow last{
      .channels = 16, .height = 12, .width = 12, .kernel = 3, .pad = 1, .depthwise = true, .in_last = true, .out_last = true};
  EXPECT_EQ(kernel_of(last, wide_options()).opts, "UPCAST 1 3, VECTOR 0 16, UNROLL 0 0, UNROLL 0 0, ROLL");
}

// 14 sums of 7x7 windows leave two of 16 registers: its rows, which other tiles would have in a loop, may be loaded again.
TEST(Roll, OfLongWindowsMayLoadAgain) {
  CodegenOptions options = wide_options();
  options.vector_bits = 256, options.float_registers = 16;
  EXPECT_TRUE(rolls({.channels = 8, .height = 14, .width = 14, .kernel = 7, .pad = 3, .depthwise = true}, options));
  EXPECT_FALSE(rolls({.channels = 8, .height = 28, .width = 28, .kernel = 3, .pad = 1, .depthwise = true}, options));
}

// A turn goes on from the one before: workers share the channels.
TEST(Roll, WorkersShareOtherLoops) {
  LaidWindow w{.channels = 8, .height = 56, .width = 56, .kernel = 3, .pad = 1, .depthwise = true};
  CodegenOptions options = wide_options();
  options.workers.most = 4;
  options.workers.least_work = 0;
  EXPECT_TRUE(rolls(w, options));
  const std::string text = kernel_of(w, options).text.source;
  EXPECT_NE(text.find("c_first"), std::string::npos) << text;
  EXPECT_EQ(text.find("y_first"), std::string::npos) << text;
  w.channels = 2;
  EXPECT_FALSE(rolls(w, options)) << "two channels for four workers";
}

TEST(Roll, WhyNot) {
  LazyOps ops;
  const CodegenOptions options = wide_options();
  const auto why = [&](const LaidWindow& w, const std::vector<Opt>& before, const CodegenOptions& of) {
    Kernel k(test::windows::store_of(ops, w, DType::Float32), of);
    for (const Opt& opt : before) k.apply(opt);
    return k.why_illegal({OptOp::Roll}).value_or("legal");
  };
  const LaidWindow w{.channels = 8, .height = 28, .width = 28, .kernel = 3, .pad = 1, .depthwise = true};
  const std::vector<Opt> rows{{OptOp::Vector, 2, 16}, {OptOp::Upcast, 2, 0}, {OptOp::Unroll, 0, 0}, {OptOp::Unroll, 0, 0}};
  const auto with = [&](const std::vector<Opt>& more) {
    std::vector<Opt> all = rows;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_EQ(why(w, rows, options), "legal");
  EXPECT_EQ(why(w, {rows.begin(), rows.end() - 1}, options), "all axes of the window are unrolled");
  EXPECT_EQ(why(w, with({{OptOp::Roll}}), options), "rows are read once for each window yet");
  const char* in_order = "the loops run forwards, in one nest, ask for nothing ahead, and outputs do not lie over parts of inputs";
  for (const OptOp op : {OptOp::Interior, OptOp::Backwards, OptOp::PrefetchWrite}) EXPECT_EQ(why(w, with({{op}}), options), in_order);
  CodegenOptions overlap = options, grid = options;
  overlap.overlap = true;
  grid.has_local = true, grid.vector_bits = 0;
  EXPECT_EQ(why(w, rows, overlap), in_order);
  EXPECT_EQ(why(w, {}, grid), "the language runs loops in order: it has no grid");
  const char* nothing = "the innermost loop goes over windows, one after the other, which have rows in common";
  EXPECT_EQ(why(w, with({{OptOp::Upcast, 1, 2}}), options), nothing);
  LaidWindow apart = w;
  apart.stride = 3, apart.pad = 0, apart.width = 96;
  EXPECT_EQ(why(apart, rows, options), nothing) << "windows of three rows, three apart";
}

}  // namespace
}  // namespace etch::roll_test
