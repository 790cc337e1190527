// For tests: how often random tests try.
#pragma once

#include <cstdlib>

namespace etch::test {

/// `all` of a test's random cases under `./dev test --full`, a quarter of them otherwise; for what they are expected to find, too.
inline int rounds(int all) { return std::getenv("ETCH_FULL") != nullptr ? all : (all + 3) / 4; }

}  // namespace etch::test
