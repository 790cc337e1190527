// Polynomials of integers for functions of 16 bits, each tried at all 65 536 values against the function in float64.
#include "quant/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace etch {
namespace {

struct PieceCase {
  const char* name;
  double (*of)(double);  // of -1 to 1; the result is from -32768 to 32767
  std::size_t degree, breaks;
  bool is_wide = false;
};

double scaled(double v) { return 32767.5 * v - 0.5; }

const PieceCase kPieceCases[] = {
    {"a number", [](double) { return 12.25; }, 0, 0},
    {"a step", [](double x) { return x < 0.3 ? -7.0 : 11.0; }, 0, 0},
    {"a line", [](double x) { return scaled(x); }, 1, 0},
    {"a line between bounds", [](double x) { return scaled(std::clamp(3 * x, -0.5, 0.5)); }, 1, 2},
    {"a corner", [](double x) { return scaled(std::abs(x - 0.123)); }, 1, 1},
    {"a parabola", [](double x) { return scaled(x * x); }, 2, 0},
    {"a sharp peak", [](double x) { return scaled(1 / (1 + 9.8 * std::abs(x))); }, 4, 1, true},
    {"a wave", [](double x) { return scaled(std::sin(9 * x)); }, 3, 0},
    {"beyond the type", [](double x) { return scaled(1.7 * x * x * x); }, 2, 0},
};

// As the header says it. Each number on the way is one of int32, but for products that are said to be wide.
std::int64_t by_formula(const Pieces& pieces, std::int64_t x) {
  const auto is_int32 = [](std::int64_t v) { return v >= -2147483648 && v <= 2147483647; };
  const std::int64_t t = std::min(std::max(x, pieces.first), pieces.last) - pieces.first, size = std::int64_t{1} << pieces.width;
  const auto piece = static_cast<std::size_t>(t / size + std::ranges::count_if(pieces.breaks, [&](std::int64_t at) { return at <= t; }));
  std::int64_t y = 0;
  for (auto row = pieces.coefficients.rbegin(); row != pieces.coefficients.rend(); row++) {
    const std::int64_t product = y * (t % size);
    if (!pieces.is_wide && !is_int32(product)) return 1'000'000;
    y = row->at(piece) + (product >> pieces.width);
    if (!is_int32(y)) return 1'000'000;
  }
  return std::clamp(y >> pieces.places, pieces.low, pieces.high);
}

std::vector<double> values_of(double (*of)(double)) {
  std::vector<double> values;
  for (int x = 0; x < 65536; x++) values.push_back(of((x - 32768) / 32768.0));
  return values;
}

TEST(Pieces, GiveTheRoundedFunction) {
  for (const PieceCase& c : kPieceCases) {
    SCOPED_TRACE(c.name);
    const std::vector<double> exact = values_of(c.of);
    const auto pieces = fit_pieces(exact, -32768, 32767);
    ASSERT_TRUE(pieces);
    EXPECT_LE(pieces->coefficients.size(), c.degree + 1);
    EXPECT_EQ(pieces->breaks.size(), c.breaks);
    for (const auto& row : pieces->coefficients) EXPECT_LE(row.size(), 256u);
    int wrong = 0;
    for (std::int64_t x = 0; x < 65536; x++) {
      const double real = exact[static_cast<std::size_t>(x)], half = std::abs(real - std::floor(real) - 0.5);
      const std::int64_t want = std::clamp<std::int64_t>(std::llrint(std::nearbyint(real)), -32768, 32767);
      wrong += std::abs(by_formula(*pieces, x) - want) > (half < kPieceError ? 1 : 0) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(pieces->is_wide, c.is_wide);
  }
}

TEST(Pieces, ThereAreNoneOfWhatTakesTooMany) {
  double (*const kNone[])(double) = {
      [](double x) { return scaled(std::sqrt(std::abs(x))); },
      [](double x) { return scaled(std::sin(900 * x)); },
      [](double x) { return std::floor(100 * x); },
      [](double x) { return 1 / x; },  // infinite at 0
      [](double x) { return scaled(std::abs(std::sin(20 * x))); },
  };
  for (const auto& of : kNone) EXPECT_FALSE(fit_pieces(values_of(of), -32768, 32767));
}

}  // namespace
}  // namespace etch
