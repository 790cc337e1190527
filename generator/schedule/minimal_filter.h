// Internal to schedule/: minimal filtering algorithms F(m, r), which give m neighbouring sums of r products by m + r - 1 products.
//   result * ((weights * w) . (image * x))     of w[r] and x[m + r - 1], where . multiplies element by element
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace etch {

using Matrix = std::vector<std::vector<double>>;  // rows

struct MinimalFilter {
  static constexpr int kMostPoints = 8;
  int rows = 0, taps = 0, points = 0;  // m, r, m + r - 1
  Matrix image{};                      // points x points
  Matrix weights{};                    // points x taps
  Matrix result{};                     // rows x points
};

/// F(rows, taps) by the points 0, 1, -1, 2, -2, 1/2, -1/2 (as many as it takes) and infinity; from 3 to kMostPoints in all. All numbers but
/// those of `weights` are exact in float. Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
MinimalFilter minimal_filter(int rows, int taps);

/// The sum of factors[i] * values[i], without those that are 0, by `nodes.add`, `nodes.sub` and `nodes.times`. nullopt: all are 0.
template <class Value, class Nodes>
std::optional<Value> combined(Nodes& nodes, const std::vector<double>& factors, const std::vector<Value>& values) {
  double common = 0;  // what all have in common
  bool is_common = true;
  std::size_t first = values.size();  // the term that the others are added to: one with factor 1 if there is one, else a positive one
  for (std::size_t i = factors.size(); i-- > 0;) {
    if (factors[i] == 0) continue;
    is_common = is_common && (common == 0 || std::fabs(factors[i]) == common);
    common = std::fabs(factors[i]);
    if (first == values.size() || (factors[first] != 1 && factors[i] > 0 && (factors[first] < 0 || factors[i] == 1))) first = i;
  }
  if (first == values.size()) return std::nullopt;
  if (!is_common) common = 1;
  const auto scaled = [&](std::size_t i, double factor) { return factor == 1 ? values[i] : nodes.times(values[i], factor); };
  const double sign = factors[first] < 0 && is_common ? -1 : 1;  // of all, so that the first one is itself
  Value sum = scaled(first, sign * factors[first] / common);
  for (std::size_t i = factors.size(); i-- > 0;) {
    if (factors[i] == 0 || i == first) continue;
    const double factor = sign * factors[i] / common;
    sum = factor > 0 ? nodes.add(sum, scaled(i, factor)) : nodes.sub(sum, scaled(i, -factor));
  }
  return sign * common == 1 ? sum : nodes.times(sum, sign * common);
}

/// image * x. Rows of points p and -p are the sum and the difference of what they have in common.
template <class Value, class Nodes>
std::vector<Value> combined_image(Nodes& nodes, const MinimalFilter& f, const std::vector<Value>& x) {
  std::vector<Value> points{*combined(nodes, f.image[0], x)};
  std::size_t i = 1;
  for (; i + 2 < f.image.size(); i += 2) {
    std::vector<double> sum, difference;
    for (std::size_t k = 0; k < f.image.size(); k++) {
      sum.push_back((f.image[i][k] + f.image[i + 1][k]) / 2);
      difference.push_back((f.image[i][k] - f.image[i + 1][k]) / 2);
    }
    const Value a = *combined(nodes, sum, x), b = *combined(nodes, difference, x);
    points.push_back(nodes.add(a, b));
    points.push_back(nodes.sub(a, b));
  }
  for (; i < f.image.size(); i++) points.push_back(*combined(nodes, f.image[i], x));
  return points;
}

/// result * m, with the sums and differences of points p and -p.
template <class Value, class Nodes>
std::vector<Value> combined_result(Nodes& nodes, const MinimalFilter& f, const std::vector<Value>& m) {
  std::vector<Value> parts{m[0]};  // m[0], m[1] + m[2], m[1] - m[2], m[3] + m[4], ...
  for (std::size_t i = 1; i + 2 < m.size(); i += 2) {
    parts.push_back(nodes.add(m[i], m[i + 1]));
    parts.push_back(nodes.sub(m[i], m[i + 1]));
  }
  for (std::size_t i = parts.size(); i < m.size(); i++) parts.push_back(m[i]);
  std::vector<Value> rows;
  for (const std::vector<double>& row : f.result) {
    std::vector<double> factors = row;
    for (std::size_t i = 1; i + 2 < m.size(); i += 2) {
      const bool is_sum = row[i] == row[i + 1];
      factors[i] = is_sum ? row[i] : 0;
      factors[i + 1] = is_sum ? 0 : row[i];
    }
    rows.push_back(*combined(nodes, factors, parts));
  }
  return rows;
}

}  // namespace etch
