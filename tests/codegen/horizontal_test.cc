// Two kernels as one: that each still reads and writes what it did alone, in the same order, whatever steps both have taken; where their
// loops run together; and the loops of a kernel that run forwards and backwards in turn.
#include "codegen/horizontal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "program/generate.h"
#include "renderer/language.h"
#include "support/kernel_replay.h"
#include "support/opt_chain.h"
#include "support/rounds.h"

namespace etch::horizontal_test {
namespace {

/// out[m][n] = sum[k](in[m][k] * w[n][k]), of one row or several; `turn`: the rows of that turn of a loop around it.
struct Sizes {
  std::int64_t rows = 1, outputs = 1, length = 1;
};

// `store`, `load`: the numbers of its buffers, an output, the rows and the weights.
const LazyOp* product(LazyOps& ops, const Sizes& s, int store, int load, Sint turn = 0) {
  const std::vector<Sint> full{s.rows, s.outputs, s.length};
  const std::int64_t of_turn = s.rows * s.length;
  const View rows = View::create(full, {{s.length, 0, 1}}, turn * of_turn), weights = View::create(full, {{0, s.length, 1}});
  const LazyOp* factors = ops.elementwise(
      Op::Mul, {ops.load(load, DType::Float32, ShapeTracker({rows})), ops.load(load + 1, DType::Float32, ShapeTracker({weights}))});
  return ops.store(store, ops.reduce(Op::ReduceSum, factors, {2}), ShapeTracker::from_shape({s.rows, s.outputs, 1}));
}

constexpr std::int64_t kTurns = 4;

std::vector<KernelArgument> arguments_of(const Sizes& a, const Sizes& b) {
  const auto rows = [](const Sizes& s) { return Sint(s.rows * s.length * kTurns); };
  return {{DType::Float32, a.rows * a.outputs, "out", Access::Write},
          {DType::Float32, b.rows * b.outputs, "out_2", Access::Write},
          {DType::Float32, rows(a), "in"},
          {DType::Float32, a.outputs * a.length, "w", Access::Read, true},
          {DType::Float32, rows(b), "in_2"},
          {DType::Float32, b.outputs * b.length, "w_2", Access::Read, true}};
}

CodegenOptions options_of(int lanes) {
  CodegenOptions options;
  options.vector_bits = 32 * lanes;
  options.float_registers = 32;
  options.cache_bytes = 1 << 20;
  options.counter = "turn";
  return options;
}

std::string text_of(const std::vector<test::MemoryEvent>& events, int argument) {
  std::string text;
  for (const test::MemoryEvent& e : events)
    if (e.argument == argument) text += (e.is_store ? "s" : "l") + std::to_string(e.begin) + "-" + std::to_string(e.end) + " ";
  return text;
}

int loops_in(const UOpList& uops) { return static_cast<int>(std::ranges::count(uops.order, UOpKind::Loop, &UOp::uop)); }

// In C an inner loop of the same name would hide the outer one.
bool has_names_of_their_own(const UOpList& uops) {
  std::vector<std::string> open;
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::If) open.emplace_back();
    if (u->uop == UOpKind::End) open.pop_back();
    if (u->uop != UOpKind::Loop) continue;
    if (std::ranges::find(open, u->name) != open.end()) return false;
    open.push_back(u->name);
  }
  return true;
}

TEST(FuseLoops, EachKernelReadsAndWritesAsBefore) {
  std::mt19937 rng(1);
  const auto pick = [&](std::vector<std::int64_t> from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(rng)];
  };
  int together = 0, apart = 0, with_rest = 0;
  for (int i = 0; i < test::rounds(400); i++) {
    LazyOps ops;
    const Sizes a{1, pick({8, 16, 24, 32}), pick({3, 4, 8, 12})}, b{pick({2, 3, 4}), pick({8, 16, 24}), pick({3, 4, 8, 12})};
    const CodegenOptions options = options_of(static_cast<int>(pick({1, 4})));
    Kernel first(product(ops, a, 0, 2), options), second(product(ops, b, 1, 4), options);
    const std::vector<KernelArgument> arguments = arguments_of(a, b);
    if (options.vector_bits == 32 || pick({0, 1}) == 0 || !tile_together(first, second, arguments))
      for (Kernel* k : {&first, &second})
        for (const Opt& opt : test::random_opt_chain(k->ast(), rng, options)) k->apply(opt);
    LinearKernel one = linearize_kernel(first, arguments, kC), other = linearize_kernel(second, one.arguments, kC);
    const UOpList fused = fuse_loops(one.linear.uops, other.linear.uops);
    const test::KernelReplay both(fused, other.arguments), before(one.linear.uops, other.arguments),
        behind(other.linear.uops, other.arguments);
    for (int argument = 0; argument < 6; argument++) {
      const bool is_first = argument == 0 || argument == 2 || argument == 3;
      ASSERT_EQ(text_of(both.events(), argument), text_of((is_first ? before : behind).events(), argument))
          << to_text(first.applied()) << "\n"
          << to_text(second.applied()) << "\n"
          << to_text(fused);
    }
    ASSERT_TRUE(has_names_of_their_own(fused)) << to_text(first.applied()) << "\n" << to_text(second.applied()) << "\n" << to_text(fused);
    const int loops = loops_in(fused), of_both = loops_in(one.linear.uops) + loops_in(other.linear.uops);
    (loops == of_both ? apart : loops == 2 ? together : with_rest)++;
  }
  EXPECT_GT(together, test::rounds(400) / 20);
  EXPECT_GT(with_rest, test::rounds(400) / 40) << "one of the sums is longer";
  EXPECT_GT(apart, test::rounds(400) / 4);
}

