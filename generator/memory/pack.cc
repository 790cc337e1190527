#include "memory/pack.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace etch {
namespace {

std::int64_t align_up(std::int64_t offset, std::int64_t align) { return (offset + align - 1) / align * align; }

// A block that lives together with the one that has it in its list.
struct Neighbour {
  int block = 0;
  std::int64_t above = 0, below = 0;  // at least so far above its begin, or below it, the other one begins
};
using Neighbours = std::vector<std::vector<Neighbour>>;  // by block

// For each block the blocks that may not overlap it, or may do so only in part.
Neighbours conflicts(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  Neighbours result(blocks.size());
  const auto add = [&](int i, int j) {
    const auto bytes = [&](int block) { return blocks[static_cast<std::size_t>(block)].bytes; };
    result[static_cast<std::size_t>(i)].push_back({j, bytes(j), bytes(i)});
  };
  std::vector<int> by_first(blocks.size()), live;
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::stable_sort(by_first, {}, [&](int i) { return blocks[static_cast<std::size_t>(i)].first; });
  for (int i : by_first) {
    std::erase_if(live, [&](int j) { return blocks[static_cast<std::size_t>(j)].last < blocks[static_cast<std::size_t>(i)].first; });
    for (int j : live) {
      add(i, j);
      add(j, i);
    }
    live.push_back(i);
  }
  const auto neighbour = [&](int of, int block) -> Neighbour& {
    const auto found = std::ranges::find(result[static_cast<std::size_t>(of)], block, &Neighbour::block);
    check(found != result[static_cast<std::size_t>(of)].end(), "blocks that may overlap live together");
    return *found;
  };
  for (const Closeness& c : close) {
    neighbour(c.a, c.b) = {c.b, c.b_below_a, c.a_below_b};
    neighbour(c.b, c.a) = {c.a, c.a_below_b, c.b_below_a};
  }
  return result;
}

Packing place_in_order(const std::vector<Block>& blocks, const Neighbours& against, const std::vector<int>& order) {
  Packing packing{std::vector<std::int64_t>(blocks.size(), -1)};
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // offsets between these two are
  for (int i : order) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    taken.clear();
    for (const Neighbour& j : against[static_cast<std::size_t>(i)]) {
      const std::int64_t at = packing.offsets[static_cast<std::size_t>(j.block)];
      if (at >= 0) taken.emplace_back(at - j.below, at + j.above);
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t offset = 0;
    for (const auto& [low, high] : taken) {
      if (offset <= low) break;
      offset = std::max(offset, align_up(high, block.align));
    }
    packing.offsets[static_cast<std::size_t>(i)] = offset;
    packing.bytes = std::max(packing.bytes, offset + block.bytes);
  }
  return packing;
}

int duration(const Block& b) { return b.last - b.first; }

// Ties fall back to the number of the block, so that the order is total.
template <class Key>
std::vector<int> sorted_by(const std::vector<Block>& blocks, Key key) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return key(blocks[static_cast<std::size_t>(a)]) < key(blocks[static_cast<std::size_t>(b)]); });
  return order;
}

// Range minimum queries in constant time (a sparse table): least_[k][i] is the least of the 2^k values from i on.
class RangeMinimum {
 public:
  explicit RangeMinimum(std::vector<int> values) : least_{std::move(values)} {
    for (std::size_t width = 1; 2 * width <= least_[0].size(); width *= 2) {
      const std::vector<int>& half = least_.back();
      std::vector<int> whole(least_[0].size() - 2 * width + 1);
      for (std::size_t i = 0; i < whole.size(); i++) whole[i] = std::min(half[i], half[i + width]);
      least_.push_back(std::move(whole));
    }
  }
  int of(int first, int last) const {
    const auto k = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(last - first + 1)) - 1);
    return std::min(least_[k][static_cast<std::size_t>(first)], least_[k][static_cast<std::size_t>(last + 1 - (1 << k))]);
  }

 private:
  std::vector<std::vector<int>> least_;
};

