// For tests: what this machine's processor can do.
#pragma once

#include <regex>
#include <string>

#include "support/files.h"

namespace etch::test {

/// Whether Linux lists the feature, "avx512_vnni", for this machine's processor.
inline bool has_feature(const std::string& name) { return std::regex_search(content("/proc/cpuinfo"), std::regex("\\b" + name + "\\b")); }

/// Whether a compiler for this processor can make one operation of a * b + c.
inline bool has_fma() { return has_feature("fma") || has_feature("asimd"); }

}  // namespace etch::test
