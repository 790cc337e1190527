// A Compiler: the text of kernels in one language to a binary that a device loads.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "device/disk_cache.h"

namespace etch {

class Compiler {
 public:
  explicit Compiler(CacheOptions cache) : cache_(std::move(cache)) {}
  virtual ~Compiler() = default;
  /// All that the binary depends on besides the text: the compiler itself and its version, its flags, the processor that it is for.
  virtual std::string cachekey() const = 0;
  /// The binary of `text`, bytes that only this kind of device understands. Throws DeviceError with the first lines of what the compiler
  /// said.
  virtual std::string compile(const std::string& text) const = 0;
  /// The same, from the folder of DeviceOptions::cache if it is there. Else it is compiled, and kept there if that is possible.
  std::string compile_cached(const std::string& text) const;
  /// Whether there is such a folder.
  bool is_cached() const { return cache_.enabled(); }
  /// From now on compile_cached(text) gives `binary`, which does the same and is better: without effect if there is no folder.
  void keep(const std::string& text, const std::string& binary) const;
  /// `binary` for people to read: its instructions, or what comes nearest. Throws DeviceError if the tool that this needs is absent.
  virtual std::string disassemble(const std::string& binary) const = 0;

 private:
  std::string key_of(const std::string& text) const;

  DiskCache cache_;
};

}  // namespace etch
