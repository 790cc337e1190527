// How far an array is from the one it should be.
#pragma once

#include <cstdint>
#include <string>

#include "ir/array.h"

namespace etch {

/// |got - want| <= absolute * (largest finite |want|) + relative * |want| for floats that are finite; infinities, integers and
/// bools must be equal, NaN be NaN. float16 and bfloat16 may besides differ by two units in their last place.
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
  bool beyond_rounding = false;  // some wrong element can be no rounding: an integer, not finite, 0 expected, or off by over 5 %
  std::string problem;           // "" or "element [0,3] is 0.5, expected 0.25 (12 of 100 elements differ)"
};

/// Types and shapes have to be equal too.
Comparison compare(const Array& got, const Array& want, const Tolerance& tolerance = {});

/// The worse of two, element by element; the first problem stays.
Comparison worse(const Comparison& a, const Comparison& b);

}  // namespace etch
