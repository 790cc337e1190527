// Minimal filtering algorithms are sums of products for every weight and every element, by their matrices and as they are written.
#include "schedule/minimal_filter.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

// Counts what it does.
struct Numbers {
  int operations = 0;
  double add(double a, double b) { return operations++, a + b; }
  double sub(double a, double b) { return operations++, a - b; }
  double times(double a, double b) { return operations++, a * b; }
};

std::vector<double> unit(int size, int at) {
  std::vector<double> v(static_cast<std::size_t>(size), 0);
  v[static_cast<std::size_t>(at)] = 1;
  return v;
}

std::vector<double> product(const Matrix& m, const std::vector<double>& v) {
  std::vector<double> result;
  for (const std::vector<double>& row : m) {
    double sum = 0;
    for (std::size_t k = 0; k < v.size(); k++) sum += row[k] * v[k];
    result.push_back(sum);
  }
  return result;
}

std::vector<MinimalFilter> all_filters() {
  std::vector<MinimalFilter> all;
  for (int taps = 2; taps < MinimalFilter::kMostPoints; taps++)
    for (int rows = 2; rows + taps - 1 <= MinimalFilter::kMostPoints; rows++) all.push_back(minimal_filter(rows, taps));
  return all;
}

TEST(MinimalFilter, GivesSumsOfProducts) {
  for (const MinimalFilter& f : all_filters()) {
    EXPECT_EQ(f.points, f.rows + f.taps - 1);
    for (int tap = 0; tap < f.taps; tap++)
      for (int element = 0; element < f.points; element++) {
        const std::vector<double> u = product(f.weights, unit(f.taps, tap)), x = unit(f.points, element);
        Numbers numbers;
        std::vector<double> m = combined_image(numbers, f, x);
        EXPECT_EQ(m, product(f.image, x)) << f.rows << " " << f.taps;
        for (std::size_t i = 0; i < m.size(); i++) m[i] *= u[i];
        const std::vector<double> y = combined_result(numbers, f, m);
        ASSERT_EQ(y.size(), static_cast<std::size_t>(f.rows));
        for (int row = 0; row < f.rows; row++)
          EXPECT_NEAR(y[static_cast<std::size_t>(row)], row + tap == element ? 1 : 0, 1e-12) << f.rows << " " << f.taps;
      }
  }
}

TEST(MinimalFilter, SharesWhatPointsHaveInCommon) {
  const std::vector<int> most{0, 0, 6, 17, 21, 50, 44};  // operations beside products, by rows
  for (int rows = 2; rows <= 6; rows++) {
    const MinimalFilter f = minimal_filter(rows, 3);
    Numbers image;
    combined_image(image, f, std::vector<double>(static_cast<std::size_t>(f.points), 1));
    EXPECT_LE(image.operations, most[static_cast<std::size_t>(rows)]) << rows;
  }
}

// Numbers of the image and of the result are exact in float.
TEST(MinimalFilter, RoundsWeightsAlone) {
  for (const MinimalFilter& f : all_filters()) {
    for (const Matrix* m : {&f.image, &f.result})
      for (const std::vector<double>& row : *m)
        for (const double v : row) EXPECT_EQ(static_cast<double>(static_cast<float>(v)), v);
  }
}

}  // namespace
}  // namespace etch
