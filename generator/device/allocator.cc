#include "device/allocator.h"

#include <cstdlib>
#include <new>

namespace etch {
namespace {
constexpr std::int64_t kAlignment = 64;  // of the widest vectors and of a cache line
}

void* HostAllocator::allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - kAlignment) return nullptr;
  const std::int64_t rounded = bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(static_cast<std::size_t>(kAlignment), static_cast<std::size_t>(rounded));
}

void HostAllocator::release(void* memory, std::int64_t) { std::free(memory); }

void* LRUAllocator::allocate(std::int64_t bytes) {
  const auto kept = kept_.find(bytes);
  if (kept != kept_.end()) {
    void* memory = kept->second.back();
    kept->second.pop_back();
    if (kept->second.empty()) kept_.erase(kept);
    kept_bytes_ -= bytes;
    return memory;
  }
  void* memory = backing_->allocate(bytes);
  if (memory != nullptr || kept_.empty()) return memory;
  flush();
  return backing_->allocate(bytes);
}

void LRUAllocator::release(void* memory, std::int64_t bytes) {
  kept_[bytes].push_back(memory);
  kept_bytes_ += bytes;
}

void LRUAllocator::flush() {
  for (auto& [bytes, pieces] : kept_)
    for (void* memory : pieces) backing_->release(memory, bytes);
  kept_.clear();
  kept_bytes_ = 0;
}

Buffer::Buffer(Allocator& allocator, std::int64_t bytes) : allocator_(&allocator), memory_(allocator.allocate(bytes)), bytes_(bytes) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

Buffer::~Buffer() {
  if (memory_ != nullptr) allocator_->release(memory_, bytes_);
}

}  // namespace etch
