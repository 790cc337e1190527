#include "quant/linear.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace etch {
namespace {

constexpr std::int64_t kReach = 4;          // neighbours of a factor that are tried
constexpr int kMostTieShift = 12;           // binary places of factors that give ties
constexpr double kLimit = 2147483647 - 16;  // of v

/// What is to be met: the real line through the exact values, and where it counts.
struct Line {
  double slope_a = 0, slope_b = 0, plus = 0;  // zero point included
  std::int64_t zero = 0;
};

class Fitter {
 public:
  Fitter(const ByteValues& as, const ByteValues& bs, std::span<const std::int64_t> wanted, std::span<const double> exact)
      : as_(as), bs_(bs), wanted_(wanted), exact_(exact) {
    const auto [low, high] = std::ranges::minmax(wanted);
    low_ = low;
    high_ = high;
  }

  std::optional<LinearFit> fit() const {
    const std::optional<Line> line = find_line();
    if (!line) return std::nullopt;
    const int most = largest_shift(*line);
    if (most < 0) return std::nullopt;
    for (const int shift : {0, most})
      if (const auto found = without_ties(*line, shift)) return found;
    for (int shift = 1; shift <= std::min(most, kMostTieShift); shift++)
      if (const auto found = with_ties(*line, shift)) return found;
    return std::nullopt;
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * 256 + j; }
  bool is_inside(std::size_t k) const { return wanted_[k] > low_ && wanted_[k] < high_; }

  /// From the values that are not at a bound; nullopt if there are none, or they are no integers from the exact ones.
  std::optional<Line> find_line() const {
    Line line;
    line.slope_a = slope(as_, [this](std::size_t i, std::size_t j) { return at(i, j); });
    line.slope_b = slope(bs_, [this](std::size_t i, std::size_t j) { return at(j, i); });
    double sum = 0;
    std::int64_t n = 0;
    for (std::size_t i = 0; i < 256; i++)
      for (std::size_t j = 0; j < 256; j++) {
        const std::size_t k = at(i, j);
        if (!is_inside(k)) continue;
        if (!(std::abs(exact_[k]) < kLimit)) return std::nullopt;  // 0 / 0 is no number
        const auto zero = wanted_[k] - static_cast<std::int64_t>(std::nearbyint(exact_[k]));
        if (n > 0 && zero != line.zero) return std::nullopt;
        line.zero = zero;
        sum += exact_[k] - line.slope_a * static_cast<double>(as_[i]) - line.slope_b * static_cast<double>(bs_[j]);
        n++;
      }
    if (n == 0) return std::nullopt;
    line.plus = sum / static_cast<double>(n) + static_cast<double>(line.zero);
    return line;
  }

  /// Along `values`: between the ends of the longest row of inside values, index(i, j) for i along it.
  template <class Index>
  double slope(const ByteValues& values, Index index) const {
    double best = 0;
    std::int64_t longest = 0;
    for (std::size_t j = 0; j < 256; j++) {
      std::optional<std::size_t> first, last;
      for (std::size_t i = 0; i < 256; i++) {
        if (!is_inside(index(i, j))) continue;
        if (!first || values[i] < values[*first]) first = i;
        if (!last || values[i] > values[*last]) last = i;
      }
      const std::int64_t length = first ? values[*last] - values[*first] : 0;
      if (length <= longest) continue;
      longest = length;
      best = (exact_[index(*last, j)] - exact_[index(*first, j)]) / static_cast<double>(length);
    }
    return best;
  }

  /// The most binary places for which v fits int32; -1: not even none.
  int largest_shift(const Line& line) const {
    const auto [a0, a1] = std::ranges::minmax(as_);
    const auto [b0, b1] = std::ranges::minmax(bs_);
    double reach = 0;
    for (const std::int64_t a : {a0, a1})
      for (const std::int64_t b : {b0, b1})
        reach = std::max({reach, std::abs(line.slope_a * static_cast<double>(a) + line.slope_b * static_cast<double>(b) + line.plus),
                          std::abs(line.slope_a * static_cast<double>(a)), std::abs(line.slope_b * static_cast<double>(b)),
                          std::abs(line.slope_a * static_cast<double>(a) + line.plus)});
    const double places = std::floor(std::log2(kLimit / (reach + 2)));
    return std::isfinite(places) ? std::clamp(static_cast<int>(places), -1, 30) : -1;
  }

