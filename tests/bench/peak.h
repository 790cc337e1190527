// The physical limits: the peak rates of this machine's arithmetic units, without memory accesses.
#pragma once

#include <cstdint>
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

/// Bytes per second that one thread moves in a working set of `bytes`: half of it is copied to the other one, both count.
double copy_bandwidth(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits, std::int64_t bytes);
/// The same of reading all of it, in eight streams side by side.
double read_bandwidth(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits, std::int64_t bytes);
/// Of the largest cache that this processor tells of.
std::int64_t last_cache_bytes();

/// The one of the targets for x86-64 in float32 that this processor runs fastest.
Target fastest_target();
/// The same for networks of bytes: one with dot products, where this processor has them.
Target fastest_target_of_bytes();

}  // namespace etch::bench
