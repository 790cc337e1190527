#include "device/allocator.h"

#include <gtest/gtest.h>

#include <set>

namespace etch {
namespace {

// An allocator of `limit` bytes that counts the bytes in use.
class Counting : public Allocator {
 public:
  explicit Counting(std::int64_t limit) : limit_(limit) {}
  void* allocate(std::int64_t bytes) override {
    calls++;
    if (used + bytes > limit_) return nullptr;
    used += bytes;
    return host_.allocate(bytes);
  }
  void release(void* memory, std::int64_t bytes) override {
    used -= bytes;
    host_.release(memory, bytes);
  }
  std::int64_t used = 0;
  int calls = 0;

 private:
  std::int64_t limit_;
  HostAllocator host_;
};

TEST(HostAllocator, GivesAlignedMemoryOfAnySize) {
  HostAllocator host;
  for (std::int64_t bytes : {0, 1, 63, 64, 65, 1 << 20}) {
    void* memory = host.allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    host.release(memory, bytes);
  }
  EXPECT_EQ(host.allocate(-1), nullptr);
}

TEST(LRUAllocator, HandsOutTheSameSizeAgain) {
  Counting backing(1000);
  LRUAllocator lru(backing);
  void* a = lru.allocate(100);
  void* b = lru.allocate(100);
  EXPECT_NE(a, b);
  lru.release(a, 100);
  EXPECT_EQ(lru.kept_bytes(), 100);
  void* c = lru.allocate(50);  // another size: not what is kept
  EXPECT_NE(c, a);
  EXPECT_EQ(lru.allocate(100), a);
  EXPECT_EQ(lru.kept_bytes(), 0);
  EXPECT_EQ(backing.calls, 3);
  lru.release(a, 100);
  lru.release(b, 100);
  EXPECT_EQ(lru.allocate(100), b);  // the last returned first: it is still in the cache
  lru.release(b, 100);
  lru.release(c, 50);
}

TEST(LRUAllocator, GivesBackWhatItKeepsWhenMemoryEnds) {
  Counting backing(250);
  {
    LRUAllocator lru(backing);
    void* a = lru.allocate(100);
    void* b = lru.allocate(100);
    lru.release(a, 100);
    lru.release(b, 100);
    EXPECT_EQ(backing.used, 200);
    void* c = lru.allocate(240);
    EXPECT_NE(c, nullptr);
    EXPECT_EQ(backing.used, 240);
    EXPECT_EQ(lru.allocate(20), nullptr);
    lru.release(c, 240);
    lru.release(lru.allocate(10), 10);
  }
  EXPECT_EQ(backing.used, 0);
}

TEST(Buffer, GoesBackOnce) {
  Counting backing(100);
  {
    Buffer a(backing, 60);
    Buffer b = std::move(a);
    EXPECT_EQ(b.bytes(), 60);
    EXPECT_THROW(Buffer(backing, 60), std::bad_alloc);
    b = Buffer();
  }
  EXPECT_EQ(backing.used, 0);
}

}  // namespace
}  // namespace etch