  LinearFit at_shift(const Line& line, int shift) const {
    const auto scaled = [shift](double x) { return static_cast<std::int64_t>(std::nearbyint(std::ldexp(x, shift))); };
    return {scaled(line.slope_a), scaled(line.slope_b), scaled(line.plus), shift, LinearFit::Ties::None, low_, high_};
  }

  /// A pair that asks something of `plus`: that it is at least, or below, `edge` - a * (change of times_a) - b * (change of times_b).
  struct Edge {
    std::int64_t edge, a, b;
  };

  std::optional<LinearFit> without_ties(const Line& line, int shift) const {
    LinearFit fit = at_shift(line, shift);
    std::vector<Edge> least, most;
    for (std::size_t i = 0; i < 256; i++)
      for (std::size_t j = 0; j < 256; j++) {
        const std::int64_t q = wanted_[at(i, j)], rest = -as_[i] * fit.times_a - bs_[j] * fit.times_b;
        if (q > low_) least.push_back({(q << shift) + rest, as_[i], bs_[j]});
        if (q < high_) most.push_back({((q + 1) << shift) + rest, as_[i], bs_[j]});
      }
    if (least.empty() || most.empty()) return std::nullopt;
    const std::int64_t lowest = std::ranges::max(least, {}, &Edge::edge).edge, highest = std::ranges::min(most, {}, &Edge::edge).edge;
    constexpr std::int64_t kMargin = 2 * kReach * (256 + 256);  // what is further away never decides
    std::erase_if(least, [&](const Edge& e) { return e.edge < lowest - kMargin; });
    std::erase_if(most, [&](const Edge& e) { return e.edge > highest + kMargin; });
    std::int64_t widest = 0;
    LinearFit best;
    for (std::int64_t da = -kReach; da <= kReach; da++)
      for (std::int64_t db = -kReach; db <= kReach; db++) {
        const auto moved = [&](const Edge& e) { return e.edge - da * e.a - db * e.b; };
        const std::int64_t from = moved(std::ranges::max(least, {}, moved)), to = moved(std::ranges::min(most, {}, moved));
        if (to - from <= widest) continue;
        widest = to - from;
        best = fit;
        best.times_a += da;
        best.times_b += db;
        best.plus = from + (widest - 1) / 2;
      }
    return widest > 0 && is_right(best) ? std::optional(best) : std::nullopt;
  }

  std::optional<LinearFit> with_ties(const Line& line, int shift) const {
    LinearFit fit = at_shift(line, shift);
    fit.ties = line.zero % 2 == 0 ? LinearFit::Ties::Even : LinearFit::Ties::Odd;
    return is_right(fit) ? std::optional(fit) : std::nullopt;
  }

  bool is_right(const LinearFit& fit) const {
    const auto fits = [](std::int64_t v) { return std::abs(static_cast<double>(v)) <= kLimit; };
    const std::int64_t half = fit.shift == 0 ? 0 : std::int64_t{1} << (fit.shift - 1);
    for (std::size_t i = 0; i < 256; i++)
      for (std::size_t j = 0; j < 256; j++) {
        const std::int64_t a = as_[i] * fit.times_a, b = bs_[j] * fit.times_b, v = a + fit.plus + b, odd = (v >> fit.shift) & 1;
        const std::int64_t round = fit.ties == LinearFit::Ties::None ? 0 : fit.ties == LinearFit::Ties::Even ? half - 1 + odd : half - odd;
        if (!fits(a) || !fits(b) || !fits(a + fit.plus) || !fits(v + half)) return false;
        if (std::clamp((v + round) >> fit.shift, low_, high_) != wanted_[at(i, j)]) return false;
      }
    return true;
  }

  const ByteValues &as_, &bs_;
  std::span<const std::int64_t> wanted_;
  std::span<const double> exact_;
  std::int64_t low_ = 0, high_ = 0;
};

}  // namespace

std::optional<LinearFit> fit_linear(const ByteValues& as, const ByteValues& bs, std::span<const std::int64_t> wanted,
                                    std::span<const double> exact) {
  return Fitter(as, bs, wanted, exact).fit();
}

}  // namespace etch
