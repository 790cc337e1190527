#include "quant/pieces.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace etch {
namespace {

constexpr int kDegree = 4;
constexpr std::int64_t kMostPieces = 256;
constexpr std::size_t kMostBreaks = 4;
constexpr int kMostPlaces = 14, kLeastPlaces = 8;
constexpr double kLargest = 1 << 30;  // of what is computed on the way

using Polynomial = std::array<double, kDegree + 1>;  // of u / 2^width

double value_at(const Polynomial& p, double w) {
  double value = 0;
  for (std::size_t k = p.size(); k-- > 0;) value = value * w + p[k];
  return value;
}

class PieceFitter {
 public:
  PieceFitter(std::span<const double> exact, std::int64_t low, std::int64_t high) : exact_(exact), low_(low), high_(high) {}

  std::optional<Pieces> fit() {
    if (!std::ranges::all_of(exact_, [](double v) { return std::isfinite(v); })) return std::nullopt;
    find_ends();
    while (first_ + (kMostPieces << width_) <= last_) width_++;
    for (const int more : {0, 1}) {  // with more values each, there is room for breaks
      width_ += more;
      for (const bool wide : {false, true})
        if (const auto pieces = fitted(wide)) return pieces;
    }
    return std::nullopt;
  }

 private:
  double exact(std::int64_t x) const { return exact_[static_cast<std::size_t>(x)]; }
  std::int64_t wanted(std::int64_t x) const {
    return std::llrint(std::clamp(std::nearbyint(exact(x)), static_cast<double>(low_), static_cast<double>(high_)));
  }

  /// Whether the result may be either neighbour.
  bool is_doubtful(std::int64_t x) const { return std::abs(exact(x) - std::floor(exact(x)) - 0.5) < kPieceError; }

  /// The values of x outside of which the result stays the same.
  void find_ends() {
    last_ = static_cast<std::int64_t>(exact_.size()) - 1;
    while (first_ < last_ && wanted(first_ + 1) == wanted(0)) first_++;
    while (last_ > first_ && wanted(last_ - 1) == wanted(static_cast<std::int64_t>(exact_.size()) - 1)) last_--;
    // Where their result is not in doubt.
    while (first_ > 0 && is_doubtful(first_)) first_--;
    while (last_ + 1 < static_cast<std::int64_t>(exact_.size()) && is_doubtful(last_)) last_++;
  }

  /// Of least squares over x in [from, to), weighted so that the largest error is small, too; `start` is where u is 0.
  Polynomial least_squares(std::int64_t start, std::int64_t from, std::int64_t to, int degree) const {
    const auto n = static_cast<std::size_t>(degree) + 1;
    std::array<std::array<double, kDegree + 2>, kDegree + 1> m{};
    for (std::int64_t x = from; x < to; x++) {
      const double place = static_cast<double>(2 * (x - from) + 1) / static_cast<double>(to - from) - 1;  // in (-1, 1)
      const double weight = 1 / std::sqrt(1 - place * place);
      std::array<double, kDegree + 1> powers{1};
      for (std::size_t k = 1; k < n; k++) powers[k] = powers[k - 1] * in_piece(x - start);
      for (std::size_t r = 0; r < n; r++) {
        for (std::size_t c = 0; c < n; c++) m[r][c] += weight * powers[r] * powers[c];
        m[r][n] += weight * powers[r] * exact(x);
      }
    }
    // Elimination without pivots: the matrix is symmetric and positive.
    for (std::size_t k = 0; k < n; k++)
      for (std::size_t r = 0; r < n; r++) {
        if (r == k) continue;
        const double factor = m[r][k] / m[k][k];
        for (std::size_t c = k; c <= n; c++) m[r][c] -= factor * m[k][c];
      }
    Polynomial p{};
    for (std::size_t k = 0; k < n; k++) p[k] = m[k][n] / m[k][k];
    return p;
  }

  double in_piece(std::int64_t u) const { return std::ldexp(static_cast<double>(u), -width_); }

  /// The binary places that products leave room for, where the largest coefficient beside the constant is `most`.
  int places_of_products(double most) const { return std::ilogb(kLargest / 4 / most) - (is_wide_ ? 0 : width_); }

  /// Whether its coefficients leave places enough: those of a polynomial through few values on both sides of a break may be huge.
  bool is_small(const Polynomial& p) const {
    double most = 1;
    for (std::size_t k = 1; k < p.size(); k++) most = std::max(most, std::abs(p[k]));
    return std::ranges::all_of(p, [](double c) { return std::isfinite(c); }) && places_of_products(most) >= kLeastPlaces;
  }

