// SHA-256 (LLVM's), to record which model a file was made from and to make cache keys.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace etch {

/// The SHA-256 of the bytes as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);
/// The same of a file, of which a piece at a time is in memory; of what could be read, if that is not all.
std::string sha256_hex_of(const std::filesystem::path& file);

}  // namespace etch
