// Compiled as the tool is for users, at -O2, where GCC 12 took (double)(float)x for x in vectors of neighbours: the build's flags keep it
// off.
#include <gtest/gtest.h>

namespace etch {

/// Neighbours, rounded or not, as values of some type are.
void round_both(int is_float, const double* from, double* to);
__attribute__((noinline)) void round_both(int is_float, const double* from, double* to) {
  double low = from[0], high = from[1];
  if (is_float != 0) {
    low = static_cast<double>(static_cast<float>(low));
    high = static_cast<double>(static_cast<float>(high));
  }
  to[0] = low;
  to[1] = high;
}

TEST(Rounding, ToFloatIsNotLeftOut) {
  const volatile float low = 0.1F, high = 0.3F;
  const double from[] = {0.1, 0.3};
  double to[] = {0, 0};
  round_both(1, from, to);
  EXPECT_EQ(to[0], static_cast<double>(low));
  EXPECT_EQ(to[1], static_cast<double>(high));
  round_both(0, from, to);
  EXPECT_EQ(to[0], 0.1);
  EXPECT_EQ(to[1], 0.3);
}

}  // namespace etch
