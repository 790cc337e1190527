// Hash values for interning. Nothing is ordered by them, so no output depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace etch {

/// Mixes `value` into `seed`; the order of calls matters.
inline std::size_t hash_mix(std::size_t seed, std::uint64_t value) {
  std::uint64_t x = (static_cast<std::uint64_t>(seed) ^ value) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(x ^ (x >> 32));
}

template <class T>
std::size_t hash_all(std::size_t seed, const T& range) {
  for (const auto& v : range) seed = hash_mix(seed, std::hash<std::decay_t<decltype(v)>>{}(v));
  return seed;
}

}  // namespace etch
