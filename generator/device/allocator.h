// Memory of a device. An LRUAllocator in front of an Allocator keeps the memory that is returned and hands it out again for the same
// size, since the buffers of a program have few sizes and are allocated anew in every run.
//
// What an Allocator hands out is an opaque pointer: an address of this process, or a number that only the device understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "device/counters.h"

namespace etch {

class Allocator {
 public:
  virtual ~Allocator() = default;
  /// `bytes` bytes. Throws DeviceError for 0 bytes or less, and if there is no memory.
  void* alloc(std::int64_t bytes);
  /// The same, but null if there is no memory.
  void* try_alloc(std::int64_t bytes);
  /// Takes back what alloc(bytes) returned.
  void free(void* memory, std::int64_t bytes);
  /// From the host into `memory`, and back; they wait for kernels that were started. Throws DeviceError.
  virtual void copyin(void* memory, std::span<const std::byte> from);
  virtual void copyout(std::span<std::byte> to, void* memory);
  /// Where this process reads and writes that memory itself; null where it can't.
  virtual std::byte* host_address(void* memory) const = 0;
  /// Whether `memory` is still there: that of another process ends with the process.
  virtual bool has(void* memory) const { return memory != nullptr; }
  /// Counts the memory that is in use from now on. Of an allocator and its backing one does.
  void count_in(std::shared_ptr<GlobalCounters> counters) { counters_ = std::move(counters); }

 protected:
  /// Null if there is no memory; `bytes` is 1 or more.
  virtual void* alloc_own(std::int64_t bytes) = 0;
  virtual void free_own(void* memory, std::int64_t bytes) = 0;

 private:
  std::shared_ptr<GlobalCounters> counters_;
};

/// Memory of the host, aligned to 64 bytes.
class HostAllocator : public Allocator {
 public:
  std::byte* host_address(void* memory) const override { return static_cast<std::byte*>(memory); }

 protected:
  void* alloc_own(std::int64_t bytes) override;
  void free_own(void* memory, std::int64_t bytes) override;
};

/// Several threads may use it at the same time if they may use its backing so.
class LRUAllocator : public Allocator {
 public:
  static constexpr std::int64_t kMostKept = std::int64_t{256} << 20;

  /// Takes its memory from `backing`. Keeps at most `most_kept` bytes; beyond that the memory that was returned first goes back.
  explicit LRUAllocator(std::shared_ptr<Allocator> backing, std::int64_t most_kept = kMostKept)
      : backing_(std::move(backing)), most_kept_(most_kept) {}
  ~LRUAllocator() override { free_cache(); }
  LRUAllocator(const LRUAllocator&) = delete;
  LRUAllocator& operator=(const LRUAllocator&) = delete;

  void copyin(void* memory, std::span<const std::byte> from) override { backing_->copyin(memory, from); }
  void copyout(std::span<std::byte> to, void* memory) override { backing_->copyout(to, memory); }
  std::byte* host_address(void* memory) const override { return backing_->host_address(memory); }
  bool has(void* memory) const override { return backing_->has(memory); }
  /// Returns all that is kept to the backing.
  void free_cache();
  std::int64_t kept_bytes() const;

 protected:
  /// Kept memory of exactly that size if there is any, the last returned first, else memory from the backing. If the backing has no
  /// more, everything kept is returned to it before a second try.
  void* alloc_own(std::int64_t bytes) override;
  void free_own(void* memory, std::int64_t bytes) override;

 private:
  struct Piece {
    void* memory = nullptr;
    std::int64_t bytes = 0;
  };
  using Pieces = std::list<Piece>;
  void give_back(Pieces& pieces);
  void* take_kept(std::int64_t bytes);

  std::shared_ptr<Allocator> backing_;
  std::int64_t most_kept_;
  mutable std::mutex mutex_;
  Pieces kept_;                                                    // the first returned first
  std::map<std::int64_t, std::vector<Pieces::iterator>> by_size_;  // the first returned first
  std::int64_t kept_bytes_ = 0;
};

/// One piece of an allocator's memory, which the destructor returns. Movable, not copyable. The allocator outlives it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws DeviceError if there is no memory.
  DeviceMemory(Allocator& allocator, std::int64_t bytes) : allocator_(&allocator), opaque_(allocator.alloc(bytes)), bytes_(bytes) {}
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (opaque_ != nullptr) allocator_->free(opaque_, bytes_);
  }

  void* opaque() const { return opaque_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void swap(DeviceMemory& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(opaque_, other.opaque_);
    std::swap(bytes_, other.bytes_);
  }
  Allocator* allocator_ = nullptr;
  void* opaque_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace etch
