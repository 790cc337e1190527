#include "memory/pools.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/subscript.h"

namespace etch {
namespace {

// Bytes of traffic in each pool but the last: the larger one in the order of words is better.
using Value = std::vector<std::int64_t>;

class PoolSearch {
 public:
  PoolSearch(const std::vector<PoolBlock>& blocks, const std::vector<Closeness>& close, const std::vector<std::int64_t>& limits)
      : blocks_(blocks), close_(close), limits_(limits), sets_(limits.size(), std::vector<char>(blocks.size(), 0)) {
    reset();
  }

  std::optional<PoolChoice> best() {
    for (const std::vector<int>& order : orders()) greedy(order);
    if (best_) improve();
    is_complete_ = blocks_.size() <= kMostExact;
    if (is_complete_) {
      order_ = orders().front();
      reset();
      value_.assign(limits_.size(), 0);
      branch(0);
    }
    if (!best_) return std::nullopt;
    return PoolChoice{*best_, is_complete_};
  }
  bool is_complete() const { return is_complete_; }

 private:
  static constexpr std::size_t kMostExact = 64;  // blocks
  static constexpr int kMostNodes = 20'000, kMostThorough = 8;
  static constexpr std::int64_t kMostWork = 400'000'000;  // about the steps of packing

  std::size_t pools() const { return limits_.size(); }
  void reset() {
    pool_.assign(blocks_.size(), -1);
    for (std::vector<char>& set : sets_) std::ranges::fill(set, 0);
  }
  void put(int block, int pool) {
    pool_[at(block)] = pool;
    sets_[at(pool)][at(block)] = 1;
  }
  void take(int block) {
    sets_[at(pool_[at(block)])][at(block)] = 0;
    pool_[at(block)] = -1;
  }

  // Whether the pool's blocks and this one have room there. A subset of blocks that have room has room too.
  bool fits(int block, int pool) {
    const PoolBlock& b = blocks_[at(block)];
    if (b.may[at(pool)] == 0 || b.block.bytes > limits_[at(pool)]) return false;
    std::vector<char>& set = sets_[at(pool)];
    set[at(block)] = 1;
    const bool result = has_room(set, pool);
    set[at(block)] = 0;
    return result;
  }

  bool has_room(const std::vector<char>& set, int pool) {
    const auto known = known_.find({pool, set});
    if (known != known_.end()) return known->second;
    const PartOfBlocks part = part_of(blocks_, close_, set);
    const auto n = static_cast<std::int64_t>(part.blocks.size());
    work_ += n * n * 16;
    bool proved = false;
    bool result = pack_within(part.blocks, part.close, limits_[at(pool)], false, &proved).has_value();
    if (!result && !proved && thorough_ < kMostThorough) {
      result = pack_within(part.blocks, part.close, limits_[at(pool)], true, &proved).has_value();
      if (!result && !proved) thorough_++;  // it took long
    }
    if (!result && !proved) all_proved_ = false;
    known_.emplace(std::pair(pool, set), result);
    return result;
  }

  // Blocks with most traffic first; with most for their size; in the order of calls; the largest first.
  std::vector<std::vector<int>> orders() const {
    const auto by = [&](auto key) {
      std::vector<int> order(blocks_.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](int i) { return key(blocks_[at(i)]); });
      return order;
    };
    return {by([](const PoolBlock& b) { return std::pair(-b.traffic, b.block.bytes); }), by([](const PoolBlock& b) {
              return -static_cast<double>(b.traffic) / static_cast<double>(std::max<std::int64_t>(b.block.bytes, 1));
            }),
            by([](const PoolBlock& b) { return b.block.first; }), by([](const PoolBlock& b) { return -b.block.bytes; })};
  }

  void greedy(const std::vector<int>& order) {
    reset();
    for (int b : order) {
      int p = 0;
      while (p < static_cast<int>(pools()) && !fits(b, p)) p++;
      if (p == static_cast<int>(pools())) return;
      put(b, p);
    }
    keep_if_better();
  }

  Value value_of(const std::vector<int>& pool) const {
    Value value(pools());
    for (std::size_t b = 0; b < pool.size(); b++) value[at(pool[b])] += blocks_[b].traffic;
    return value;
  }

  void keep_if_better() {
    if (!best_ || value_of(pool_) > value_of(*best_)) best_ = pool_;
  }