// Steps with most live bytes first; at each step its blocks by size.
std::vector<int> by_breadth(const std::vector<Block>& blocks) {
  const std::vector<std::int64_t> live = live_bytes(blocks);
  std::vector<int> steps(live.size()), turn(live.size());
  std::iota(steps.begin(), steps.end(), 0);
  std::ranges::stable_sort(steps, {}, [&](int t) { return -live[static_cast<std::size_t>(t)]; });
  for (std::size_t i = 0; i < steps.size(); i++) turn[static_cast<std::size_t>(steps[i])] = static_cast<int>(i);
  const RangeMinimum first_turn(std::move(turn));
  return sorted_by(blocks, [&](const Block& b) { return std::pair(first_turn.of(b.first, b.last), -b.bytes); });
}

// Blocks that like to lie below those that they may overlap come first: what lies above them finds its place then.
std::vector<int> low_ones_first(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  std::vector<int> likes(blocks.size(), 0);
  for (const Closeness& c : close) {
    const int a_is_low = c.a_below_b < c.b_below_a ? 1 : -1;
    likes[static_cast<std::size_t>(c.a)] += a_is_low;
    likes[static_cast<std::size_t>(c.b)] -= a_is_low;
  }
  std::vector<int> order = sorted_by(blocks, [](const Block& b) { return -b.bytes; });
  std::ranges::stable_sort(order, {}, [&](int i) { return -likes[static_cast<std::size_t>(i)]; });
  return order;
}

std::vector<std::vector<int>> starting_orders(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  using Key = std::pair<std::int64_t, std::int64_t>;
  std::vector<std::vector<int>> orders{
      sorted_by(blocks, [](const Block& b) { return Key(-b.bytes, b.first); }),
      sorted_by(blocks, [](const Block& b) { return Key(-b.bytes, -duration(b)); }),
      by_breadth(blocks),
      sorted_by(blocks, [](const Block& b) { return Key(b.first, -b.bytes); }),
      sorted_by(blocks, [](const Block& b) { return Key(-b.last, -b.bytes); }),
      sorted_by(blocks, [](const Block& b) { return Key(-duration(b), -b.bytes); }),
      sorted_by(blocks, [](const Block& b) { return Key(-(duration(b) + 1) * b.bytes, b.first); }),
  };
  if (!close.empty()) orders.push_back(low_ones_first(blocks, close));
  return orders;
}

