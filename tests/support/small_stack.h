// For tests of what may not recurse.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

namespace etch::test {

/// Runs `body` on a stack of 256 KiB: 3000 calls of a function inside of itself do not fit.
inline void with_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  pthread_t thread;
  const auto start = [](void* f) -> void* {
    (*static_cast<std::function<void()>*>(f))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace etch::test
