// How close an output may lie to an input. The oracle runs the kernel's loops and looks at every byte: what the bounds allow loses nothing,
// and in kernels whose loops follow the order of memory one byte closer loses something.
#include "codegen/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "program/lower.h"
#include "support/ast_cases.h"
#include "support/backends.h"
#include "support/compiled.h"
#include "support/instructions.h"
#include "support/kernel_replay.h"
#include "support/opt_chain.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch::overlap_test {
namespace {

using namespace test::windows;

struct Made {
  LinearKernel kernel;
  std::vector<KernelArgument> arguments;
  std::vector<ArgumentDistance> distances;
  std::string opts;
};

Made make(const LazyOp* store, std::vector<KernelArgument> arguments, const CodegenOptions& options) {
  const Kernel kernel = choose_opts(store, arguments, options);
  Made made{linearize_kernel(kernel, arguments, kC), std::move(arguments), {}, to_text(kernel.applied())};
  made.distances = argument_distances(made.kernel.linear, made.arguments);
  return made;
}

std::int64_t bytes_of_argument(const Made& made, int argument) {
  const KernelArgument& a = made.arguments[static_cast<std::size_t>(argument)];
  return a.elements.as_int() * bytes_of(a.dtype);
}

struct Seen {
  int pairs = 0, tight = 0, overlapping = 0;  // tight: one byte less loses something
};

// Every distance that is allowed, a little more than it, and one less.
void check_distances(const Made& made, Seen& seen, std::mt19937& rng) {
  const test::KernelReplay replay(made.kernel.linear.uops, made.arguments);
  for (const ArgumentDistance& d : made.distances) {
    const std::int64_t written = bytes_of_argument(made, d.write), held = bytes_of_argument(made, d.read);
    ASSERT_GE(d.below, 0);
    ASSERT_GE(d.above, 0);
    const auto more = static_cast<std::int64_t>(rng() % 7);
    for (const std::int64_t up : {-d.below, -d.below - more, d.above, d.above + more})
      ASSERT_FALSE(replay.loses(d.write, d.read, up)) << made.opts << ": " << up << " of " << d.below << " below, " << d.above << " above";
    for (const bool below : {true, false}) {
      const std::int64_t distance = below ? d.below : d.above, apart = below ? written : held;
      if (distance == apart) continue;
      seen.overlapping++;
      if (distance == 0) continue;
      seen.pairs++;
      seen.tight += replay.loses(d.write, d.read, below ? 1 - distance : distance - 1) ? 1 : 0;
    }
  }
}

CodegenOptions m4() { return codegen_options(test::target_named("cortex-m4f"), kC); }

TEST(Overlap, RandomConvolutionsLoseNoByte) {
  std::mt19937 rng(21);
  Seen heuristics, chains;
  std::set<OptOp> used;
  for (int round = 0; round < test::rounds(400); round++) {
    SCOPED_TRACE(round);
    const RandomKernel k(rng, round % 4 == 0 ? DType::Float32 : DType::Int8);
    CodegenOptions options = round % 2 == 0 ? m4() : CodegenOptions();
    if (k.dtype == DType::Float32 && round % 8 == 0) options.vector_bits = 128;
    options.overlap = true;
    for (const bool backwards : {false, true}) {
      options.backwards = backwards;
      ASSERT_NO_FATAL_FAILURE(check_distances(make(k.store, k.arguments, options), heuristics, rng));
    }
    options.opts = test::random_opt_chain(k.store, rng, options, 24);
    for (const Opt& opt : *options.opts) used.insert(opt.op);
    ASSERT_NO_FATAL_FAILURE(check_distances(make(k.store, k.arguments, options), chains, rng));
  }
  for (const OptOp op : {OptOp::Overlap, OptOp::Outermost, OptOp::Block, OptOp::Backwards, OptOp::PadTo, OptOp::Upcast})
    EXPECT_TRUE(used.contains(op));
  EXPECT_GT(heuristics.overlapping, test::rounds(300));
  EXPECT_GT(chains.overlapping, test::rounds(100));
  // Bounds take padding for memory, and know of no gap in what a step reads.
  EXPECT_GT(heuristics.tight, heuristics.pairs / 2);
}

TEST(Overlap, KernelsOfNetworksLoseNoByte) {
  LazyOps ops;
  std::mt19937 rng(22);
  Seen seen;
  const auto cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  for (std::size_t i = 0; i < cases.size(); i++) {
    SCOPED_TRACE(cases[i].id);
    CodegenOptions options;
    options.overlap = true;
    options.backwards = i % 2 == 0;
    if (i % 3 == 0) options.opts = test::random_opt_chain(cases[i].store, rng, options, 24);
    std::vector<Sint> elements{cases[i].output_size};
    for (const Array& input : cases[i].inputs) elements.push_back(input.size());
    std::int64_t work = 1;
    for (const LazyOp* op : toposort(cases[i].store)) work = std::max(work, product(op->shape).max());
    if (work > 20000) continue;
    const KernelSignature signature = test::signature_of("k", cases[i].store, elements);
    ASSERT_NO_FATAL_FAILURE(check_distances(make(cases[i].store, signature.arguments, options), seen, rng));
  }
  EXPECT_GT(seen.overlapping, 100);
}

// By hand: what the distance is, and why.
TEST(Overlap, DistancesOfLayersOfImages) {
  struct Row {
    const char* what;
    LaidWindow window;
    bool backwards;
    std::int64_t below, above;
  };
  constexpr std::int64_t kC = 8, kPixels = 36;
  const LaidWindow pointwise{.channels = kC, .outputs = kC, .height = 6, .width = 6, .in_last = true, .out_last = true};
  LaidWindow wider = pointwise, depthwise = pointwise, planes = pointwise;
  wider.outputs = 2 * kC;
  depthwise.depthwise = true;
  depthwise.kernel = 3;
  depthwise.pad = 1;
  depthwise.height = depthwise.width = 12;
  planes.in_last = planes.out_last = false;
  const Row rows[] = {
      {"two pixels are read until the last four of their channels are written", pointwise, false, 2 * kC - 4, kPixels * kC},
      {"the same from the last pixel on", pointwise, true, kPixels * kC, 2 * kC - 4},
      {"writing is twice as fast: the last pixels are read until all but four bytes are written", wider, false,
       kPixels * 2 * kC - 4 - (kPixels - 2) * kC, kPixels * kC},
      {"from the end on it is above what is read later, but for the first two pixels and their first channels", wider, true,
       kPixels * 2 * kC, 2 * kC - 4},
      {"a row of a channel is written before the pixel left of the row above it is read for the next channel", depthwise, false,
       (12 + 11 + 1) * kC, 12 * 12 * kC},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    LazyOps ops;
    CodegenOptions options = m4();
    options.overlap = true;
    options.backwards = row.backwards;
    const Made made = make(store_of(ops, row.window, DType::Int8), arguments_of(row.window, DType::Int8), options);
    ASSERT_EQ(made.distances.size(), 1u) << made.opts;
    EXPECT_EQ(made.distances[0].below, row.below) << made.opts;
    EXPECT_EQ(made.distances[0].above, row.above) << made.opts;
  }
  LazyOps ops;
  CodegenOptions options = m4();
  options.overlap = true;
  const Made made = make(store_of(ops, planes, DType::Int8), arguments_of(planes, DType::Int8), options);
  for (const ArgumentDistance& d : made.distances) EXPECT_GE(d.below, 7 * kPixels) << made.opts;  // each plane needs all that are read
}

// A compiler may exchange the load of one type and the store of another, unless one of them is of characters.
TEST(Overlap, TypesThatDoNotAliasLieApart) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({64});
  const auto distances = [&](DType from, DType to) {
    CodegenOptions options;
    options.overlap = true;
    const LazyOp* store = ops.store(0, ops.cast(ops.load(1, from, st), to), st);
    return make(store, {{to, 64, "out", Access::Write}, {from, 64, "in"}}, options).distances.size();
  };
  EXPECT_EQ(distances(DType::Float32, DType::Int8), 1u);
  EXPECT_EQ(distances(DType::UInt8, DType::Float32), 1u);
  EXPECT_EQ(distances(DType::Float32, DType::Int32), 0u);
  EXPECT_EQ(distances(DType::Int16, DType::Int32), 0u);
}

}  // namespace
}  // namespace etch::overlap_test