// A random number generator that gives the same numbers on every machine.
class Lcg {
 public:
  int below(int n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_ = 1;
};

// Moves one block at a time to another place in the order, and keeps each change that is not worse. `order` becomes the last that was kept.
void local_search(const std::vector<Block>& blocks, const Neighbours& against, std::vector<int>& order, std::int64_t goal, Packing& best) {
  const int n = static_cast<int>(order.size());
  if (n < 2) return;
  Lcg random;
  std::int64_t current = place_in_order(blocks, against, order).bytes;
  const int rounds = static_cast<int>(std::min<std::int64_t>(4000, 4000000 / (static_cast<std::int64_t>(n) * n) + 200));
  for (int round = 0; round < rounds && best.bytes > goal; round++) {
    std::vector<int> changed = order;
    const int from = random.below(n);
    const int to = random.below(n);
    const int moved = changed[static_cast<std::size_t>(from)];
    changed.erase(changed.begin() + from);
    changed.insert(changed.begin() + to, moved);
    Packing packing = place_in_order(blocks, against, changed);
    if (packing.bytes > current) continue;
    current = packing.bytes;
    order = std::move(changed);
    if (packing.bytes < best.bytes) best = std::move(packing);
  }
}

// A block that ends last, those below it that live together with it, those below these, and so on: some of them have to change places for
// anything to become smaller.
std::vector<int> bottleneck(const std::vector<Block>& blocks, const Neighbours& against, const Packing& packing) {
  const auto top = [&](int block) {
    return packing.offsets[static_cast<std::size_t>(block)] + blocks[static_cast<std::size_t>(block)].bytes;
  };
  std::vector<int> found;
  std::vector<char> is_found(blocks.size(), 0);
  for (int i = 0; i < static_cast<int>(blocks.size()) && found.empty(); i++)
    if (top(i) == packing.bytes) found.push_back(i);
  for (std::size_t next = 0; next < found.size(); next++) {
    is_found[static_cast<std::size_t>(found[next])] = 1;
    for (const Neighbour& j : against[static_cast<std::size_t>(found[next])]) {
      const auto block = static_cast<std::size_t>(j.block);
      if (is_found[block] != 0 || packing.offsets[block] >= packing.offsets[static_cast<std::size_t>(found[next])]) continue;
      is_found[block] = 1;
      found.push_back(j.block);
    }
  }
  return found;
}

// Swaps two blocks of the bottleneck at a time in the order, and keeps each change that is not worse.
void widen_bottleneck(const std::vector<Block>& blocks, const Neighbours& against, std::vector<int> order, std::int64_t goal,
                      Packing& best) {
  constexpr std::int64_t kWork = 15'000'000, kMostRounds = 10'000;
  auto work = static_cast<std::int64_t>(blocks.size());
  for (const std::vector<Neighbour>& neighbours : against) work += static_cast<std::int64_t>(neighbours.size());
  Lcg random;
  Packing current = place_in_order(blocks, against, order);
  std::vector<int> found = bottleneck(blocks, against, current);
  for (std::int64_t rounds = std::min(kMostRounds, kWork / work); rounds > 0 && best.bytes > goal && found.size() > 1; rounds--) {
    const int count = static_cast<int>(found.size());
    const int first = random.below(count), second = (first + 1 + random.below(count - 1)) % count;
    const int a = found[static_cast<std::size_t>(first)], b = found[static_cast<std::size_t>(second)];
    std::vector<int> changed = order;
    std::iter_swap(std::ranges::find(changed, a), std::ranges::find(changed, b));
    Packing packing = place_in_order(blocks, against, changed);
    if (packing.bytes > current.bytes) continue;
    current = std::move(packing);
    order = std::move(changed);
    found = bottleneck(blocks, against, current);
    if (current.bytes < best.bytes) best = current;
  }
}

// Branch and bound over a skyline: blocks are placed by rising offset, each directly on top of the blocks at its steps. Some optimal
// packing has this form: take any optimal one and push its blocks down, in the order of their offsets, until none moves. It stays so where
// blocks may overlap, as their distances are not negative.
class Skyline {
 public:
  Skyline(const std::vector<Block>& blocks, const Neighbours& against, std::vector<std::int64_t> shared, std::int64_t goal, Packing& best)
      : blocks_(blocks),
        against_(against),
        shared_(std::move(shared)),
        overlaps_(std::ranges::any_of(shared_, [](std::int64_t bytes) { return bytes > 0; })),
        goal_(goal),
        best_(best) {
    int steps = 0;
    for (const Block& b : blocks) steps = std::max(steps, b.last + 1);
    height_.resize(static_cast<std::size_t>(steps));
    rest_.resize(static_cast<std::size_t>(steps));
    for (const Block& b : blocks)
      for (int t = b.first; t <= b.last; t++) rest_[static_cast<std::size_t>(t)] += b.bytes;
    current_.assign(blocks.size(), -1);
    by_size_ = sorted_by(blocks, [](const Block& b) { return std::pair(-b.bytes, b.first); });
  }

  /// Depth is the number of blocks, at most kMaxBlocks.
  void search(std::size_t placed, std::int64_t floor) {
    if (best_.bytes <= goal_ || work_ > kMaxWork) return;
    if (placed == blocks_.size()) {
      best_ = {current_, *std::max_element(height_.begin(), height_.end())};
      return;
    }
    for (int i : by_size_) {
      if (current_[static_cast<std::size_t>(i)] >= 0) continue;
      try_block(i, placed, floor);
      if (best_.bytes <= goal_ || work_ > kMaxWork) return;
    }
  }

  /// Whether all was searched: there is no packing better than `best`.
  bool is_complete() const { return work_ <= kMaxWork; }

  static constexpr std::size_t kMaxBlocks = 200;

 private:
  static constexpr std::int64_t kMaxWork = 20'000'000;

