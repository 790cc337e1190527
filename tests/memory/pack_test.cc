#include "memory/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "support/rounds.h"

namespace etch {
namespace {

void expect_valid(const std::vector<Block>& blocks, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), blocks.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < blocks.size(); i++) {
    EXPECT_GE(packing.offsets[i], 0);
    EXPECT_EQ(packing.offsets[i] % blocks[i].align, 0);
    end = std::max(end, packing.offsets[i] + blocks[i].bytes);
    for (std::size_t j = 0; j < i; j++) {
      bool share_a_step = false;
      for (int t = 0; t < 300; t++)
        share_a_step |= blocks[i].first <= t && t <= blocks[i].last && blocks[j].first <= t && t <= blocks[j].last;
      if (!share_a_step) continue;
      const bool apart =
          packing.offsets[i] + blocks[i].bytes <= packing.offsets[j] || packing.offsets[j] + blocks[j].bytes <= packing.offsets[i];
      EXPECT_TRUE(apart) << "blocks " << i << " and " << j;
    }
  }
  EXPECT_EQ(packing.bytes, end);
}

std::int64_t bound_by_steps(const std::vector<Block>& blocks) {
  std::int64_t bound = 0;
  for (int t = 0; t < 300; t++) {
    std::int64_t live = 0;
    for (const Block& b : blocks)
      if (b.first <= t && t <= b.last) live += b.bytes;
    bound = std::max(bound, live);
  }
  return bound;
}

// The smallest arena over all orders of first-fit: for unaligned blocks one of them is optimal.
std::int64_t optimum(const std::vector<Block>& blocks) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  do best = std::min(best, first_fit(blocks, order).bytes);
  while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Pack, KnownCases) {
  struct Case {
    const char* what;
    std::vector<Block> blocks;
    std::int64_t bytes;  // by hand
  };
  const Case cases[] = {
      {"nothing", {}, 0},
      {"one block", {{100, 0, 3}}, 100},
      {"a chain needs two neighbours at a time", {{100, 0, 1}, {50, 1, 2}, {100, 2, 3}}, 150},
      {"three at once", {{10, 0, 2}, {20, 0, 2}, {30, 2, 4}}, 60},
      {"a block that lives on is not in the way", {{4, 0, 9}, {6, 0, 1}, {6, 2, 3}, {6, 4, 9}}, 10},
      {"alignment costs what it must", {{3, 0, 1, 1}, {8, 0, 1, 8}}, 11},
      {"an empty block", {{0, 0, 1}, {8, 0, 1}}, 8},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Packing packing = pack(c.blocks);
    if (!c.blocks.empty()) expect_valid(c.blocks, packing);
    EXPECT_EQ(packing.bytes, c.bytes);
  }
}

// The packing of a few blocks is optimal for all sizes: compared with all orders.
TEST(Pack, SmallCasesAreOptimal) {
  std::mt19937 random(7);
  for (int round = 0; round < test::rounds(300); round++) {
    std::vector<Block> blocks;
    const int n = 1 + static_cast<int>(random() % 7);
    for (int i = 0; i < n; i++) {
      const int first = static_cast<int>(random() % 8);
      blocks.push_back({1 + static_cast<std::int64_t>(random() % 9), first, first + static_cast<int>(random() % 4), 1});
    }
    SCOPED_TRACE(round);
    const Packing packing = pack(blocks);
    expect_valid(blocks, packing);
    EXPECT_EQ(packing.bytes, optimum(blocks));
  }
}

// What two blocks that live at one step may not do: begin closer to each other than they may.
bool is_allowed(const std::vector<Block>& blocks, const std::vector<Closeness>& close, std::size_t i, std::size_t j, std::int64_t at_i,
                std::int64_t at_j) {
  if (blocks[i].last < blocks[j].first || blocks[j].last < blocks[i].first) return true;
  for (const Closeness& c : close) {
    const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
    if (a == i && b == j) return at_j - at_i >= c.a_below_b || at_i - at_j >= c.b_below_a;
    if (a == j && b == i) return at_i - at_j >= c.a_below_b || at_j - at_i >= c.b_below_a;
  }
  return at_i + blocks[i].bytes <= at_j || at_j + blocks[j].bytes <= at_i;
}

