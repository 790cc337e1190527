// For tests of gradients: derivatives by differences, and what they are taken of.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "ir/array.h"
#include "lazy/tensor.h"

namespace etch::test {

/// The derivative at 0 of a function of a double, by differences of fourth order: in double the error is that of rounding, some 1e-12.
template <class F>
double derivative(const F& f) {
  constexpr double kStep = 2e-4;
  return (8 * (f(kStep) - f(-kStep)) - (f(2 * kStep) - f(-2 * kStep))) / (12 * kStep);
}

/// For each element of `at` the derivative of a number that depends on an array of these shape and values.
template <class F>
std::vector<double> derivatives(const Array& at, const F& f) {
  std::vector<double> values = at.doubles(), result;
  for (double& value : values) {
    const double before = value;
    result.push_back(derivative([&](double step) {
      value = before + step;
      return f(Array::of_doubles(at.dtype(), at.shape(), values));
    }));
    value = before;
  }
  return result;
}

/// Doubles of (low, high) that are no two the same, in no order.
inline Array spread_values(const std::vector<std::int64_t>& shape, double low, double high, int salt) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; i++)
    values.push_back(low + (high - low) * std::fmod(0.5 + static_cast<double>(i + 1) * std::numbers::phi + 0.37 * salt, 1.0));
  return Array::of_doubles(DType::Float64, shape, values);
}

/// One number of a result: the sum of its elements with weights of their own.
inline Tensor weighted(const Tensor& y) {
  const Tensor n = Tensor::arange(y.graph(), y.size(), DType::Float64);
  return (y.reshape({y.size()}) * ((n * 0.7).sin() + 0.3)).sum();
}

}  // namespace etch::test