  // Moves a block to a faster pool, if need be in exchange for another one.
  void improve() {
    reset();
    const std::vector<int> from = *best_;
    for (std::size_t b = 0; b < from.size(); b++) put(static_cast<int>(b), from[b]);
    const std::vector<int> order = orders().front();
    for (bool changed = true; changed && work_ < kMostWork;) {
      changed = false;
      for (int b : order)
        for (int p = 0; p < pool_[at(b)] && work_ < kMostWork; p++) changed = move_up(b, p) || changed;
    }
    keep_if_better();
  }

  bool move_up(int block, int pool) {
    if (blocks_[at(block)].may[at(pool)] == 0 || blocks_[at(block)].block.bytes > limits_[at(pool)]) return false;
    const int from = pool_[at(block)];
    take(block);
    if (fits(block, pool)) {
      put(block, pool);
      return true;
    }
    for (int other = 0; other < static_cast<int>(blocks_.size()) && work_ < kMostWork; other++) {
      const bool is_worth = pool_[at(other)] == pool && blocks_[at(other)].traffic < blocks_[at(block)].traffic;
      if (!is_worth || !meet(block, other)) continue;
      take(other);
      if (fits(block, pool)) {
        put(block, pool);
        for (int p = pool + 1; p < static_cast<int>(pools()); p++) {
          if (!fits(other, p)) continue;
          put(other, p);
          return true;
        }
        take(block);
      }
      put(other, pool);
    }
    put(block, from);
    return false;
  }

  bool meet(int a, int b) const {
    const Block &x = blocks_[at(a)].block, &y = blocks_[at(b)].block;
    return x.first <= y.last && y.first <= x.last;
  }

  void branch(std::size_t k) {
    if (++nodes_ > kMostNodes || work_ > kMostWork) is_complete_ = false;
    if (!is_complete_) return;
    if (k == order_.size()) return keep_if_better();
    if (best_ && most_from(k) <= value_of(*best_)) return;
    const int block = order_[k];
    for (int p = 0; p < static_cast<int>(pools()); p++) {
      if (!fits(block, p)) continue;
      put(block, p);
      value_[at(p)] += blocks_[at(block)].traffic;
      branch(k + 1);
      value_[at(p)] -= blocks_[at(block)].traffic;
      take(block);
    }
    if (!all_proved_) is_complete_ = false;
  }

  // What is not decided yet would all lie in the first pool where it has room beside what is decided: no choice is better.
  Value most_from(std::size_t k) {
    Value value = value_;
    for (; k < order_.size(); k++) {
      int p = 0;
      while (p + 1 < static_cast<int>(pools()) && !may_fit(order_[k], p)) p++;
      value[at(p)] += blocks_[at(order_[k])].traffic;
    }
    return value;
  }

  // As fits, by the bytes that live together alone.
  bool may_fit(int block, int pool) {
    const PoolBlock& b = blocks_[at(block)];
    if (b.may[at(pool)] == 0 || b.block.bytes > limits_[at(pool)]) return false;
    if (!close_.empty()) return true;
    work_ += static_cast<std::int64_t>(blocks_.size());
    for (int t = b.block.first; t <= b.block.last; t++) {
      std::int64_t live = b.block.bytes;
      for (std::size_t o = 0; o < blocks_.size(); o++)
        if (sets_[at(pool)][o] != 0 && blocks_[o].block.first <= t && t <= blocks_[o].block.last) live += blocks_[o].block.bytes;
      if (live > limits_[at(pool)]) return false;
    }
    return true;
  }

  const std::vector<PoolBlock>& blocks_;
  const std::vector<Closeness>& close_;
  const std::vector<std::int64_t>& limits_;
  std::vector<std::vector<char>> sets_;   // by pool: which blocks are in it
  std::vector<int> pool_, order_;         // pool of each block, -1: in none yet; the order in which blocks are decided
  std::optional<std::vector<int>> best_;  // pools of the best choice so far
  Value value_;
  std::map<std::pair<int, std::vector<char>>, bool> known_;
  std::int64_t work_ = 0;
  int nodes_ = 0, thorough_ = 0;
  bool all_proved_ = true;  // that what was found to have no room has none
  bool is_complete_ = true;
};

}  // namespace

