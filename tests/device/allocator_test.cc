#include "device/allocator.h"

#include <gtest/gtest.h>

#include <set>

#include "support/device_checks.h"

namespace etch {
namespace {

// An allocator of `limit` bytes that counts the bytes in use.
class Counting : public HostAllocator {
 public:
  explicit Counting(std::int64_t limit) : limit_(limit) {}
  std::int64_t used = 0;
  int calls = 0;

 protected:
  void* alloc_own(std::int64_t bytes) override {
    calls++;
    if (used + bytes > limit_) return nullptr;
    used += bytes;
    return HostAllocator::alloc_own(bytes);
  }
  void free_own(void* memory, std::int64_t bytes) override {
    used -= bytes;
    HostAllocator::free_own(memory, bytes);
  }

 private:
  std::int64_t limit_;
};

TEST(DeviceLayer, HostAllocatorGivesAlignedMemoryOfAnySize) {
  HostAllocator host;
  for (std::int64_t bytes : {1, 63, 64, 65, 1 << 20}) {
    void* memory = host.alloc(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    host.free(memory, bytes);
  }
}

TEST(DeviceLayer, HostAllocatorSaysThatThereIsNoMemory) {
  HostAllocator host;
  test::expect_error(test::error_of([&] { host.alloc(INT64_MAX); }), "memory: there are no 9223372036854775807 bytes for a buffer");
  EXPECT_EQ(host.try_alloc(INT64_MAX), nullptr);
}

TEST(DeviceLayer, LruReusesBySize) {
  const auto backing = std::make_shared<Counting>(1000);
  LRUAllocator lru(backing);
  void* a = lru.alloc(100);
  void* b = lru.alloc(100);
  EXPECT_NE(a, b);
  lru.free(a, 100);
  EXPECT_EQ(lru.kept_bytes(), 100);
  void* c = lru.alloc(50);  // another size: not what is kept
  EXPECT_NE(c, a);
  EXPECT_EQ(lru.alloc(100), a);
  EXPECT_EQ(lru.kept_bytes(), 0);
  EXPECT_EQ(backing->calls, 3);
  lru.free(a, 100);
  lru.free(b, 100);
  EXPECT_EQ(lru.alloc(100), b);  // the last returned first: it is still in the processor's cache
  lru.free(b, 100);
  lru.free(c, 50);
  lru.free_cache();
  EXPECT_EQ(backing->used, 0);
  EXPECT_EQ(lru.kept_bytes(), 0);
}

TEST(DeviceLayer, LruGivesBackWhatItKeepsWhenMemoryEnds) {
  const auto backing = std::make_shared<Counting>(250);
  {
    LRUAllocator lru(backing);
    void* a = lru.alloc(100);
    void* b = lru.alloc(100);
    lru.free(a, 100);
    lru.free(b, 100);
    EXPECT_EQ(backing->used, 200);
    void* c = lru.alloc(240);
    EXPECT_EQ(backing->used, 240);
    EXPECT_EQ(backing->calls, 4);  // it tried once more
    EXPECT_EQ(lru.try_alloc(20), nullptr);
    EXPECT_EQ(backing->calls, 5);  // nothing was kept that could have helped
    lru.free(c, 240);
    lru.free(lru.alloc(10), 10);
  }
  EXPECT_EQ(backing->used, 0);
}

TEST(DeviceLayer, LruKeepsNoMoreThanItMay) {
  const auto backing = std::make_shared<Counting>(1000);
  LRUAllocator lru(backing, 250);
  void *a = lru.alloc(100), *b = lru.alloc(120), *c = lru.alloc(100);
  lru.free(a, 100);
  lru.free(b, 120);
  EXPECT_EQ(lru.kept_bytes(), 220);
  lru.free(c, 100);  // a, which was returned first, goes back
  EXPECT_EQ(lru.kept_bytes(), 220);
  EXPECT_EQ(backing->used, 220);
  EXPECT_EQ(lru.alloc(100), c);
  EXPECT_EQ(lru.alloc(120), b);
  lru.free(b, 120);
  lru.free(c, 100);
}

TEST(DeviceLayer, MemoryGoesBackOnce) {
  Counting backing(100);
  const auto counters = std::make_shared<GlobalCounters>();
  backing.count_in(counters);
  {
    DeviceMemory a(backing, 60);
    DeviceMemory b = std::move(a);
    EXPECT_EQ(b.bytes(), 60);
    EXPECT_EQ(counters->values().mem_used, 60);
    EXPECT_THROW(DeviceMemory(backing, 60), DeviceError);
    b = DeviceMemory();
  }
  EXPECT_EQ(backing.used, 0);
  EXPECT_EQ(counters->values().mem_used, 0);
}

}  // namespace
}  // namespace etch
