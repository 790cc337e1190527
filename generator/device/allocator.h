// Memory of a device. An LRUAllocator in front of an Allocator keeps the memory that is returned and hands it out again for the same
// size, since the buffers of a program have few sizes and are allocated anew in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace etch {

class Allocator {
 public:
  virtual ~Allocator() = default;
  /// `bytes` bytes, or nullptr if there is no memory.
  virtual void* allocate(std::int64_t bytes) = 0;
  /// Takes back what allocate(bytes) returned.
  virtual void release(void* memory, std::int64_t bytes) = 0;
};

/// Memory of the host, aligned to 64 bytes.
class HostAllocator : public Allocator {
 public:
  void* allocate(std::int64_t bytes) override;
  void release(void* memory, std::int64_t bytes) override;
};

class LRUAllocator : public Allocator {
 public:
  /// Takes its memory from `backing`, which outlives it.
  explicit LRUAllocator(Allocator& backing) : backing_(&backing) {}
  ~LRUAllocator() override { flush(); }
  LRUAllocator(const LRUAllocator&) = delete;
  LRUAllocator& operator=(const LRUAllocator&) = delete;

  /// Kept memory of exactly that size if there is any, the last returned first, else memory from the backing. If the backing has no
  /// more, everything kept is returned to it before a second try.
  void* allocate(std::int64_t bytes) override;
  void release(void* memory, std::int64_t bytes) override;
  /// Returns all that is kept to the backing.
  void flush();
  std::int64_t kept_bytes() const { return kept_bytes_; }

 private:
  Allocator* backing_;
  std::map<std::int64_t, std::vector<void*>> kept_;
  std::int64_t kept_bytes_ = 0;
};

/// One piece of an allocator's memory, which the destructor returns. Movable, not copyable.
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc if there is no memory.
  Buffer(Allocator& allocator, std::int64_t bytes);
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  void* memory() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }
  Allocator* allocator_ = nullptr;
  void* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace etch
