#include "audit/digest.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <cstdint>

namespace etch {

std::string sha256_hex(std::span<const std::byte> bytes) {
  const auto digest = llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return llvm::toHex(llvm::ArrayRef(digest), true);
}

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace etch
