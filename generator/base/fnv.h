// FNV-1a: hashes that are written down, so they are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace etch {

inline std::uint32_t fnv1a_32(std::span<const std::byte> bytes) {
  std::uint32_t hash = 2166136261u;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  return hash;
}
inline std::uint32_t fnv1a_32(std::string_view text) { return fnv1a_32(std::as_bytes(std::span(text.data(), text.size()))); }

inline std::uint64_t fnv1a_64(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace etch