// What is left of the second kernel's inner loop, over n, stands in the first one's outer loop, over its own n.
TEST(FuseLoops, TheRestOfALoopHidesNoOther) {
  LazyOps ops;
  const CodegenOptions options = options_of(1);
  Kernel first(product(ops, {1, 3, 2}, 0, 2), options), second(product(ops, {3, 8, 3}, 1, 4), options);
  second.apply({OptOp::Unroll, 0, 0});
  const std::vector<KernelArgument> arguments = arguments_of({1, 3, 2}, {3, 8, 3});
  const UOpList fused = fuse_loops(linearize_kernel(first, arguments, kC).linear.uops, linearize_kernel(second, arguments, kC).linear.uops);
  EXPECT_EQ(loops_in(fused), 3) << to_text(fused);
  EXPECT_TRUE(has_names_of_their_own(fused)) << to_text(fused);
}

TEST(FuseLoops, SumsOfBothKeepTheirNumbers) {
  LazyOps ops;
  const CodegenOptions options = options_of(4);
  Kernel first(product(ops, {1, 32, 8}, 0, 2), options), second(product(ops, {2, 16, 8}, 1, 4), options);
  const std::vector<KernelArgument> arguments = arguments_of({1, 32, 8}, {2, 16, 8});
  ASSERT_TRUE(tile_together(first, second, arguments));
  const UOpList fused = fuse_loops(linearize_kernel(first, arguments, kC).linear.uops, linearize_kernel(second, arguments, kC).linear.uops);
  std::set<std::int64_t> numbers;
  std::set<std::string> names;
  int sums = 0;
  for (const UOp* u : fused.order)
    if (u->uop == UOpKind::DefineAcc) {
      sums++;
      numbers.insert(u->number);
      names.insert(u->name + u->hint);
    }
  EXPECT_EQ(std::ssize(numbers), sums);
  EXPECT_EQ(std::ssize(names), sums);
}

struct Tiles {
  std::int64_t outputs, rows, others, of_row, of_rows;  // the last two 0: there are none
};

TEST(TilesTogether, AreAsManyAndFillTheRegisters) {
  constexpr Tiles kLanes16[] = {{512, 4, 128, 8, 2}, {1024, 4, 256, 8, 2}, {256, 4, 96, 8, 3}, {192, 4, 96, 6, 3},
                                {128, 4, 32, 4, 1},  {512, 4, 96, 0, 0},   {16, 4, 16, 0, 0},  {500, 4, 125, 0, 0}};
  for (const Tiles& t : kLanes16) {
    const auto found = tiles_together(t.outputs, t.rows, t.others, options_of(16));
    ASSERT_EQ(found.has_value(), t.of_row > 0) << t.outputs << " " << t.others;
    if (found) EXPECT_EQ(std::pair(found->of_row, found->of_rows), std::pair(t.of_row, t.of_rows)) << t.outputs << " " << t.others;
  }
  CodegenOptions few = options_of(8);
  few.float_registers = 16;
  const auto found = tiles_together(512, 4, 128, few);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::pair(found->of_row, found->of_rows), std::pair(std::int64_t{4}, std::int64_t{1}));
  EXPECT_FALSE(tiles_together(512, 4, 128, options_of(1))) << "there are no vectors";
}

// --- ZIGZAG

class Zigzag : public testing::Test {
 protected:
  Symbols symbols_;
  LazyOps ops_;
  const Sizes sizes_{2, 24, 12};
  const LazyOp* ast_ = product(ops_, sizes_, 0, 2, symbols_.variable("turn", 0, kTurns - 1));
  const std::vector<KernelArgument> arguments_ = arguments_of(sizes_, sizes_);

  std::vector<test::MemoryEvent> events_of(const Kernel& k, std::int64_t turn) const {
    const LinearKernel made = linearize_kernel(k, arguments_, kC);
    const test::KernelReplay replay(made.linear.uops, made.arguments, {{"turn", turn}});
    return replay.events();
  }
};