// The smallest packing, by trying all offsets.
std::int64_t optimum_by_offsets(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  std::vector<std::int64_t> at(blocks.size(), -1);
  for (std::int64_t limit = 0;; limit++) {
    const std::function<bool(std::size_t)> place = [&](std::size_t i) {
      if (i == blocks.size()) return true;
      for (std::int64_t offset = 0; offset + blocks[i].bytes <= limit; offset++) {
        bool fits = true;
        for (std::size_t j = 0; j < i && fits; j++) fits = is_allowed(blocks, close, i, j, offset, at[j]);
        at[i] = offset;
        if (fits && place(i + 1)) return true;
      }
      return false;
    };
    if (place(0)) return limit;
  }
}

// Chains of blocks of which each may overlap the next, as the layers of a network do, and others beside them.
TEST(Pack, BlocksThatMayOverlapInPartArePackedBest) {
  std::mt19937 random(13);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int smaller = 0, proved = 0;
  for (int round = 0; round < test::rounds(200); round++) {
    std::vector<Block> blocks;
    std::vector<Closeness> close;
    const int n = 2 + static_cast<int>(below(4));
    for (int i = 0; i < n; i++) {
      blocks.push_back({1 + below(9), i, i + 1, 1});
      if (i == 0 || below(4) == 0) continue;
      close.push_back(
          {i, i - 1, below(blocks[static_cast<std::size_t>(i)].bytes + 1), below(blocks[static_cast<std::size_t>(i - 1)].bytes + 1)});
    }
    for (int i = 0; i < static_cast<int>(below(3)); i++) {
      const int first = static_cast<int>(below(n));
      blocks.push_back({1 + below(5), first, first + static_cast<int>(below(3)), 1});
    }
    SCOPED_TRACE(round);
    const Packing packing = pack(blocks, close);
    for (std::size_t i = 0; i < blocks.size(); i++) {
      EXPECT_LE(packing.offsets[i] + blocks[i].bytes, packing.bytes);
      for (std::size_t j = 0; j < i; j++) EXPECT_TRUE(is_allowed(blocks, close, i, j, packing.offsets[i], packing.offsets[j]));
    }
    const std::int64_t best = optimum_by_offsets(blocks, close);
    EXPECT_EQ(packing.bytes, best);
    EXPECT_LE(lower_bound_bytes(blocks, close), best);
    smaller += best < optimum(blocks) ? 1 : 0;
    proved += packing.is_smallest ? 1 : 0;
  }
  EXPECT_GT(smaller, test::rounds(100));
  EXPECT_EQ(proved, test::rounds(200));
}

TEST(Pack, RandomBlocksDoNotOverlapAndAreNearTheBound) {
  std::mt19937 random(11);
  double worst = 1;
  for (int round = 0; round < test::rounds(15); round++) {
    std::vector<Block> blocks;
    const int n = 2 + static_cast<int>(random() % 120);
    for (int i = 0; i < n; i++) {
      const int first = static_cast<int>(random() % 100);
      const int length = random() % 5 == 0 ? static_cast<int>(random() % 60) : static_cast<int>(random() % 4);
      blocks.push_back({1 + static_cast<std::int64_t>(random() % 100000), first, first + length, 1 << (random() % 5)});
    }
    SCOPED_TRACE(round);
    const Packing packing = pack(blocks);
    expect_valid(blocks, packing);
    EXPECT_EQ(lower_bound_bytes(blocks), bound_by_steps(blocks));
    EXPECT_EQ(pack(blocks).offsets, packing.offsets);
    worst = std::max(worst, static_cast<double>(packing.bytes) / static_cast<double>(bound_by_steps(blocks)));
  }
  EXPECT_LE(worst, 1.05);
}

// As of networks: most blocks live for two steps, some for many. Those that lie on top of each other up to the highest one have to change
// places for a smaller packing.
TEST(Pack, ChainsOfBlocksMostlyReachTheBound) {
  std::mt19937 random(12);
  int reached = 0;
  for (int round = 0; round < test::rounds(12); round++) {
    std::vector<Block> blocks;
    const int n = 100 + static_cast<int>(random() % 200);
    for (int step = 0; step < n; step++) {
      const int length = random() % 10 == 0 ? 5 + static_cast<int>(random() % 40) : 1;
      const std::int64_t bytes = 6400 * (1 + static_cast<std::int64_t>(random() % 32));
      blocks.push_back({length == 1 ? bytes : bytes / 4, step, std::min(step + length, n - 1), 64});
    }
    const Packing packing = pack(blocks);
    expect_valid(blocks, packing);
    const double ratio = static_cast<double>(packing.bytes) / static_cast<double>(bound_by_steps(blocks));
    EXPECT_LE(ratio, 1.05) << round;
    reached += ratio == 1 ? 1 : 0;
  }
  EXPECT_GT(reached, test::rounds(12) / 2);
}

}  // namespace
}  // namespace etch
