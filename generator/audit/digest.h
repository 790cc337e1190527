// SHA-256 (LLVM's), to record which model a file was made from and to make cache keys.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace etch {

/// The SHA-256 of the bytes as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

}  // namespace etch
