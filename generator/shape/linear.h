// Internal to shape/: a comparison as a linear constraint over atoms.
#pragma once

#include "shape/poly.h"

namespace etch {

/// The constraint poly < limit; the constant of poly is 0.
struct Linear {
  Poly poly;
  std::int64_t limit;
};

Linear linear_of(const Node* condition);

}  // namespace etch
