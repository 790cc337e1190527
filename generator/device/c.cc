// C: kernels are compiled by the machine's C compiler into shared objects, which are loaded into this process.
#include <algorithm>
#include <optional>

#include "base/runtime_text.h"
#include "device/compiled.h"
#include "device/host_compiler.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr std::size_t kSplitBytes = 24'000;  // of text: below it a second compiler process costs more than it saves
constexpr const char* kTable = "etch_kernels";
// What kernels use where a target keeps constants in an address space of their own; this machine has one for all.
constexpr const char* kOneSpace =
    "#define ETCH_CONST_SPACE\n#define ETCH_CONST_AT(type, base, index) ((base)[index])\ntypedef void *etch_address;\n";

class CLibrary : public KernelLibrary {
 public:
  explicit CLibrary(const std::vector<std::string>& binaries) {
    for (const std::string& binary : binaries) {
      objects_.push_back(std::make_unique<SharedObject>(binary));
      for (const auto* f = static_cast<const KernelFunction*>(objects_.back()->symbol(kTable)); *f != nullptr; f++)
        functions_.push_back(*f);
    }
  }
  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize&) const override {
    functions_.at(static_cast<std::size_t>(kernel))(KernelArguments(buffers, values).get());
  }

 private:
  std::vector<std::unique_ptr<SharedObject>> objects_;
  std::vector<KernelFunction> functions_;
};

// One translation unit: some kernels that follow each other, and a table of their functions that ends with 0.
std::string unit_text(const std::string& head, std::span<const ProgramKernel> kernels) {
  std::string text = head, table;
  for (const ProgramKernel& kernel : kernels) {
    text += kernel.text.source + "\n";
    table += "  " + kernel.name + ",\n";
  }
  const std::string type = std::string("void (*const ") + kTable + "[])(void *const *arg)";
  return text + "extern " + type + ";\n" + type + " = {\n" + table + "  0\n};\n";
}

class CDevice : public Compiled {
 public:
  CDevice(const DeviceRow& row, const DeviceOptions& options) : Compiled(row, options), own_(options.get<COptions>()) {}

  bool available(std::string* why) const override {
    if (find()) return true;
    if (why != nullptr)
      *why =
          own_.cc.empty() ? "no C compiler: none of gcc, clang, clang-19, cc is on PATH" : "no C compiler: '" + own_.cc + "' is not found";
    return false;
  }

  std::string description() const override {
    const auto program = find();
    return program ? describe_compiler(*program) : "";
  }

  std::shared_ptr<const Compiler> compiler() const override {
    std::string why;
    if (!available(&why)) throw DeviceError("C device", why, "install gcc or clang");
    return std::make_shared<HostCompiler>(HostCompilerOptions{.what = "C compiler",
                                                              .program = *find(),
                                                              .flags = own_.flags,
                                                              .timeout_s = options().timeout_s,
                                                              .extension = ".c",
                                                              .files = {{"etch_math.h", std::string(runtime_text("etch_math.h"))},
                                                                        {"etch_quant.h", std::string(runtime_text("etch_quant.h"))}}},
                                          options().cache);
  }

  std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const override {
    const std::string head = pragmas_for(kernels) + "#include <stdint.h>\n#include <stdbool.h>\n#include <math.h>\n" + kOneSpace +
                             language()->prelude(helpers_of(kernels)) + definitions_of(kernels) + "\n";
    std::vector<std::string> units;
    for (const std::span<const ProgramKernel> part : parts_of(kernels, kSplitBytes, own_.compile_jobs))
      units.push_back(unit_text(head, part));
    return units;
  }

  std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                     std::span<const ProgramKernel>) const override {
    return std::make_shared<CLibrary>(binaries);
  }

 private:
  PlanOptions plan_options() const override { return {.align = own_.arena_align}; }
  std::optional<std::filesystem::path> find() const { return find_c_compiler(own_.cc); }

  COptions own_;
};

}  // namespace

constinit const DeviceRow kCDevice{
    .name = "c",
    .language = &kC,
    .make = make_of<CDevice>,
};

}  // namespace etch
