// Packing: places blocks with a size and a lifetime into one range of addresses, so that blocks that live at the same time do not
// overlap, or overlap as far as they may. The order in which a first-fit places the blocks decides how good the result is, so several
// orders are tried, then improved by a seeded local search, then by branch and bound. A result of the size of the lower bound ends the
// search; a branch and bound that comes to its end proves that there is no smaller one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace etch {

struct Block {
  std::int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both inclusive
  std::int64_t align = 1;   // of its offset
};

/// Two blocks that live together at one step only and may overlap there. Each of the distances is at least 0 and at most what keeps the
/// blocks apart.
struct Closeness {
  int a = 0, b = 0;                           // blocks
  std::int64_t a_below_b = 0, b_below_a = 0;  // bytes from the begin of the lower one to that of the higher one, at least
};

struct Packing {
  std::vector<std::int64_t> offsets;  // in the order of the blocks
  std::int64_t bytes = 0;             // end of the block that ends last
  bool is_smallest = false;           // proved
};

/// For each step up to the last one of any block, the sum of the bytes of the blocks that live then.
std::vector<std::int64_t> live_bytes(const std::vector<Block>& blocks);

/// Largest sum of the bytes of the blocks that live at one step, where what two of them may share counts once; no packing is smaller.
std::int64_t lower_bound_bytes(const std::vector<Block>& blocks, const std::vector<Closeness>& close = {});

/// For each step the bytes by which that sum is less than the one of live_bytes.
std::vector<std::int64_t> shared_bytes(const std::vector<Block>& blocks, const std::vector<Closeness>& close);

/// The best packing found. The same blocks give the same packing on every machine.
Packing pack(const std::vector<Block>& blocks, const std::vector<Closeness>& close = {});

/// A packing of at most that many bytes; nullopt if none was found. `thorough`: search as pack() does, else try a few orders. What is
/// proved to be impossible sets *proved.
std::optional<Packing> pack_within(const std::vector<Block>& blocks, const std::vector<Closeness>& close, std::int64_t bytes, bool thorough,
                                   bool* proved = nullptr);

/// Places the blocks in the order given, each at the lowest address where it fits.
Packing first_fit(const std::vector<Block>& blocks, const std::vector<int>& order);

}  // namespace etch
