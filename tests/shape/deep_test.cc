// Expressions of many levels: no function may recurse over them.
#include <gtest/gtest.h>

#include <string>

#include "shape/open_sizes.h"
#include "shape/symbolic.h"
#include "support/small_stack.h"

namespace etch {
namespace {

constexpr int kLevels = 3000;

/// Each level needs a node of its own: ((a*3+1)%7*3+1)%7...
Sint deep(Sint x) {
  for (int i = 0; i < kLevels; i++) x = floormod(x * 3 + 1, i % 2 == 0 ? 7 : 11);
  return x;
}

std::int64_t value_of_deep(std::int64_t x) {
  for (int i = 0; i < kLevels; i++) x = (x * 3 + 1) % (i % 2 == 0 ? 7 : 11);
  return x;
}

void read_and_rebuild() {
  Symbols s;
  const Sint a = s.variable("a", 0, 100), b = s.variable("b", 0, 100), x = deep(a);
  EXPECT_EQ(evaluate(x, {{"a", 5}}), value_of_deep(5));
  EXPECT_EQ(variables(x).size(), 1u);
  EXPECT_GE(operation_count(x), kLevels);
  EXPECT_GT(to_text(x).size(), 2u * kLevels);
  EXPECT_EQ(substitute(x, {{"a", b}}), deep(b));
  EXPECT_EQ(substitute(x, {{"a", Sint(5)}}), Sint(value_of_deep(5)));
}

void compare_and_prove() {
  Symbols s;
  const Sint a = s.variable("a", 0, 100), b = s.variable("b", 0, 100), x = deep(a), y = deep(b);
  EXPECT_EQ(x.min(), 0);
  EXPECT_EQ(x.max(), 10);
  EXPECT_TRUE(proves_nonnegative(x));
  EXPECT_TRUE(proves_less(x, 11));
  EXPECT_TRUE(proves_nonnegative(x + y, ge(x, y)));
  EXPECT_FALSE(proves_nonnegative(x - y, ge(a, b)));
  EXPECT_TRUE(proves_nonnegative(x - y, ge(x, y)));
  EXPECT_EQ(simplify_under(x, lt(a, 50)), x);
  EXPECT_EQ(bounds_under(x * 2, ge(y, 1)), (std::pair<std::int64_t, std::int64_t>(0, 20)));
  EXPECT_NE(ands({lt(x, 5), lt(y, 5), lt(a, 9)}), Sint(0));
  EXPECT_EQ(floordiv(x * 8, 4), x * 2);
  EXPECT_EQ(floormod(x * 8 + y, 8), floormod(y, 8));
  EXPECT_EQ(least_value(x - 20), std::nullopt);
}

TEST(DeepExpressions, AreReadAndRebuilt) { test::with_small_stack(read_and_rebuild); }

TEST(DeepExpressions, AreComparedAndProved) { test::with_small_stack(compare_and_prove); }

}  // namespace
}  // namespace etch
