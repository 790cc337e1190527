// Internal to quant/: rounded linear functions of two bytes, in integers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace etch {

/// q(a, b) = clamp((v + half) >> shift, low, high), v = a * times_a + b * times_b + plus in int32, which never wraps around.
struct LinearFit {
  /// What decides between two whole numbers that are equally near; half is 2^(shift - 1).
  enum class Ties : std::uint8_t {
    None,  // there are none: `plus` has the half in it
    Even,  // half - 1, and 1 more if v >> shift is odd
    Odd,   // half, and 1 less if v >> shift is odd: of numbers that have an odd zero point in them
  };
  std::int64_t times_a = 0, times_b = 0, plus = 0;
  int shift = 0;
  Ties ties = Ties::None;
  std::int64_t low = 0, high = 0;
};

/// All values of a byte, in some order.
using ByteValues = std::array<std::int64_t, 256>;

/// A formula that gives `wanted`, for each a of `as` and each b of `bs` (the inner ones): it is tried for every pair. `exact`: the same
/// before it was rounded, less the zero point. nullopt: none was found; that is where floats round the other way than any linear function
/// does.
std::optional<LinearFit> fit_linear(const ByteValues& as, const ByteValues& bs, std::span<const std::int64_t> wanted,
                                    std::span<const double> exact);

}  // namespace etch
