#include "device/allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device/device_error.h"

namespace etch {
namespace {

constexpr std::int64_t kAlignment = 64;  // of the widest vectors and of a cache line

}  // namespace

void* Allocator::try_alloc(std::int64_t bytes) {
  if (bytes <= 0)
    throw DeviceError("memory", "a piece of " + std::to_string(bytes) + " bytes was asked for, at least 1 is accepted",
                      "leave out what has no elements");
  void* memory = alloc_own(bytes);
  if (memory != nullptr && counters_) counters_->add_memory(bytes);
  return memory;
}

void* Allocator::alloc(std::int64_t bytes) {
  void* memory = try_alloc(bytes);
  if (memory == nullptr)
    throw DeviceError("memory", "there are no " + std::to_string(bytes) + " bytes for a buffer", "run on a machine with more memory");
  return memory;
}

void Allocator::free(void* memory, std::int64_t bytes) {
  if (counters_) counters_->add_memory(-bytes);
  free_own(memory, bytes);
}

void Allocator::copyin(void* memory, std::span<const std::byte> from) {
  std::byte* to = host_address(memory);
  check(to != nullptr, "an allocator whose memory is not the host's copies by itself");
  std::ranges::copy(from, to);
}

void Allocator::copyout(std::span<std::byte> to, void* memory) {
  const std::byte* from = host_address(memory);
  check(from != nullptr, "an allocator whose memory is not the host's copies by itself");
  std::copy_n(from, to.size(), to.begin());
}

void* HostAllocator::alloc_own(std::int64_t bytes) {
  if (bytes > INT64_MAX - kAlignment) return nullptr;
  const std::int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(static_cast<std::size_t>(kAlignment), static_cast<std::size_t>(rounded));
}

void HostAllocator::free_own(void* memory, std::int64_t) { std::free(memory); }

void* LRUAllocator::take_kept(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto same = by_size_.find(bytes);
  if (same == by_size_.end()) return nullptr;
  const auto piece = same->second.back();
  same->second.pop_back();
  if (same->second.empty()) by_size_.erase(same);
  void* memory = piece->memory;
  kept_.erase(piece);
  kept_bytes_ -= bytes;
  return memory;
}

void* LRUAllocator::alloc_own(std::int64_t bytes) {
  while (void* memory = take_kept(bytes)) {
    if (backing_->has(memory)) return memory;
    backing_->free(memory, bytes);
  }
  if (void* memory = backing_->try_alloc(bytes)) return memory;
  if (kept_bytes() == 0) return nullptr;
  free_cache();
  return backing_->try_alloc(bytes);
}

void LRUAllocator::free_own(void* memory, std::int64_t bytes) {
  Pieces gone;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({memory, bytes});
    by_size_[bytes].push_back(std::prev(kept_.end()));
    kept_bytes_ += bytes;
    while (kept_bytes_ > most_kept_) {
      const std::int64_t size = kept_.front().bytes;
      std::vector<Pieces::iterator>& same = by_size_.at(size);
      same.erase(same.begin());
      if (same.empty()) by_size_.erase(size);
      kept_bytes_ -= size;
      gone.splice(gone.end(), kept_, kept_.begin());
    }
  }
  give_back(gone);
}

void LRUAllocator::give_back(Pieces& pieces) {
  for (const Piece& piece : pieces) backing_->free(piece.memory, piece.bytes);
}

void LRUAllocator::free_cache() {
  Pieces gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(kept_);
    by_size_.clear();
    kept_bytes_ = 0;
  }
  give_back(gone);
}

std::int64_t LRUAllocator::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

}  // namespace etch
