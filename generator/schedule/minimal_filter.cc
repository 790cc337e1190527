#include "schedule/minimal_filter.h"

#include <array>

#include "base/error.h"

namespace etch {
namespace {

constexpr std::array<double, MinimalFilter::kMostPoints - 1> kPoints{0, 1, -1, 2, -2, 0.5, -0.5};

/// The product of x - p of all points but number `left_out`: its coefficients, that of x to the power of 0 first.
std::vector<double> product_without(std::size_t count, std::size_t left_out) {
  std::vector<double> product{1};
  for (std::size_t i = 0; i < count; i++) {
    if (i == left_out) continue;
    product.insert(product.begin(), 0);
    for (std::size_t k = 0; k + 1 < product.size(); k++) product[k] -= kPoints[i] * product[k + 1];
  }
  return product;
}

}  // namespace

MinimalFilter minimal_filter(int rows, int taps) {
  MinimalFilter f{.rows = rows, .taps = taps, .points = rows + taps - 1};
  check(rows >= 2 && taps >= 2 && f.points <= MinimalFilter::kMostPoints, "there are points for so many products");
  const auto count = static_cast<std::size_t>(f.points) - 1;  // without infinity
  f.result.assign(static_cast<std::size_t>(rows), std::vector<double>(count + 1, 0));
  for (std::size_t i = 0; i < count; i++) {
    double factor = 1;
    for (std::size_t k = 0; k < count; k++) factor *= k == i ? 1 : kPoints[i] - kPoints[k];
    const double sign = factor < 0 ? -1 : 1;  // of both, which leaves the product
    std::vector<double> image = product_without(count, i);
    image.resize(count + 1, 0);
    for (double& v : image) v = v * sign + 0.0;
    f.image.push_back(std::move(image));
    std::vector<double> weights;
    for (int k = 0; k < taps; k++) weights.push_back(std::pow(kPoints[i], k) / (factor * sign));
    f.weights.push_back(std::move(weights));
    for (int r = 0; r < rows; r++) f.result[static_cast<std::size_t>(r)][i] = std::pow(kPoints[i], r);
  }
  f.image.push_back(product_without(count, count));
  f.weights.emplace_back(static_cast<std::size_t>(taps), 0.0).back() = 1;
  f.result.back().back() = 1;
  return f;
}

}  // namespace etch
