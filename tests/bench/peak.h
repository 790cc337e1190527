// The physical limit: what this machine's floating-point units do when nothing else is in the way.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace etch::bench {

/// Single-thread float32 fused multiply-adds per second times two (FLOP/s) of independent vector chains, compiled by
/// `compiler` with `flags`; the best of several runs. Throws UserError where the compiler is absent.
double fma_peak(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits);

}  // namespace etch::bench
