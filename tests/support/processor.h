// For tests: what this machine's processor can do.
#pragma once

#include <regex>

#include "support/files.h"

namespace etch::test {

/// Whether a compiler for this processor can make one operation of a * b + c.
inline bool has_fma() { return std::regex_search(content("/proc/cpuinfo"), std::regex(R"(\bfma\b|\basimd\b)")); }

}  // namespace etch::test
