// Compares an array with the expected one.
#pragma once

#include <cstdint>
#include <string>

#include "ir/array.h"

namespace etch {

/// Finite floats may differ by absolute * (largest finite |want|) + relative * |want|, float16 and bfloat16 also by two units in the last
/// place. Infinities, integers and bools must be equal; NaN must be NaN.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-5;
};

struct Comparison {
  bool ok = true;
  double max_abs = 0;            // largest |got - want|; infinite where one is finite and the other is not
  double max_rel = 0;            // largest |got - want| / |want|, over elements above absolute * (largest |want|)
  double max_ulp = 0;            // the same in units in the last place of `want`'s type
  std::int64_t wrong = 0;        // elements outside the tolerance
  bool beyond_rounding = false;  // a wrong element can't be due to rounding: an integer, not finite, 0 expected, or off by over 5 %
  std::string problem;           // "" or "element [0,3] is 0.5, expected 0.25 (12 of 100 elements differ)"
};

/// Types and shapes must be equal too, or `ok` is false.
Comparison compare(const Array& got, const Array& want, const Tolerance& tolerance = {});

/// Combines two comparisons: the largest differences, the sum of `wrong`, and the problem of the first one that has one.
Comparison worse(const Comparison& a, const Comparison& b);

}  // namespace etch
