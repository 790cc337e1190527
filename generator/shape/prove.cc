// Bounds under a condition.
#include "shape/int_math.h"
#include "shape/poly.h"

namespace etch {

std::pair<int64_t, int64_t> bounds_under(Sint expr, Sint valid) {
  if (valid.is_int(0)) return {1, 0};
  return {expr.min(), expr.max()};
}

bool proves_nonnegative(Sint expr, Sint valid) {
  std::pair<int64_t, int64_t> range = bounds_under(expr, valid);
  return range.first >= 0 || range.first > range.second;
}

bool proves_less(Sint expr, Sint bound, Sint valid) { return proves_nonnegative(bound - expr - 1, valid); }

Sint simplify_under(Sint expr, Sint valid) {
  if (expr.is_int() || valid.is_int()) return expr;
  std::pair<int64_t, int64_t> range = bounds_under(expr, valid);
  if (range.first == range.second) return range.first;
  return expr;
}

}  // namespace etch
