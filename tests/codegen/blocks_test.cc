// Products of matrices that are larger than the cache: blocks of one are multiplied with all rows of the other.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "codegen/kernel.h"
#include "program/generate.h"
#include "support/exact_kernels.h"
#include "support/kernel_replay.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch::blocks_test {
namespace {

struct Matrices {
  std::int64_t rows = 1, columns = 1, summed = 1;
};

// Axes [row, column, summed]: the rows are in buffer 1, the columns in buffer 2.
const LazyOp* store_of(LazyOps& ops, const Matrices& m) {
  const std::vector<Sint> full{m.rows, m.columns, m.summed};
  const auto load = [&](int buffer, std::int64_t row, std::int64_t column, std::int64_t along) {
    return ops.load(buffer, DType::Float32, ShapeTracker({View::create(full, std::vector<Sint>{row, column, along})}));
  };
  const LazyOp* product = ops.elementwise(Op::Mul, {load(1, m.summed, 0, 1), load(2, 0, 1, m.columns)});
  return ops.store(0, ops.reduce(Op::ReduceSum, product, {2}), ShapeTracker::from_shape({m.rows, m.columns, 1}));
}

std::vector<KernelArgument> arguments_of(const Matrices& m) {
  return {{DType::Float32, m.rows * m.columns, "out", Access::Write},
          {DType::Float32, m.rows * m.summed, "in", Access::Read},
          {DType::Float32, m.summed * m.columns, "w", Access::Read, true}};
}

std::string opts_of(const Matrices& m, const CodegenOptions& options) {
  LazyOps ops;
  return to_text(choose_opts(store_of(ops, m), arguments_of(m), options).applied());
}

CodegenOptions with_cache(std::int64_t bytes) {
  CodegenOptions options;
  options.vector_bits = 512;
  options.float_registers = 32;
  options.cache_bytes = bytes;
  return options;
}

std::int64_t number(std::mt19937& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

bool has(const std::string& text, const std::string& step) { return text.find(step) != std::string::npos; }

// Half of a cache of 2 MB holds a quarter of a matrix of 4 MB. What fits as a whole stays in one piece, and 17 tiles make no equal blocks:
// each is one.
TEST(Blocks, FitHalfOfTheCache) {
  CodegenOptions options = with_cache(2 << 20);
  EXPECT_TRUE(has(opts_of({1024, 1024, 1024}, options), "BLOCK 1 4")) << opts_of({1024, 1024, 1024}, options);
  EXPECT_TRUE(has(opts_of({1024, 1088, 1024}, options), "OUTERMOST 1")) << opts_of({1024, 1088, 1024}, options);
  for (const Matrices& m : {Matrices{512, 512, 512}, Matrices{1, 4096, 9216}})
    EXPECT_FALSE(has(opts_of(m, options), "BLOCK") || has(opts_of(m, options), "OUTERMOST")) << opts_of(m, options);
  options.cache_bytes = 0;
  EXPECT_FALSE(has(opts_of({1024, 1024, 1024}, options), "BLOCK"));
}

// A row of a matrix of 4 MB is read again in each of 4 turns, so the next row is asked for. Not where all of it may have stayed in the
// cache, or each row is read once.
TEST(Prefetch, IsOfConstantsThatAreReadAgain) {
  CodegenOptions options = with_cache(2 << 20);
  LazyOps ops;
  const auto made = [&](std::int64_t channels, std::int64_t width) {
    const test::windows::LaidWindow w{
        .channels = channels, .outputs = 1024, .height = 1, .width = width, .in_last = true, .out_last = true};
    std::vector<KernelArgument> arguments = test::windows::arguments_of(w, DType::Float32);
    arguments[2].is_constant = true;
    return generate_kernel(test::windows::store_of(ops, w, DType::Float32), {"f", arguments, {}}, kC, options);
  };
  const ProgramKernel large = made(1024, 24);
  EXPECT_TRUE(has(large.uops, "Prefetch") && has(large.text.source, "ETCH_PREFETCH(&w[") && has(large.text.source, "], 2);"))
      << large.text.source;
  EXPECT_TRUE(has(made(64, 24).uops, "Prefetch")) << "an eighth of the cache";
  EXPECT_FALSE(has(made(48, 24).uops, "Prefetch"));
  EXPECT_FALSE(has(made(1024, 1).uops, "Prefetch"));
}

// How often each line of the weights is asked for while those of turn `t` are read, in the first and in the second half of that.
std::vector<std::pair<int, int>> asked_in_turn(const test::KernelReplay& replay, std::int64_t t, std::int64_t bytes_of_turn,
                                               std::int64_t lines) {
  std::vector<std::size_t> reads;  // numbers of events
  std::size_t begin = 0;           // behind those of the turn before
  for (std::size_t e = 0; e < replay.events().size(); e++) {
    const test::MemoryEvent& event = replay.events()[e];
    if (event.argument == 2 && event.begin / bytes_of_turn == t) reads.push_back(e);
    if (event.argument == 2 && event.begin / bytes_of_turn == t - 1) begin = e + 1;
  }
  std::vector<std::pair<int, int>> asked(static_cast<std::size_t>(lines));
  for (const auto& a : replay.asked())
    if (a.before >= begin && a.before <= reads.back()) {
      auto& [first, second] = asked[static_cast<std::size_t>(a.at / 64)];
      (a.before <= reads[reads.size() / 2] ? first : second)++;
    }
  return asked;
}

// The oracle runs the loops and notes each line that is asked for: in a turn all those of the next one, no other, and evenly.
TEST(Prefetch, AsksForEachLineOfTheNextTurn) {
  std::mt19937 rng(5);
  CodegenOptions options = with_cache(64 << 10);
  int seen = 0;
  for (int round = 0; round < 40; round++) {
    const auto pick = [&](std::int64_t low, std::int64_t high) { return number(rng, low, high); };
    const std::int64_t kernel = pick(0, 1) == 0 ? 1 : 3;
    const test::windows::LaidWindow w{.channels = 16 * pick(1, kernel == 1 ? 6 : 2),
                                      .outputs = 16 * pick(4, 16),
                                      .height = pick(3, 9),
                                      .width = pick(3, 9),
                                      .kernel = kernel,
                                      .in_last = true,
                                      .out_last = true};
    LazyOps ops;
    std::vector<KernelArgument> arguments = test::windows::arguments_of(w, DType::Float32);
    arguments[2].is_constant = true;
    const Kernel chosen = choose_opts(test::windows::store_of(ops, w, DType::Float32), arguments, options);
    if (chosen.prefetched_axis() < 0) continue;
    seen++;
    SCOPED_TRACE(to_text(chosen.applied()));
    const LinearKernel made = linearize_kernel(chosen, arguments, kC);
    prove_indices(made.linear, made.arguments);
    const test::KernelReplay replay(made.linear.uops, made.arguments);
    const std::int64_t turns = chosen.axes()[static_cast<std::size_t>(chosen.prefetched_axis())].size.as_int();
    const std::int64_t bytes = made.arguments[2].elements.as_int() * 4, of_turn = bytes / turns;
    for (std::int64_t t = 0; t < turns; t++) {
      const auto asked = asked_in_turn(replay, t, of_turn, bytes / 64);
      int missing = 0, first = 0, second = 0;
      for (std::int64_t line = 0; line < bytes / 64; line++) {
        const auto [early, late] = asked[static_cast<std::size_t>(line)];
        if (line * 64 / of_turn != (t + 1) % turns) ASSERT_EQ(early + late, 0) << "turn " << t << " asks for line " << line;
        missing += line * 64 / of_turn == (t + 1) % turns && early + late == 0 ? 1 : 0;
        first += early, second += late;
      }
      EXPECT_LT(missing, 16) << "of " << of_turn / 64;
      EXPECT_LT(std::max(first, second), 2 * std::min(first, second) + 32) << first << " and " << second;
    }
  }
  EXPECT_GT(seen, 8);
}

// Distances from the mean of a row times the sum of their squares: three passes over a row, of which the second asks for the next row.
const LazyOp* store_of_rows(LazyOps& ops, std::int64_t rows, std::int64_t length) {
  const std::vector<Sint> whole{rows, length};
  const ShapeTracker st = ShapeTracker::from_shape(whole);
  const LazyOp* x = ops.load(1, DType::Float32, st);
  const auto sum_of = [&](const LazyOp* a) { return ops.expand(ops.reduce(Op::ReduceSum, a, {1}), whole); };
  const LazyOp* distance = ops.elementwise(Op::Sub, {x, sum_of(x)});
  return ops.store(0, ops.elementwise(Op::Mul, {distance, sum_of(ops.elementwise(Op::Mul, {distance, distance}))}), st);
}

TEST(Prefetch, AsksForTheNextRowWhereRowsMayHaveLeftTheCache) {
  CodegenOptions options = with_cache(64 << 10);
  // Of the shorter rows half a vector is left over.
  for (const auto& [rows, length] : {std::pair<std::int64_t, std::int64_t>{4, 256}, {8, 256}, {64, 256}, {4, 248}, {9, 248}}) {
    const std::int64_t row_bytes = 4 * length;
    LazyOps ops;
    const std::vector<KernelArgument> arguments{{DType::Float32, rows * length, "out", Access::Write},
                                                {DType::Float32, rows * length, "in", Access::Read}};
    const Kernel chosen = choose_opts(store_of_rows(ops, rows, length), arguments, options);
    EXPECT_EQ(chosen.prefetched_axis(), 2 * rows * row_bytes > options.cache_bytes / 8 ? 0 : -1) << rows;
    EXPECT_EQ(chosen.lanes_rest().has_value(), length % 16 != 0);
    if (chosen.prefetched_axis() < 0) continue;
    const LinearKernel made = linearize_kernel(chosen, arguments, kC);
    prove_indices(made.linear, made.arguments);
    const test::KernelReplay replay(made.linear.uops, made.arguments);
    std::vector<std::int64_t> places;
    for (const auto& asked : replay.asked()) {
      EXPECT_EQ(asked.argument, 1);
      const std::int64_t row = replay.events()[asked.before].begin / row_bytes;
      EXPECT_EQ(asked.at / row_bytes, (row + 1) % rows);
      places.push_back(asked.at);
    }
    std::ranges::sort(places);
    ASSERT_EQ(std::ssize(places), rows * (row_bytes / 64)) << "each line once";
    for (std::int64_t i = 0; i < std::ssize(places); i++)
      EXPECT_EQ(places[static_cast<std::size_t>(i)], i / (row_bytes / 64) * row_bytes + i % (row_bytes / 64) * 64);
  }
}

// A padded operand changes the order of the loops over channels and columns.
TEST(Prefetch, OfRowsGoesWithTheOrderOfTheLoops) {
  CodegenOptions options = with_cache(64 << 10);
  constexpr std::int64_t kRows = 64, kChannels = 16, kColumns = 10;
  const std::vector<Sint> whole{kRows, kChannels, kColumns};
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape(whole);
  const ShapeTracker padded = ShapeTracker::from_shape({kRows, kChannels, kColumns - 2}).pad({{0, 0}, {0, 0}, {1, 1}});
  const LazyOp* x = ops.elementwise(Op::Add, {ops.load(1, DType::Float32, padded), ops.load(2, DType::Float32, st)});
  const auto sum_of = [&](const LazyOp* a) { return ops.expand(ops.reduce(Op::ReduceSum, a, {1, 2}), whole); };
  const LazyOp* distance = ops.elementwise(Op::Sub, {x, sum_of(x)});
  const LazyOp* store = ops.store(0, ops.elementwise(Op::Mul, {distance, sum_of(ops.elementwise(Op::Mul, {distance, distance}))}), st);
  const std::vector<KernelArgument> arguments{{DType::Float32, kRows * kChannels * kColumns, "out", Access::Write},
                                              {DType::Float32, kRows * kChannels * (kColumns - 2), "in", Access::Read},
                                              {DType::Float32, kRows * kChannels * kColumns, "in_2", Access::Read}};
  for (const bool has_lanes : {false, true}) {
    if (!has_lanes) options.vector_bits = 0;
    Kernel k(store, options);
    if (has_lanes) k = choose_opts(store, arguments, options);
    if (k.prefetched_axis() < 0) k.apply({OptOp::Prefetch, 0, 0});
    const LinearKernel made = linearize_kernel(k, arguments, kC);
    prove_indices(made.linear, made.arguments);
    std::set<std::int64_t> lines;
    const test::KernelReplay replay(made.linear.uops, made.arguments);
    for (const auto& asked : replay.asked())
      if (asked.argument == 2) lines.insert(asked.at / 64);
    EXPECT_GT(std::ssize(lines), kRows * kChannels * kColumns * 4 / 64 * 9 / 10) << to_text(k.applied());
    options.vector_bits = 512;
  }
}

// Lanes are channels, which lie in planes: each line that a tile stores into was asked for before, in the same tile or the one before it.
// There is none before at the beginning of a plane, or, where borders come behind the interior, of a row. Whole vectors are stored without.
TEST(PrefetchOfStores, AsksForTheLinesOfEachTileBeforeItsSums) {
  std::mt19937 rng(8);
  CodegenOptions options = with_cache(64 << 10);
  std::int64_t seen = 0, whole = 0;
  for (int round = 0; round < 40; round++) {
    const auto pick = [&](std::int64_t low, std::int64_t high) { return number(rng, low, high); };
    const test::windows::LaidWindow w{.channels = pick(3, 24),
                                      .outputs = 16 * pick(1, 6),
                                      .height = pick(5, 14),
                                      .width = pick(5, 40),
                                      .kernel = 2 * pick(0, 2) + 1,
                                      .pad = pick(0, 2),
                                      .in_last = pick(0, 1) == 0,
                                      .out_last = pick(0, 5) == 0};
    LazyOps ops;
    const std::vector<KernelArgument> arguments = test::windows::arguments_of(w, DType::Float32);
    const Kernel chosen = choose_opts(test::windows::store_of(ops, w, DType::Float32), arguments, options);
    whole += w.out_last ? 1 : 0;
    if (w.out_last || arguments[0].elements.as_int() * 4 <= options.cache_bytes / 8) {
      EXPECT_FALSE(chosen.prefetches_stores()) << to_text(chosen.applied());
      continue;
    }
    if (!chosen.prefetches_stores()) continue;
    CodegenOptions in_order = options;
    in_order.in_order = true;
    EXPECT_FALSE(choose_opts(test::windows::store_of(ops, w, DType::Float32), arguments, in_order).prefetches_stores());
    seen++;
    SCOPED_TRACE(to_text(chosen.applied()));
    const LinearKernel made = linearize_kernel(chosen, arguments, kC);
    prove_indices(made.linear, made.arguments);
    const test::KernelReplay replay(made.linear.uops, made.arguments);
    std::set<std::int64_t> lines, late;
    std::size_t next = 0;
    std::int64_t asked = 0;
    for (std::size_t e = 0; e < replay.events().size(); e++) {
      for (; next < replay.asked().size() && replay.asked()[next].before <= e; next++) {
        if (replay.asked()[next].argument != 0) continue;  // constants (PREFETCH)
        lines.insert(replay.asked()[next].at / 64), asked++;
      }
      const test::MemoryEvent& event = replay.events()[e];
      for (std::int64_t line = event.begin / 64; event.is_store && line <= (event.end - 1) / 64; line++)
        if (!lines.contains(line)) late.insert(line);
    }
    EXPECT_LE(std::ssize(late), w.outputs * (has(to_text(chosen.applied()), "INTERIOR") ? w.out(w.height) : 1));
    EXPECT_LT(2 * std::ssize(late), std::ssize(lines));
    EXPECT_LE(asked, 5 * std::ssize(lines)) << "of " << std::ssize(lines) << " lines";
  }
  EXPECT_GT(seen, 10);
  EXPECT_GT(whole, 2);
}

std::vector<double> product_of(const Matrices& m, const std::vector<Array>& in) {
  std::vector<double> out;
  for (std::int64_t r = 0; r < m.rows; r++)
    for (std::int64_t c = 0; c < m.columns; c++) {
      double sum = 0;
      for (std::int64_t k = 0; k < m.summed; k++) sum += in[0].double_at(r * m.summed + k) * in[1].double_at(k * m.columns + c);
      out.push_back(sum);
    }
  return out;
}

// Matrices of small whole numbers, whose sums are exact, and a cache of 2 KB.
void compare(const char* name, const Language& language, int vector_bits, unsigned seed) {
  test::ExactKernels kernels(name, language, vector_bits);
  if (!kernels.is_there()) GTEST_SKIP() << kernels.why();
  kernels.options.cache_bytes = 2048;
  std::mt19937 rng(seed);
  LazyOps ops;
  const int rounds = test::rounds(60);
  int seen = 0;
  for (int i = 0; i < rounds; i++) {
    const auto pick = [&](std::int64_t low, std::int64_t high) { return number(rng, low, high); };
    const Matrices m{pick(8, 40), 64 * pick(2, 8), pick(2, 16)};
    const std::vector<Array> inputs{test::small_numbers(rng, m.rows * m.summed), test::small_numbers(rng, m.summed * m.columns)};
    kernels.add(store_of(ops, m), inputs, product_of(m, inputs));
    seen += has(opts_of(m, kernels.options), "BLOCK") ? 1 : 0;
  }
  EXPECT_GT(seen, rounds / 6);
  kernels.run(true);
}

TEST(Blocks, InCGiveTheSumsOfLoops) { compare("c", kC, 128, 1); }
TEST(Blocks, InLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, 2); }

}  // namespace
}  // namespace etch::blocks_test