// What each turn of the innermost loop reads of the weights.
std::vector<std::set<std::int64_t>> weights_by_turn(const std::vector<test::MemoryEvent>& events, std::size_t turns) {
  std::vector<std::int64_t> read;
  for (const test::MemoryEvent& e : events)
    if (e.argument == 3) read.push_back(e.begin);
  std::vector<std::set<std::int64_t>> by_turn;
  const std::size_t each = read.size() / turns;
  for (std::size_t i = 0; i + each <= read.size(); i += each)
    by_turn.emplace_back(read.begin() + static_cast<std::ptrdiff_t>(i), read.begin() + static_cast<std::ptrdiff_t>(i + each));
  return by_turn;
}

TEST_F(Zigzag, EverySecondTurnReadsBackwards) {
  std::mt19937 rng(2);
  int seen = 0;
  for (int i = 0; i < test::rounds(800); i++) {
    const CodegenOptions options = options_of(i % 2 == 0 ? 1 : 4);
    Kernel plain(ast_, options);
    for (const Opt& opt : test::random_opt_chain(ast_, rng, options)) plain.try_apply(opt);
    Kernel k = plain;
    // Each turn of the innermost loop reads as many.
    const bool is_even = k.count(AxisKind::Reduce) > 0 && std::ranges::find(k.applied(), OptOp::PadTo, &Opt::op) == k.applied().end();
    if (!is_even || !k.try_apply({OptOp::Zigzag})) continue;
    std::size_t turns = 1;
    for (const Axis& a : k.axes())
      if (a.kind == AxisKind::Global || a.kind == AxisKind::Reduce) turns *= static_cast<std::size_t>(a.size.as_int());
    const std::vector<test::MemoryEvent> forth = events_of(k, 2), back = events_of(k, 3), alone = events_of(plain, 2);
    for (int argument = 0; argument < 4; argument++) ASSERT_EQ(text_of(forth, argument), text_of(alone, argument)) << to_text(k.applied());
    std::vector<std::set<std::int64_t>> reversed = weights_by_turn(back, turns);
    std::ranges::reverse(reversed);
    ASSERT_EQ(weights_by_turn(forth, turns), reversed) << to_text(k.applied());
    seen++;
  }
  EXPECT_GT(seen, test::rounds(800) / 12);
}

TEST_F(Zigzag, IsRefusedWhereItGainsNothing) {
  const auto why = [&](CodegenOptions options, std::vector<Opt> before = {}, Opt opt = {OptOp::Zigzag}) {
    Kernel k(ast_, options);
    for (const Opt& o : before) k.apply(o);
    return k.why_illegal(opt).value_or("");
  };
  const CodegenOptions plain = options_of(4);
  EXPECT_EQ(why(plain), "");
  CodegenOptions other = plain;
  other.counter = "step";
  EXPECT_EQ(why(other), "the kernel knows which turn it is of the loop around it");
  CodegenOptions workers = plain;
  workers.workers.most = 2;
  EXPECT_EQ(why(workers), "one core reads again what it has read: the program has one worker");
  EXPECT_EQ(why(plain, {{OptOp::Backwards}}), "the loops run forwards yet");
  EXPECT_EQ(why(plain, {{OptOp::Zigzag}}), "the loops run forwards yet");
  EXPECT_EQ(why(plain, {{OptOp::Prefetch, 0, 0}}), "nothing is asked for ahead, which would be another turn's");
  EXPECT_EQ(why(plain, {{OptOp::Zigzag}}, {OptOp::Backwards}), "the loops do not run backwards yet");
  EXPECT_NE(why(plain, {{OptOp::Zigzag}}, {OptOp::Prefetch, 0, 0}), "");
  EXPECT_EQ(why(plain, {}, {OptOp::Zigzag, 1, 0}), "it takes no axis and no amount");
}

TEST(ZigzagHeuristics, TakeItWhereCachesHoldThePart) {
  const auto has_it = [](std::int64_t outputs, const std::function<void(CodegenOptions&)>& change) {
    Symbols symbols;
    LazyOps ops;
    const Sizes sizes{1, outputs, 128};
    const LazyOp* ast = product(ops, sizes, 0, 2, symbols.variable("turn", 0, kTurns - 1));
    CodegenOptions options = options_of(8);
    change(options);
    return choose_opts(ast, arguments_of(sizes, sizes), options).zigzags();
  };
  const auto none = [](CodegenOptions&) {};
  EXPECT_TRUE(has_it(512, none)) << "256 KB of weights";
  EXPECT_FALSE(has_it(32, none)) << "16 KB are in the first cache";
  EXPECT_FALSE(has_it(4096, none)) << "2 MB are beyond the second one";
  EXPECT_TRUE(has_it(32, [](CodegenOptions& o) { o.first_cache_bytes = 8 << 10; }));
  EXPECT_FALSE(has_it(512, [](CodegenOptions& o) { o.first_cache_bytes = 512 << 10; }));
  EXPECT_FALSE(has_it(512, [](CodegenOptions& o) { o.counter = ""; }));
  EXPECT_FALSE(has_it(512, [](CodegenOptions& o) { o.in_order = true; }));
  EXPECT_FALSE(has_it(512, [](CodegenOptions& o) { o.overlap = true; }));
}

}  // namespace
}  // namespace etch::horizontal_test
