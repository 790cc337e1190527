// Internal to shape/: whether a polynomial in indices and open sizes is never negative, by putting one atom after the other at
// the end of its range at which the polynomial is least.
//
//   W*H - 1 - (y*W + x) >= 0,  x <= W - 1, y <= H - 1:  x goes to W - 1, y to H - 1, what is left is 0
#pragma once

#include <vector>

#include "shape/poly.h"

namespace etch {

/// Whether an atom's range ends at an expression, or two unknowns are multiplied: only then elimination sees more than bounds().
bool has_open_size(const Poly& p);

/// True if p >= 0 is proved wherever every one of `facts` is >= 0. An index that is linear in p is replaced by its range's end, by
/// what a fact says of it, and x//d by the multiples of d next to x. False means "not proved", also where the search gets long.
bool proves_by_elimination(const Poly& p, const std::vector<Poly>& facts);

}  // namespace etch
