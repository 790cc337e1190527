// This machine's C or C++ compiler: makes a shared object of a text, and loads it into this process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tempdir.h"
#include "device/compiler.h"

namespace etch {

struct HostFile {
  std::string name, text;
};

/// How the compiler is called.
struct HostCompilerOptions {
  std::string what;  // in error messages: "C compiler"
  std::filesystem::path program;
  std::vector<std::string> flags;
  double timeout_s = 0;
  std::string extension;        // of the text's file: ".c"
  std::vector<HostFile> files;  // beside the text: headers, and sources in C that are compiled with it
};

class HostCompiler : public Compiler {
 public:
  HostCompiler(HostCompilerOptions options, CacheOptions cache) : Compiler(std::move(cache)), options_(std::move(options)) {}
  std::string cachekey() const override;
  std::string compile(const std::string& text) const override;
  /// By objdump.
  std::string disassemble(const std::string& binary) const override;

 private:
  HostCompilerOptions options_;
};

/// A shared object in this process; its file is removed with it.
class SharedObject {
 public:
  /// Throws DeviceError.
  explicit SharedObject(const std::string& binary);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  /// The address of a symbol, which has to be there.
  const void* symbol(const std::string& name) const;

 private:
  TempDir dir_;
  void* handle_ = nullptr;
};

/// `wanted` if it is a program, or if it is empty the first of `names` that is one.
std::optional<std::filesystem::path> find_compiler(const std::string& wanted, const std::vector<std::string>& names);
/// The C compiler: `wanted`, a name on PATH or a path, or if it is empty the first that is found.
std::optional<std::filesystem::path> find_c_compiler(const std::string& wanted);
/// The compiler's first line about itself, and its path.
std::string describe_compiler(const std::filesystem::path& program);
/// A text that is another one on a machine with another processor, if code for one need not run on the other.
std::string this_processor();
/// What objdump says of the instructions in an object file. Throws DeviceError if it is not installed.
std::string disassemble_object(const std::string& object);

}  // namespace etch
