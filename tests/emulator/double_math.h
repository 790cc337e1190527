// Which float functions of a target's C library compute in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/tempdir.h"
#include "emulator/cross_build.h"
#include "target/target.h"

namespace etch::test {

/// The target's list of float functions that compute in double agrees with the symbols of linked programs.
inline void expect_double_math_as_said(const Target& target) {
  constexpr const char* kFunctions[] = {"expf",  "exp2f",  "logf",  "log2f", "log10f", "log1pf", "expm1f", "sinf",  "cosf",    "tanf",
                                        "tanhf", "asinf",  "acosf", "atanf", "asinhf", "acoshf", "atanhf", "sinhf", "coshf",   "erff",
                                        "sqrtf", "floorf", "ceilf", "rintf", "roundf", "truncf", "fabsf",  "cbrtf", "lgammaf", "tgammaf"};
  for (const char* function : kFunctions) {
    SCOPED_TRACE(function);
    const TempDir dir;
    std::ofstream(dir.path() / "main.c")
        << "#include <math.h>\nextern volatile float x;\nvolatile float x = 1;\nint main(void) { return (int)" << function << "(x); }\n";
    const CrossBuild program = build_project(dir.path(), target, dir.path() / "build");
    const std::vector<std::string> soft = soft_double_symbols(program.map.library_symbols);
    // Where double has instructions, conversions of 64-bit integers have none on Arm; libgcc's object of these has additions, too.
    const bool only_converts = target.fpu == Fpu::Double && std::ranges::find(soft, "__aeabi_l2d") != soft.end();
    EXPECT_EQ(!soft.empty() && !only_converts, target.computes_in_double(function));
  }
}

}  // namespace etch::test