  /// Of the least degree that is near enough at all x in [from, to).
  std::optional<Polynomial> polynomial(std::int64_t start, std::int64_t from, std::int64_t to) const {
    const double low = static_cast<double>(low_) - 0.5, high = static_cast<double>(high_) + 0.5;
    for (const double bound : {low, high}) {
      const auto is_beyond = [&](std::int64_t x) { return bound == low ? exact(x) <= low : exact(x) >= high; };
      bool all = true;
      for (std::int64_t x = from; all && x < to; x++) all = is_beyond(x);
      if (all) return Polynomial{bound == low ? static_cast<double>(low_) : static_cast<double>(high_)};
    }
    const auto is_near = [&](const Polynomial& p) {
      for (std::int64_t x = from; x < to; x++)
        if (std::abs(std::clamp(value_at(p, in_piece(x - start)), low, high) - std::clamp(exact(x), low, high)) > kPieceError / 2)
          return false;
      return true;
    };
    // Beside a break, twice as many values as a polynomial goes through anyway.
    const std::int64_t enough = to - from == std::int64_t{1} << width_ ? 1 : 2;
    for (int degree = 0; degree <= kDegree && enough * degree < to - from; degree++)
      if (const Polynomial p = least_squares(start, from, to, degree); is_small(p) && is_near(p)) return p;
    return std::nullopt;
  }

  std::optional<Pieces> fitted(bool is_wide) {
    is_wide_ = is_wide;
    polynomials_.clear();
    breaks_.clear();
    return find_polynomials() ? in_integers() : std::nullopt;
  }

  bool find_polynomials() {
    for (std::int64_t start = first_; start <= last_; start += std::int64_t{1} << width_)
      if (!add_block(start, std::min(start + (std::int64_t{1} << width_), last_ + 1))) return false;
    return static_cast<std::int64_t>(polynomials_.size()) <= kMostPieces;
  }

  bool add_block(std::int64_t start, std::int64_t end) {
    for (std::int64_t from = start; from < end;) {
      std::int64_t to = end;
      std::optional<Polynomial> p = polynomial(start, from, to);
      if (!p) {
        std::int64_t least = from + 1;  // one value always has a polynomial
        while (to - least > 1) {
          const std::int64_t middle = (least + to) / 2;
          (polynomial(start, from, middle) ? least : to) = middle;
        }
        to = least;
        p = polynomial(start, from, to);
        breaks_.push_back(to - first_);
        if (!p || breaks_.size() > kMostBreaks) return false;
      }
      polynomials_.push_back(*p);
      from = to;
    }
    return true;
  }

  std::optional<Pieces> in_integers() const {
    double constant = 1, other = 1;
    std::size_t degree = 0;
    for (const Polynomial& p : polynomials_)
      for (std::size_t k = 0; k < p.size(); k++) {
        (k == 0 ? constant : other) = std::max(k == 0 ? constant : other, std::abs(p[k]));
        if (p[k] != 0) degree = std::max(degree, k);
      }
    Pieces result{first_, last_, width_, breaks_, {}, is_wide_, 0, low_, high_};
    // With room for the sum of the terms.
    result.places = std::min({kMostPlaces, places_of_products(other), std::ilogb(kLargest / 4 / std::max(constant, other))});
    if (result.places < 0) return std::nullopt;
    for (std::size_t k = 0; k <= degree; k++) {
      std::vector<std::int64_t>& row = result.coefficients.emplace_back();
      for (const Polynomial& p : polynomials_) row.push_back(std::llrint(std::ldexp(p[k] + (k == 0 ? 0.5 : 0), result.places)));
    }
    return is_right(result) ? std::optional(result) : std::nullopt;
  }

  bool is_right(const Pieces& pieces) const {
    for (std::int64_t x = 0; x < static_cast<std::int64_t>(exact_.size()); x++) {
      if (std::abs(result_of(pieces, x) - wanted(x)) > (is_doubtful(x) ? 1 : 0)) return false;
    }
    return true;
  }

  std::span<const double> exact_;
  std::int64_t low_, high_;
  std::int64_t first_ = 0, last_ = 0;
  int width_ = 0;
  bool is_wide_ = false;
  std::vector<Polynomial> polynomials_;
  std::vector<std::int64_t> breaks_;
};

}  // namespace

std::int64_t result_of(const Pieces& pieces, std::int64_t x) {
  const std::int64_t t = std::clamp(x, pieces.first, pieces.last) - pieces.first, u = t & ((std::int64_t{1} << pieces.width) - 1);
  std::int64_t piece = t >> pieces.width;
  for (const std::int64_t at : pieces.breaks) piece += t >= at ? 1 : 0;
  std::int64_t y = 0;
  for (std::size_t k = pieces.coefficients.size(); k-- > 0;)
    y = pieces.coefficients[k][static_cast<std::size_t>(piece)] + ((y * u) >> pieces.width);
  return std::clamp(y >> pieces.places, pieces.low, pieces.high);
}

std::optional<Pieces> fit_pieces(std::span<const double> exact, std::int64_t low, std::int64_t high) {
  return PieceFitter(exact, low, high).fit();
}

}  // namespace etch
