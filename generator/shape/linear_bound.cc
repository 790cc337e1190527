#include "shape/linear_bound.h"

#include <algorithm>
#include <cmath>

#include "shape/int_math.h"

namespace etch {
namespace {

using Entry = LinearProgram::Entry;
using Row = LinearProgram::Row;
__extension__ typedef __int128 Wide;

constexpr int kMaxPivots = 300;
constexpr int kRounds = 4;
constexpr double kTiny = 1e-9;

// Smallest value of the row without its entry `skip`; saturated if unlimited.
std::int64_t least_without(const LinearProgram& p, const Row& row, std::size_t skip) {
  std::int64_t least = 0;
  for (std::size_t k = 0; k < row.entries.size(); k++) {
    if (k == skip) continue;
    const Entry& e = row.entries[k];
    least = saturating_add(least, saturating_mul(e.coef > 0 ? p.low[e.var] : p.high[e.var], e.coef));
    if (is_saturated(least)) return kInt64Min;
  }
  return least;
}

// The dual of "minimise c*x, rows, ranges": maximise -limit*y + low*p - high*s where p - s - A'y = c, all >= 0. It is
// solved by the simplex method on a dense tableau; y = 0 is a feasible start, so every step gives a valid bound.
class Dual {
 public:
  Dual(const LinearProgram& p, const std::vector<Entry>& objective) : n_(p.low.size()), m_(p.rows.size()), width_(m_ + 2 * n_ + 1) {
    table_.assign(n_ * width_, 0.0);
    gain_.assign(width_, 0.0);
    basis_.resize(n_);
    std::vector<double> c(n_, 0.0);
    for (const Entry& e : objective) c[e.var] += static_cast<double>(e.coef);
    for (std::size_t i = 0; i < m_; i++) {
      gain_[i] = -static_cast<double>(p.rows[i].limit);
      for (const Entry& e : p.rows[i].entries) at(e.var, i) -= static_cast<double>(e.coef);
    }
    for (std::size_t j = 0; j < n_; j++) {
      at(j, m_ + j) = 1;
      at(j, m_ + n_ + j) = -1;
      gain_[m_ + j] = static_cast<double>(p.low[j]);
      gain_[m_ + n_ + j] = -static_cast<double>(p.high[j]);
      at(j, width_ - 1) = c[j];
      basis_[j] = c[j] >= 0 ? m_ + j : m_ + n_ + j;
      if (c[j] < 0) {
        for (std::size_t k = 0; k < width_; k++) at(j, k) = -at(j, k);
      }
    }
    for (std::size_t j = 0; j < n_; j++) eliminate_gain(j);
  }

  /// The values of the variables at which the bound is reached, if they are rational.
  std::vector<double> primal(const LinearProgram& p) const {
    std::vector<double> x;
    for (std::size_t j = 0; j < n_; j++) x.push_back(static_cast<double>(p.low[j]) - gain_[m_ + j]);
    return x;
  }

  std::vector<double> solve() {
    for (int n = 0; n < kMaxPivots; n++) {
      std::size_t enter = width_;
      double best = 1e-7;
      for (std::size_t k = 0; k + 1 < width_; k++) {
        if (gain_[k] <= best) continue;
        enter = k;
        if (n > kMaxPivots / 2) break;  // Bland's rule ends cycles
        best = gain_[k];
      }
      if (enter == width_) break;
      std::size_t leave = n_;
      double least = 0;
      for (std::size_t j = 0; j < n_; j++) {
        if (at(j, enter) <= kTiny) continue;
        double ratio = at(j, width_ - 1) / at(j, enter);
        if (leave == n_ || ratio < least - kTiny || (ratio < least + kTiny && basis_[j] < basis_[leave])) leave = j, least = ratio;
      }
      if (leave == n_) return unlimited(enter);
      pivot(leave, enter);
    }
    return multipliers();
  }

 private:
  double& at(std::size_t row, std::size_t column) { return table_[row * width_ + column]; }

  void eliminate_gain(std::size_t row) {
    double factor = gain_[basis_[row]];
    if (factor == 0) return;
    for (std::size_t k = 0; k < width_; k++) gain_[k] -= factor * at(row, k);
  }

  void pivot(std::size_t row, std::size_t column) {
    double by = at(row, column);
    for (std::size_t k = 0; k < width_; k++) at(row, k) /= by;
    for (std::size_t j = 0; j < n_; j++) {
      double factor = at(j, column);
      if (j == row || factor == 0) continue;
      for (std::size_t k = 0; k < width_; k++) at(j, k) -= factor * at(row, k);
    }
    basis_[row] = column;
    eliminate_gain(row);
  }

  std::vector<double> multipliers() {
    std::vector<double> y(m_, 0.0);
    for (std::size_t j = 0; j < n_; j++) {
      if (basis_[j] < m_) y[basis_[j]] = at(j, width_ - 1);
    }
    return y;
  }

  // The rows contradict each other: far along the ray the bound exceeds everything.
  std::vector<double> unlimited(std::size_t enter) {
    constexpr double kFar = 1 << 20;
    std::vector<double> y = multipliers();
    if (enter < m_) y[enter] += kFar;
    for (std::size_t j = 0; j < n_; j++) {
      if (basis_[j] < m_) y[basis_[j]] -= kFar * at(j, enter);
    }
    return y;
  }

