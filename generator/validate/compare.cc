#include "validate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/near.h"

namespace etch {
namespace {

// Distance between neighbouring values of `dtype` at `value`.
double ulp_at(DType dtype, double value) {
  const auto ulp = [value](int mantissa, int lowest) {
    const int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
    return std::ldexp(1.0, exponent - mantissa);
  };
  if (dtype == DType::Float16) return ulp(10, -14);
  if (dtype == DType::BFloat16) return ulp(7, -126);
  if (dtype == DType::Float64) return ulp(52, -1022);
  return ulp(23, -126);
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string position(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return shape_text(at);
}

double largest_finite(const Array& array) {
  double largest = 0;
  for (std::int64_t i = 0; i < array.size(); i++) {
    const double v = std::fabs(array.double_at(i));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  return largest;
}

// Relative difference of a value that is not small; rounding errors of usual networks are never larger.
constexpr double kBeyondRounding = 0.05;

// Compares one element of a float type; true if it is acceptable.
bool compare_float(double got, double want, double floor, double scale_ulp, const Tolerance& tolerance, DType dtype, Comparison& result) {
  if (is_near(got, want, 0)) return true;
  if (!std::isfinite(want) || !std::isfinite(got)) {
    result.max_abs = result.max_rel = result.max_ulp = std::numeric_limits<double>::infinity();
    result.beyond_rounding = true;
    return false;
  }
  const double difference = std::fabs(got - want);
  const double unit = ulp_at(dtype, want);
  result.max_abs = std::max(result.max_abs, difference);
  if (std::fabs(want) > floor) {
    result.max_rel = std::max(result.max_rel, difference / std::fabs(want));
    result.max_ulp = std::max(result.max_ulp, difference / unit);
  }
  if (is_near(got, want, floor + tolerance.relative * std::fabs(want) + scale_ulp * unit)) return true;
  // If the expected value is this small relative to the others, the difference can't be a rounding error.
  result.beyond_rounding = result.beyond_rounding || std::fabs(want) <= floor || difference > kBeyondRounding * std::fabs(want);
  return false;
}

}  // namespace

Comparison compare(const Array& got, const Array& want, const Tolerance& tolerance) {
  Comparison result;
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    result.ok = false;
    result.wrong = want.size();
    result.beyond_rounding = true;
    result.max_abs = result.max_rel = result.max_ulp = std::numeric_limits<double>::infinity();
    result.problem = fmt::format("it is {} {}, expected {} {}", name_of(got.dtype()), shape_text(got.shape()), name_of(want.dtype()),
                                 shape_text(want.shape()));
    return result;
  }
  const bool floats = is_float(want.dtype());
  const double floor = floats ? tolerance.absolute * largest_finite(want) : 0;
  const double slack = bytes_of(want.dtype()) == 2 ? 2 : 0;  // float16, bfloat16
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < want.size(); i++) {
    const Scalar g = got.at(i), w = want.at(i);
    bool ok;
    if (floats) {
      ok = compare_float(g.as_double(), w.as_double(), floor, slack, tolerance, want.dtype(), result);
    } else {
      ok = g == w;
      const double difference = std::fabs(g.as_double() - w.as_double());
      result.max_abs = std::max(result.max_abs, ok ? 0 : std::max(difference, 1.0));
      result.beyond_rounding = result.beyond_rounding || !ok;
      if (!ok && w.as_double() != 0) result.max_rel = std::max(result.max_rel, difference / std::fabs(w.as_double()));
    }
    if (ok) continue;
    if (first < 0) first = i;
    result.wrong++;
  }
  if (first >= 0) {
    result.ok = false;
    result.problem = fmt::format("element {} is {}, expected {} ({} of {} elements differ)", position(first, want.shape()),
                                 got.at(first).to_text(), want.at(first).to_text(), result.wrong, want.size());
  }
  return result;
}

Comparison worse(const Comparison& a, const Comparison& b) {
  return {.ok = a.ok && b.ok,
          .max_abs = std::max(a.max_abs, b.max_abs),
          .max_rel = std::max(a.max_rel, b.max_rel),
          .max_ulp = std::max(a.max_ulp, b.max_ulp),
          .wrong = a.wrong + b.wrong,
          .beyond_rounding = a.beyond_rounding || b.beyond_rounding,
          .problem = a.problem.empty() ? b.problem : a.problem};
}

}  // namespace etch
