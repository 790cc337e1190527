// Which float functions of a target's C library compute in double.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

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
    if (target.fpu == Fpu::Double) {  // only conversions of 64-bit integers may lack an instruction, as on Armv7-A
      EXPECT_FALSE(target.computes_in_double(function));
      continue;
    }
    const TempDir dir;
    std::ofstream(dir.path() / "main.c")
        << "#include <math.h>\nextern volatile float x;\nvolatile float x = 1;\nint main(void) { return (int)" << function << "(x); }\n";
    const CrossBuild program = build_project(dir.path(), target, dir.path() / "build");
    EXPECT_EQ(!soft_double_symbols(program.map.library_symbols).empty(), target.computes_in_double(function));
  }
}

}  // namespace etch::test
