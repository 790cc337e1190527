// This machine's C or C++ compiler: makes a shared object of texts and loads it into this process. Several texts are compiled at the
// same time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tempdir.h"
#include "device/compiler.h"

namespace etch {

struct HostCompiler {
  std::string what;  // in error messages: "C compiler"
  std::filesystem::path program;
  std::vector<std::string> flags;
  double timeout_s = 0;
};

struct HostFile {
  std::string name, text;
};

/// A loaded shared object; its file is removed with it.
class SharedObject {
 public:
  /// Throws DeviceError.
  SharedObject(TempDir dir, const std::filesystem::path& file);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  /// The address of a symbol, which has to be there.
  const void* symbol(const std::string& name) const;

 private:
  TempDir dir_;
  void* handle_ = nullptr;
};

/// Compiles `units`; `headers` lie beside them. Throws DeviceError with the first lines of what the compiler said.
std::unique_ptr<SharedObject> compile_on_host(const HostCompiler& compiler, const std::vector<HostFile>& headers,
                                              const std::vector<HostFile>& units);

/// `wanted` if it is a program, or if it is empty the first of `names` that is one.
std::optional<std::filesystem::path> find_compiler(const std::string& wanted, const std::vector<std::string>& names);
/// The C compiler of these options.
std::optional<std::filesystem::path> find_c_compiler(const COptions& options);
/// The compiler's first line about itself, and its path.
std::string describe_compiler(const std::filesystem::path& program);

}  // namespace etch