  std::size_t n_, m_, width_;
  std::vector<double> table_, gain_;
  std::vector<std::size_t> basis_;
};

// The common denominator of small fractions near the multipliers, 1 if there is none.
std::int64_t denominator_of(const std::vector<double>& y) {
  std::int64_t common = 1;
  for (double v : y) {
    for (std::int64_t d = 1; d <= 4096; d++) {
      double scaled = v * static_cast<double>(d * common);
      if (std::abs(scaled - std::round(scaled)) > 1e-6 * static_cast<double>(d)) continue;
      common *= d;
      break;
    }
    if (common > (std::int64_t{1} << 30)) return 1;
  }
  return common;
}

// The bound that the multipliers prove, in exact arithmetic: the least value of scale*objective + sum y*(row - limit) over the ranges.
std::optional<std::int64_t> proved(const LinearProgram& p, const std::vector<Entry>& objective, const std::vector<double>& y) {
  std::int64_t scale = denominator_of(y);
  std::vector<Wide> total(p.low.size(), 0);
  for (const Entry& e : objective) total[e.var] += Wide{scale} * e.coef;
  Wide bound = 0;
  for (std::size_t i = 0; i < p.rows.size(); i++) {
    double weight = std::round(y[i] * static_cast<double>(scale));
    if (!(weight > 0) || weight > 1e15) continue;
    Wide w = static_cast<std::int64_t>(weight);
    for (const Entry& e : p.rows[i].entries) total[e.var] += w * e.coef;
    bound -= w * p.rows[i].limit;
  }
  constexpr Wide kLimit = Wide{1} << 62;
  for (std::size_t j = 0; j < total.size(); j++) {
    if (total[j] == 0) continue;
    std::int64_t end = total[j] > 0 ? p.low[j] : p.high[j];
    if (is_saturated(end) || total[j] > kLimit || total[j] < -kLimit) return std::nullopt;
    bound += total[j] * end;
  }
  Wide quotient = bound / scale;
  if (quotient * scale < bound) quotient++;  // the objective is an integer
  if (quotient > kLimit || quotient < -kLimit) return std::nullopt;
  return static_cast<std::int64_t>(quotient);
}

}  // namespace

bool propagate(LinearProgram* p) {
  for (int round = 0; round < kRounds; round++) {
    bool changed = false;
    for (const Row& row : p->rows) {
      for (std::size_t k = 0; k < row.entries.size(); k++) {
        const Entry& e = row.entries[k];
        std::int64_t rest = least_without(*p, row, k);
        std::int64_t room;
        if (is_saturated(rest) || __builtin_sub_overflow(row.limit, rest, &room)) continue;
        if (e.coef > 0 && floor_div(room, e.coef) < p->high[e.var]) {
          p->high[e.var] = floor_div(room, e.coef);
          changed = true;
        } else if (e.coef < 0 && ceil_div(room, e.coef) > p->low[e.var]) {
          p->low[e.var] = ceil_div(room, e.coef);
          changed = true;
        }
        if (p->low[e.var] > p->high[e.var]) return false;
      }
    }
    if (!changed) break;
  }
  return true;
}

std::optional<std::int64_t> lower_bound(const LinearProgram& p, const std::vector<Entry>& objective) {
  std::optional<std::int64_t> plain = proved(p, objective, std::vector<double>(p.rows.size(), 0.0));
  if (p.rows.empty()) return plain;
  std::optional<std::int64_t> best = proved(p, objective, Dual(p, objective).solve());
  if (!best || !plain) return best ? best : plain;
  return std::max(*best, *plain);
}

bool proves_at_least(const LinearProgram& p, const std::vector<Entry>& objective, std::int64_t target, int max_cuts) {
  std::vector<LinearProgram> open{p};
  for (int n = 0; !open.empty(); n++) {
    LinearProgram now = std::move(open.back());
    open.pop_back();
    if (!propagate(&now)) continue;
    auto plain = proved(now, objective, std::vector<double>(now.rows.size(), 0.0));
    if (!plain) return false;
    if (*plain >= target) continue;
    Dual dual(now, objective);
    auto bound = proved(now, objective, dual.solve());
    if (bound && *bound >= target) continue;
    if (n >= max_cuts) return false;
    std::vector<double> x = dual.primal(now);
    std::size_t cut = x.size();
    for (std::size_t j = 0; j < x.size(); j++) {
      if (std::abs(x[j] - std::round(x[j])) < 1e-5 || !(x[j] > static_cast<double>(now.low[j])) ||
          !(x[j] < static_cast<double>(now.high[j])))
        continue;
      if (cut == x.size() || now.high[j] - now.low[j] < now.high[cut] - now.low[cut]) cut = j;
    }
    if (cut == x.size()) return false;  // reached by integers
    auto middle = static_cast<std::int64_t>(std::floor(x[cut]));
    open.push_back(now);
    open.back().low[cut] = middle + 1;
    open.push_back(std::move(now));
    open.back().high[cut] = middle;
  }
  return true;
}

}  // namespace etch
