// Internal to shape/: proves that a polynomial in indices and open sizes is never negative, by replacing one atom after the other by
// the end of its range at which the polynomial is least.
//
//   W*H - 1 - (y*W + x) >= 0,  x <= W - 1, y <= H - 1:  x goes to W - 1, y to H - 1, what is left is 0
#pragma once

#include <vector>

#include "shape/poly.h"

namespace etch {

/// Whether an atom's range ends at an expression, or two unknowns are multiplied: only then can elimination prove more than bounds().
bool has_open_size(const Poly& p);

/// True if p >= 0 is proved wherever all of `facts` are >= 0. An atom that p is linear in is replaced by the end of its range or by a
/// bound that follows from a fact, and x//d by the nearest multiples of d. False means "not proved", also if the search gets too long.
bool proves_by_elimination(const Poly& p, const std::vector<Poly>& facts);

}  // namespace etch