  void try_block(int i, std::size_t placed, std::int64_t floor) {
    const Block& b = blocks_[static_cast<std::size_t>(i)];
    const std::int64_t offset = align_up(top_below(i), b.align);
    work_ += static_cast<std::int64_t>(height_.size());
    if (offset < floor) return;  // this block would have been placed earlier
    if (offset + b.bytes >= best_.bytes) return;
    const std::vector<std::int64_t> saved = height_;
    for (int t = b.first; t <= b.last; t++) {
      height_[static_cast<std::size_t>(t)] = std::max(height_[static_cast<std::size_t>(t)], offset + b.bytes);
      rest_[static_cast<std::size_t>(t)] -= b.bytes;
    }
    current_[static_cast<std::size_t>(i)] = offset;
    if (can_improve(offset)) search(placed + 1, offset);
    current_[static_cast<std::size_t>(i)] = -1;
    for (int t = b.first; t <= b.last; t++) rest_[static_cast<std::size_t>(t)] += b.bytes;
    height_ = saved;
  }

  // The least offset at which block `i` lies above all blocks at its steps.
  std::int64_t top_below(int i) const {
    std::int64_t top = 0;
    if (overlaps_) {
      for (const Neighbour& j : against_[static_cast<std::size_t>(i)])
        if (const std::int64_t at = current_[static_cast<std::size_t>(j.block)]; at >= 0) top = std::max(top, at + j.above);
      return top;
    }
    const Block& b = blocks_[static_cast<std::size_t>(i)];
    for (int t = b.first; t <= b.last; t++) top = std::max(top, height_[static_cast<std::size_t>(t)]);
    return top;
  }

  // At each step the blocks not yet placed lie above both the skyline and the offset of the block placed last; where blocks may overlap,
  // above that offset.
  bool can_improve(std::int64_t floor) const {
    for (std::size_t t = 0; t < height_.size(); t++) {
      if (rest_[t] == 0) continue;
      const std::int64_t from = shared_[t] > 0 ? floor : std::max(height_[t], floor);
      if (from + rest_[t] - shared_[t] >= best_.bytes) return false;
    }
    return true;
  }

  const std::vector<Block>& blocks_;
  const Neighbours& against_;
  std::vector<std::int64_t> shared_;  // by step: see shared_bytes
  bool overlaps_;
  std::int64_t goal_;
  Packing& best_;
  std::vector<std::int64_t> height_, rest_;  // by step: top of what is placed, bytes of what is not
  std::vector<std::int64_t> current_;
  std::vector<int> by_size_;
  std::int64_t work_ = 0;
};

// Only steps at which something begins matter; numbering them densely keeps the skyline short.
std::vector<Block> with_dense_steps(std::vector<Block> blocks) {
  std::vector<int> starts;
  for (const Block& b : blocks) starts.push_back(b.first);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  // The number of the last start that is not after `step`.
  auto dense = [&](int step) { return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), step) - starts.begin()) - 1; };
  for (Block& b : blocks) {
    b.first = dense(b.first);
    b.last = dense(b.last);
  }
  return blocks;
}

}  // namespace

