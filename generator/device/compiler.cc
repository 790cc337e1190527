#include "device/compiler.h"

namespace etch {

std::string Compiler::compile_cached(const std::string& text) const {
  if (!cache_.enabled()) return compile(text);
  const std::string identity = cachekey();
  const std::string key = std::to_string(identity.size()) + " " + identity + text;
  if (auto found = cache_.find(key)) return *std::move(found);
  std::string binary = compile(text);
  cache_.keep(key, binary);
  return binary;
}

}  // namespace etch
