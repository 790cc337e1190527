#include "interp/determinant.h"

#include <Eigen/LU>

#include "base/error.h"

namespace etch {

Array determinants(const Array& matrices) {
  check(matrices.shape().size() >= 2 && matrices.shape().back() == matrices.shape().end()[-2], "matrices are square");
  using Matrix = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  const std::int64_t n = matrices.shape().back();
  const std::vector<double> elements = matrices.doubles();
  std::vector<double> values;
  for (std::size_t at = 0; at < elements.size(); at += static_cast<std::size_t>(n * n))
    values.push_back(Matrix(&elements[at], n, n).determinant());
  return Array::of_doubles(matrices.dtype(), {matrices.shape().begin(), matrices.shape().end() - 2}, values);
}

}  // namespace etch