std::vector<std::int64_t> live_bytes(const std::vector<Block>& blocks) {
  int steps = 0;
  for (const Block& b : blocks) steps = std::max(steps, b.last + 1);
  std::vector<std::int64_t> live(static_cast<std::size_t>(steps) + 1);  // at first the difference of each step to the one before
  for (const Block& b : blocks) {
    live[static_cast<std::size_t>(b.first)] += b.bytes;
    live[static_cast<std::size_t>(b.last) + 1] -= b.bytes;
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

std::vector<std::int64_t> shared_bytes(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  std::vector<std::int64_t> shared(live_bytes(blocks).size());
  for (const Closeness& c : close) {
    const Block &a = blocks[static_cast<std::size_t>(c.a)], &b = blocks[static_cast<std::size_t>(c.b)];
    check(std::max(a.first, b.first) == std::min(a.last, b.last), "blocks that may overlap live together at one step");
    check(c.a_below_b >= 0 && c.b_below_a >= 0 && c.a_below_b <= a.bytes && c.b_below_a <= b.bytes,
          "blocks that may overlap keep a distance that at most holds them apart");
    const std::int64_t together = std::min(std::max(a.bytes, c.a_below_b + b.bytes), std::max(b.bytes, c.b_below_a + a.bytes));
    shared[static_cast<std::size_t>(std::max(a.first, b.first))] += a.bytes + b.bytes - together;
  }
  return shared;
}

std::int64_t lower_bound_bytes(const std::vector<Block>& blocks, const std::vector<Closeness>& close) {
  std::vector<std::int64_t> live = live_bytes(blocks);
  const std::vector<std::int64_t> shared = shared_bytes(blocks, close);
  for (std::size_t t = 0; t < live.size(); t++) live[t] -= shared[t];
  std::int64_t bound = live.empty() ? 0 : std::ranges::max(live);
  for (const Block& b : blocks) bound = std::max(bound, b.bytes);
  return bound;
}

Packing first_fit(const std::vector<Block>& blocks, const std::vector<int>& order) {
  return place_in_order(blocks, conflicts(blocks, {}), order);
}

namespace {

// What searching needs, made once.
struct Problem {
  std::vector<Block> blocks;
  const std::vector<Closeness>& close;
  Neighbours against;
  std::int64_t lower_bound = 0;
};

Problem problem_of(const std::vector<Block>& input, const std::vector<Closeness>& close) {
  for (const Block& b : input) check(b.bytes >= 0 && b.first <= b.last && b.first >= 0 && b.align > 0, "a block has a size and a lifetime");
  Problem problem{with_dense_steps(input), close, {}, 0};
  problem.against = conflicts(problem.blocks, close);
  problem.lower_bound = lower_bound_bytes(problem.blocks, close);
  return problem;
}

// The best of a few orders, and which one that was.
Packing best_of_orders(const Problem& p, std::vector<int>& best_order) {
  Packing best{{}, std::numeric_limits<std::int64_t>::max()};
  for (const std::vector<int>& order : starting_orders(p.blocks, p.close)) {
    Packing packing = place_in_order(p.blocks, p.against, order);
    if (packing.bytes >= best.bytes) continue;
    best = std::move(packing);
    best_order = order;
  }
  return best;
}

}  // namespace

Packing pack(const std::vector<Block>& input, const std::vector<Closeness>& close) {
  if (input.empty()) return {};
  const Problem p = problem_of(input, close);
  std::vector<int> order;
  Packing best = best_of_orders(p, order);
  local_search(p.blocks, p.against, order, p.lower_bound, best);
  widen_bottleneck(p.blocks, p.against, order, p.lower_bound, best);
  best.is_smallest = best.bytes == p.lower_bound;
  if (best.is_smallest || p.blocks.size() > Skyline::kMaxBlocks) return best;
  Skyline skyline(p.blocks, p.against, shared_bytes(p.blocks, close), p.lower_bound, best);
  skyline.search(0, 0);
  best.is_smallest = skyline.is_complete();
  return best;
}

std::optional<Packing> pack_within(const std::vector<Block>& input, const std::vector<Closeness>& close, std::int64_t bytes, bool thorough,
                                   bool* proved) {
  if (input.empty()) return Packing{};
  const Problem p = problem_of(input, close);
  if (proved != nullptr) *proved = p.lower_bound > bytes;
  if (p.lower_bound > bytes) return std::nullopt;
  std::vector<int> order;
  Packing best = best_of_orders(p, order);
  if (best.bytes > bytes && thorough) local_search(p.blocks, p.against, order, bytes, best);
  if (best.bytes > bytes && thorough) widen_bottleneck(p.blocks, p.against, order, bytes, best);
  if (best.bytes > bytes && thorough && p.blocks.size() <= Skyline::kMaxBlocks) {
    best = {{}, bytes + 1};  // only what is better than that is looked for
    Skyline skyline(p.blocks, p.against, shared_bytes(p.blocks, close), bytes, best);
    skyline.search(0, 0);
    if (proved != nullptr) *proved = best.bytes > bytes && skyline.is_complete();
  }
  return best.bytes <= bytes ? std::optional(std::move(best)) : std::nullopt;
}

}  // namespace etch