PartOfBlocks part_of(const std::vector<PoolBlock>& blocks, const std::vector<Closeness>& close, const std::vector<char>& chosen) {
  PartOfBlocks part;
  std::vector<int> number(blocks.size(), -1);
  for (std::size_t b = 0; b < blocks.size(); b++) {
    if (chosen[b] == 0) continue;
    number[b] = static_cast<int>(part.blocks.size());
    part.blocks.push_back(blocks[b].block);
    part.numbers.push_back(static_cast<int>(b));
  }
  for (const Closeness& c : close)
    if (number[at(c.a)] >= 0 && number[at(c.b)] >= 0) part.close.push_back({number[at(c.a)], number[at(c.b)], c.a_below_b, c.b_below_a});
  return part;
}

namespace {

// Of many blocks: each in turn, those with most traffic first, or the largest first, gets the first place where it has room and stays
// there.
class Many {
 public:
  Many(const std::vector<PoolBlock>& blocks, const std::vector<std::int64_t>& limits) : blocks_(blocks), limits_(limits) {
    int steps = 0;
    for (const PoolBlock& b : blocks) steps = std::max(steps, b.block.last + 1);
    begins_.resize(at(steps));
    for (std::size_t b = 0; b < blocks.size(); b++) begins_[at(blocks[b].block.first)].push_back(static_cast<int>(b));
  }

  std::optional<PoolChoice> best() {
    std::optional<PoolChoice> found = placed([](const PoolBlock& b) { return std::pair(-b.traffic, b.block.bytes); });
    return found ? found : placed([](const PoolBlock& b) { return std::pair(-b.block.bytes, -b.traffic); });
  }

 private:
  template <class Key>
  std::optional<PoolChoice> placed(Key key) {
    std::vector<int> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) { return key(blocks_[at(i)]); });
    PoolChoice choice{std::vector<int>(blocks_.size(), -1), false, std::vector<std::int64_t>(blocks_.size(), -1)};
    for (int i : order) {
      const std::vector<int> neighbours = living_with(i);
      for (int p = 0; p < static_cast<int>(limits_.size()) && choice.pool[at(i)] < 0; p++) {
        if (blocks_[at(i)].may[at(p)] == 0) continue;
        const std::int64_t offset = first_room(i, p, neighbours, choice);
        if (offset + blocks_[at(i)].block.bytes > limits_[at(p)]) continue;
        choice.pool[at(i)] = p;
        choice.offsets[at(i)] = offset;
      }
      if (choice.pool[at(i)] < 0) return std::nullopt;
    }
    return choice;
  }

  std::vector<int> living_with(int block) const {
    std::vector<int> result;
    const Block& b = blocks_[at(block)].block;
    for (int t = 0; t <= b.last; t++)
      for (int other : begins_[at(t)])
        if (other != block && blocks_[at(other)].block.last >= b.first) result.push_back(other);
    return result;
  }

  std::int64_t first_room(int block, int pool, const std::vector<int>& neighbours, const PoolChoice& choice) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (int n : neighbours)
      if (choice.pool[at(n)] == pool) taken.emplace_back(choice.offsets[at(n)], choice.offsets[at(n)] + blocks_[at(n)].block.bytes);
    std::ranges::sort(taken);
    const Block& b = blocks_[at(block)].block;
    std::int64_t offset = 0;
    for (const auto& [low, high] : taken) {
      if (offset + b.bytes <= low) break;
      offset = std::max(offset, (high + b.align - 1) / b.align * b.align);
    }
    return offset;
  }

  const std::vector<PoolBlock>& blocks_;
  const std::vector<std::int64_t>& limits_;
  std::vector<std::vector<int>> begins_;  // by step: the blocks whose lifetime begins there
};

}  // namespace

std::optional<PoolChoice> choose_pools(const std::vector<PoolBlock>& blocks, const std::vector<Closeness>& close,
                                       const std::vector<std::int64_t>& limits, bool* proved) {
  check(!limits.empty(), "there is a pool");
  for (const PoolBlock& b : blocks) check(b.may.size() == limits.size(), "every block says where it may lie");
  constexpr std::size_t kMostSearched = 300;
  if (blocks.size() > kMostSearched) {
    if (proved != nullptr) *proved = false;
    return Many(blocks, limits).best();
  }
  PoolSearch search(blocks, close, limits);
  std::optional<PoolChoice> choice = search.best();
  if (proved != nullptr) *proved = search.is_complete();
  return choice;
}

}  // namespace etch
