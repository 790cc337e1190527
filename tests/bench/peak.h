// The physical limits: the peak rates of this machine's arithmetic units, without memory accesses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "target/target.h"

namespace etch::bench {

/// Single-thread float32 fused multiply-adds per second times two (FLOP/s) of independent vector chains, compiled by
/// `compiler` with `flags`; the best of several runs. Throws UserError if the compiler is absent.
double fma_peak(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits);

/// Multiply-accumulates of bytes per second of independent VPDPBUSD of 512 bits, likewise.
double vnni_peak(const std::string& compiler, const std::vector<std::string>& flags);

/// The one of the targets for x86-64 in float32 that this processor runs fastest.
Target fastest_target();

}  // namespace etch::bench
