// For tests of codegen/math.h: arguments that show most about a function.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace etch::test {

/// Where some function changes its way or its result's kind.
inline constexpr float kMathPlaces[] = {0.0f,      0x1p-126f,  0x1p-149f,  0.6f,          0.95f,          1.0f,  0.6931472f, 0.3465736f,
                                        88.72284f, 1.5707964f, 3.1415927f, 0x1.f9cbe2p7f, 0x1.f37354p95f, 89.0f, 4.0f,       104.0f,
                                        103.97f,   103.2789f,  87.33654f,  17.32868f,     26.0f,          30.0f, 10.0f,      INFINITY};

/// `steps` float32 numbers below each place and as many from it on, of both signs. Below 0 and above infinity they are NaN.
inline std::vector<float> around_math_places(std::uint32_t steps) {
  std::vector<float> made;
  for (const float place : kMathPlaces)
    for (const std::uint32_t sign : {0u, 0x80000000u})
      for (std::uint32_t step = 0; step < 2 * steps; step++)
        made.push_back(std::bit_cast<float>((std::bit_cast<std::uint32_t>(place) - steps + step) ^ sign));
  return made;
}

/// Numbers that are special for powers, of both signs: those of C99's F.9.4.4, whole numbers up to where all are, and what is next to a
/// border of the result.
inline std::vector<float> operands_of_powers() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kSizes[] = {0.0f,       INFINITY,   kNan,           0x1p-149f,   0x1.8p-140f, 0x1p-126f,   0x1p-75f,   0x1p-25f,
                              0x1p-24f,   0.1f,       0.25f,          0.5f,        0.9999999f,  0.99999994f, 1.0f,       1.0000001f,
                              1.5f,       2.0f,       2.5f,           3.0f,        4.0f,        10.0f,       23.0f,      127.0f,
                              127.99999f, 128.0f,     149.0f,         150.0f,      151.0f,      4194303.5f,  4194304.5f, 8388607.5f,
                              8388607.0f, 8388608.0f, 8388609.0f,     16777215.0f, 16777216.0f, 16777218.0f, 0x1p31f,    0x1.000002p32f,
                              0x1p64f,    0x1p127f,   0x1.fffffep127f};
  std::vector<float> made;
  for (const float size : kSizes)
    for (const float sign : {1.0f, -1.0f}) made.push_back(sign * size);
  return made;
}

}  // namespace etch::test
