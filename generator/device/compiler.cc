#include "device/compiler.h"

namespace etch {

std::string Compiler::key_of(const std::string& text) const {
  const std::string identity = cachekey();
  return std::to_string(identity.size()) + " " + identity + text;
}

std::string Compiler::compile_cached(const std::string& text) const {
  if (!cache_.enabled()) return compile(text);
  const std::string key = key_of(text);
  if (auto found = cache_.find(key)) return *std::move(found);
  std::string binary = compile(text);
  cache_.keep(key, binary);
  return binary;
}

void Compiler::keep(const std::string& text, const std::string& binary) const {
  if (cache_.enabled()) cache_.keep(key_of(text), binary);
}

}  // namespace etch
