// When a float counts as equal to the expected one: the rule of all comparisons, of backends, recorded results and tests.
#pragma once

#include <cmath>

namespace etch {

/// Both finite and at most `limit` apart, or equal; NaN is near NaN alone. An infinity is near itself alone, even if `limit`
/// was computed from it and is infinite too.
inline bool is_near(double got, double want, double limit) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  return got == want || (std::isfinite(got) && std::isfinite(want) && std::fabs(got - want) <= limit);
}

}  // namespace etch
