// For tests: generated C kernels compiled by the host's compiler, many to a file, and called through dlopen.
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/tempdir.h"
#include "codegen/options.h"
#include "ir/array.h"
#include "ir/lazyop.h"
#include "program/generate.h"

namespace etch::test {

/// Warning flags under which emitted C must give no warnings.
inline const std::vector<std::string>& strict_flags() {
  static const std::vector<std::string> kFlags{"-std=c99",     "-Wall",    "-Wextra", "-Wpedantic",
                                               "-Wconversion", "-Wshadow", "-Werror", "-Wno-unused-function"};
  return kFlags;
}

/// A kernel's text behind what it calls and no kernel before has: those are added to `defined`.
inline std::string with_definitions(const Rendered& text, std::set<std::string>& defined) {
  std::string all;
  for (const std::string& definition : text.definitions)
    if (defined.insert(definition).second) all += definition;
  return all + text.source;
}

/// One C file from several kernels; `kernels` must name its functions k0, k1, ...
inline std::string c_file(const std::vector<std::string>& sources) {
  std::string text = "#include \"etch_math.h\"\n#include \"etch_quant.h\"\n\n";
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

/// A function of buffers out, in1, in2, ... with these numbers of elements. The flags say which are constants and which are bounded; a
/// missing flag means no.
inline KernelSignature signature_of(const std::string& function, const LazyOp* store, const std::vector<Sint>& elements,
                                    std::vector<bool> constants = {}, std::vector<bool> bounded = {}) {
  constants.resize(elements.size());
  bounded.resize(elements.size());
  KernelSignature signature{function, {}, {}};
  for (std::size_t i = 0; i < elements.size(); i++)
    signature.arguments.push_back({DType::Float32, elements[i], i == 0 ? "out" : "in" + std::to_string(i),
                                   i == 0 ? Access::Write : Access::Read, constants[i], bounded[i]});
  for (const LazyOp* op : toposort(store))
    if (op->op == Op::Load || op->op == Op::Store) signature.arguments.at(static_cast<std::size_t>(op->mem().index)).dtype = op->dtype;
  return signature;
}

/// The data for one run of a kernel: the number of bytes of its output, and its inputs.
struct SanitizedRun {
  std::int64_t out_bytes = 0;
  std::vector<Array> inputs;
};

/// Runs every kernel once under AddressSanitizer and UndefinedBehaviorSanitizer in a separate program, with each buffer exactly as
/// large as needed. The result is that of the program, or of the compiler if that failed.
inline ProcessResult run_sanitized(const std::vector<std::string>& sources, const std::vector<SanitizedRun>& runs) {
  const TempDir dir("etch-test");
  const std::string file = (dir.path() / "kernels.c").string(), data = (dir.path() / "data").string(),
                    program = (dir.path() / "run").string();
  std::ofstream bytes(data, std::ios::binary);
  std::string text =
      "#include <stdio.h>\n#include <stdlib.h>\n" + c_file(sources) + "static void *filled(FILE *f, size_t n) {\n  void *p = malloc(n);\n";
  text += "  if (p == 0 || (f != 0 && fread(p, 1, n, f) != n)) exit(9);\n  return p;\n}\n";
  for (std::size_t i = 0; i < runs.size(); i++) {
    const std::string n = std::to_string(runs[i].inputs.size() + 1);
    text += "static void run" + std::to_string(i) + "(FILE *f) {\n  void *arg[" + n + "];\n  int i;\n";
    text += "  arg[0] = filled(0, " + std::to_string(runs[i].out_bytes) + ");\n";
    for (std::size_t b = 0; b < runs[i].inputs.size(); b++) {
      const auto span = runs[i].inputs[b].bytes();
      bytes.write(reinterpret_cast<const char*>(span.data()), static_cast<std::streamsize>(span.size()));
      text += "  arg[" + std::to_string(b + 1) + "] = filled(f, " + std::to_string(span.size()) + ");\n";
    }
    text += "  etch_test_kernel(" + std::to_string(i) + ")(arg);\n  for (i = 0; i < " + n + "; i++) free(arg[i]);\n}\n";
  }
  text += "int main(int argc, char **argv) {\n  FILE *f = fopen(argv[argc - 1], \"rb\");\n  if (f == 0) return 8;\n";
  for (std::size_t i = 0; i < runs.size(); i++) text += "  run" + std::to_string(i) + "(f);\n";
  std::ofstream(file) << text + "  fclose(f);\n  return 0;\n}\n";
  bytes.close();
  ProcessOptions options;
  options.timeout_s = 300;
  options.env = {{"UBSAN_OPTIONS", "print_stacktrace=1"}};
  const ProcessResult built = run_process({"cc", "-std=c99", "-fsanitize=address,undefined,float-cast-overflow",
                                           "-fno-sanitize-recover=all", "-I" ETCH_SOURCE_DIR "/runtime_c", "-o", program, file, "-lm"},
                                          options);
  return built.ok() ? run_process({program, data}, options) : built;
}

}  // namespace etch::test
