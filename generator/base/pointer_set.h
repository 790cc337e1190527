// A set of addresses in one block of memory: walks of large graphs note what they have seen without an allocation for each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace etch {

/// For look-up only: it can't be iterated.
template <class T>
class PointerSet {
 public:
  /// Adds `p`, which is not nullptr. False if it was there already.
  bool insert(const T* p) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    const T*& slot = slots_[slot_of(p)];
    if (slot == p) return false;
    slot = p;
    size_++;
    return true;
  }
  bool contains(const T* p) const { return !slots_.empty() && slots_[slot_of(p)] == p; }
  std::size_t size() const { return size_; }

 private:
  // The slot that holds `p`, or the free one where it belongs.
  std::size_t slot_of(const T* p) const {
    std::uint64_t h = reinterpret_cast<std::uintptr_t>(p) * std::uint64_t{0x9E3779B97F4A7C15};
    h ^= h >> 32;
    auto i = static_cast<std::size_t>(h) & (slots_.size() - 1);
    while (slots_[i] != nullptr && slots_[i] != p) i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  void grow() {
    std::vector<const T*> before(slots_.empty() ? 16 : 2 * slots_.size(), nullptr);
    before.swap(slots_);
    for (const T* p : before)
      if (p != nullptr) slots_[slot_of(p)] = p;
  }

  std::vector<const T*> slots_;  // their number is a power of two; at least half of them are nullptr, which is free
  std::size_t size_ = 0;
};

}  // namespace etch
