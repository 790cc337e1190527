// Internal to quant/: functions of one quantised value of 16 bits as polynomials of integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace etch {

/// A function of x = 0 to 65535 as up to 256 polynomials, in int32 without overflow but for products that are said to be wide:
///   t = min(max(x, first), last) - first,  u = t mod 2^width,  piece = t / 2^width + (the number of breaks at or below t)
///   y = c[0][piece] + (((c[1][piece] + ...) * u) >> width);  result = min(max(y >> places, low), high)
struct Pieces {
  std::int64_t first = 0, last = 0;                     // outside of them the result is that at the end
  int width = 0;                                        // 2^width values of x have a piece, or two where there is a break
  std::vector<std::int64_t> breaks;                     // ascending; where the function is not smooth
  std::vector<std::vector<std::int64_t>> coefficients;  // of each degree those of all pieces
  bool is_wide = false;                                 // products have 64 bits
  int places = 0;
  std::int64_t low = 0, high = 0;
};

/// Results whose exact value is nearer than this to a half may be rounded either way: about what float32 leaves open in 16 bits.
inline constexpr double kPieceError = 1.0 / 128;

/// min(max(rint(exact[x]), low), high) for each of 65 536 x but for those next to a half, of which the result may be either neighbour; it
/// is tried for each x. nullopt: that takes more than 256 pieces or a few breaks, as where a slope has no bound.
std::optional<Pieces> fit_pieces(std::span<const double> exact, std::int64_t low, std::int64_t high);

/// What the integers compute.
std::int64_t result_of(const Pieces& pieces, std::int64_t x);

}  // namespace etch
