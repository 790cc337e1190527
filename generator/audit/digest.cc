#include "audit/digest.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

#include <cstdint>
#include <fstream>
#include <vector>

namespace etch {

std::string sha256_hex(std::span<const std::byte> bytes) {
  const auto digest = llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return llvm::toHex(llvm::ArrayRef(digest), true);
}

std::string sha256_hex_of(const std::filesystem::path& file) {
  std::vector<char> piece(1 << 20);
  std::ifstream in(file, std::ios::binary);
  llvm::SHA256 digest;
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    digest.update(llvm::StringRef(piece.data(), static_cast<std::size_t>(in.gcount())));
  }
  return llvm::toHex(llvm::ArrayRef(digest.final()), true);
}

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace etch
