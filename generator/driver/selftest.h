// What the emitted self-test runs: inputs that a few lines of C can generate, and the outputs that INTERP computes for them.
#pragma once

#include <cstdint>
#include <string>

#include "driver/compile.h"

namespace etch {

/// Number of multiply-accumulates of one run that takes INTERP some ten seconds. The limit is a count, not a time, so that every
/// machine writes the same files.
inline constexpr std::int64_t kMostInterpreted = 10'000'000'000;
/// Elements of all outputs: each is a number in the self-test's text.
inline constexpr std::int64_t kMostExpected = 1 << 24;

/// `any` numbers, changed to what the input accepts.
Array input_within(const ImportedTensor& input, Array any);

/// Inputs that a few lines of C can generate, and variables at their largest. Nothing is expected yet.
SelfTest selftest_inputs(const Frontend& frontend, const CompileOptions& options);

/// Adds the outputs that the reference computes. May lower the number of runs, where more of them lead away from finite numbers.
void add_expected(SelfTest& test, const Frontend& frontend, const CompileOptions& options);

/// Both.
SelfTest generated_selftest(const Frontend& frontend, const CompileOptions& options);

/// Why the outputs are too much to compute and to write down; empty if they are not.
std::string too_much_to_expect(const Program& program);

}  // namespace etch
