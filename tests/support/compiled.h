// For tests: generated C kernels compiled by the host's compiler, many to a file, and called through dlopen.
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/tempdir.h"
#include "codegen/options.h"
#include "ir/array.h"
#include "ir/lazyop.h"
#include "renderer/generate.h"

namespace etch::test {

/// Flags under which emitted C has to be clean.
inline const std::vector<std::string>& strict_flags() {
  static const std::vector<std::string> kFlags{"-std=c99",     "-Wall",    "-Wextra", "-Wpedantic",
                                               "-Wconversion", "-Wshadow", "-Werror", "-Wno-unused-function"};
  return kFlags;
}

/// One C file from several kernels; `kernels` must name its functions k0, k1, ...
inline std::string c_file(const std::vector<std::string>& sources) {
  std::string text = "#include \"etch_math.h\"\n\n";
  for (const std::string& s : sources) text += s + "\n";
  text += "typedef void (*kernel)(void *const *);\nkernel etch_test_kernel(int i);\nkernel etch_test_kernel(int i) {\n  switch (i) {\n";
  for (std::size_t i = 0; i < sources.size(); i++) text += "    case " + std::to_string(i) + ": return k" + std::to_string(i) + ";\n";
  return text + "    default: return 0;\n  }\n}\n";
}

/// A compiled file of kernels; its functions live as long as it does.
class Compiled {
 public:
  Compiled(const std::vector<std::string>& sources, std::vector<std::string> flags = {"-O1"}, const std::string& compiler = "cc") {
    const std::string file = (dir_.path() / "kernels.c").string(), library = (dir_.path() / "kernels.so").string();
    std::ofstream(file) << c_file(sources);
    std::vector<std::string> argv{compiler, "-shared", "-fPIC", "-I" ETCH_SOURCE_DIR "/runtime_c", "-o", library, file, "-lm"};
    argv.insert(argv.begin() + 1, flags.begin(), flags.end());
    ProcessOptions options;
    options.timeout_s = 300;
    const ProcessResult result = run_process(argv, options);
    if (!result.ok()) throw std::runtime_error(describe(result) + "\n" + result.err.substr(0, 4000));
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    get_ = reinterpret_cast<void (*(*)(int))(void* const*)>(dlsym(handle_, "etch_test_kernel"));
  }
  ~Compiled() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  /// Runs kernel `i` on buffers as they stand in `inputs`, after an output of `size` elements; then the variables.
  Array run(int i, DType dtype, std::int64_t size, const std::vector<Array>& inputs, std::vector<std::int32_t> variables = {}) const {
    std::vector<std::byte> out(static_cast<std::size_t>(size * bytes_of(dtype)), std::byte{0x55});
    std::vector<std::vector<std::byte>> copies;
    for (const Array& a : inputs) copies.emplace_back(a.bytes().begin(), a.bytes().end());
    std::vector<void*> args{out.data()};
    for (auto& c : copies) args.push_back(c.data());
    for (auto& v : variables) args.push_back(&v);
    get_(i)(args.data());
    return Array(dtype, {size}, std::move(out));
  }

 private:
  TempDir dir_{"etch-test"};
  void* handle_ = nullptr;
  void (*(*get_)(int))(void* const*) = nullptr;
};

/// Names out, in1, in2, ... for a function.
inline KernelNames kernel_names(const std::string& function, std::size_t buffers) {
  KernelNames names{function, {"out"}};
  for (std::size_t b = 1; b < buffers; b++) names.args.push_back("in" + std::to_string(b));
  return names;
}

}  // namespace etch::test
