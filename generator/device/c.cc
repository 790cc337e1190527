// C: kernels are compiled by the machine's C compiler into a shared object, which is loaded into this process.
#include <algorithm>
#include <optional>

#include "base/runtime_text.h"
#include "device/host_compiler.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr std::size_t kSplitBytes = 24'000;  // of text: below it a second compiler process costs more than it saves

class CLibrary : public KernelLibrary {
 public:
  CLibrary(std::unique_ptr<SharedObject> object, const std::vector<std::size_t>& kernels_of_unit) : object_(std::move(object)) {
    for (std::size_t unit = 0; unit < kernels_of_unit.size(); unit++) {
      const auto* table = static_cast<const KernelFunction*>(object_->symbol("etch_kernels_" + std::to_string(unit)));
      functions_.insert(functions_.end(), table, table + kernels_of_unit[unit]);
    }
  }
  void run(int kernel, void* const* arg, const LaunchSize&) const override { functions_.at(static_cast<std::size_t>(kernel))(arg); }

 private:
  std::unique_ptr<SharedObject> object_;
  std::vector<KernelFunction> functions_;
};

/// One translation unit: some kernels that follow each other, and a table of their functions.
struct Unit {
  std::string text;
  std::size_t kernels = 0;
};

class CCompiler : public Compiler {
 public:
  CCompiler(const COptions& options, double timeout_s, std::filesystem::path program)
      : options_(options), timeout_s_(timeout_s), program_(std::move(program)) {}

  std::unique_ptr<KernelLibrary> compile(const Program& program) const override {
    const std::vector<Unit> units = split(program);
    std::vector<std::size_t> kernels;
    std::vector<HostFile> files;
    for (std::size_t u = 0; u < units.size(); u++) {
      files.push_back({"unit" + std::to_string(u) + ".c", units[u].text});
      kernels.push_back(units[u].kernels);
    }
    const HostCompiler compiler{.what = "C compiler", .program = program_, .flags = options_.flags, .timeout_s = timeout_s_};
    auto object = compile_on_host(compiler, {{"etch_math.h", std::string(runtime_text("etch_math.h"))}}, files);
    return std::make_unique<CLibrary>(std::move(object), kernels);
  }

 private:
  std::vector<Unit> split(const Program& program) const {
    const bool masked = std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return k.text.loads_masked; });
    const std::string head = std::string(masked ? kMaskedLoadPragma : "") +
                             "#include <stdint.h>\n#include <stdbool.h>\n#include <math.h>\n" +
                             program.language->prelude(helpers_of(program)) + "\n";
    auto parts = parts_of(program.kernels, kSplitBytes, options_.compile_jobs);
    if (parts.empty()) parts.emplace_back();
    std::vector<Unit> units;
    for (const std::span<const ProgramKernel> part : parts) {
      Unit unit{head, part.size()};
      std::string table;
      for (const ProgramKernel& kernel : part) {
        if (kernel.external != nullptr) {
          table += "  0,\n";
          continue;
        }
        unit.text += kernel.text.source + "\n";
        table += "  " + kernel.name + ",\n";
      }
      if (table.empty()) table = "  0\n";
      const std::string name = "etch_kernels_" + std::to_string(units.size());
      unit.text += "extern void (*const " + name + "[])(void *const *arg);\n";
      unit.text += "void (*const " + name + "[])(void *const *arg) = {\n" + table + "};\n";
      units.push_back(std::move(unit));
    }
    return units;
  }

  COptions options_;
  double timeout_s_;
  std::filesystem::path program_;
};

class CDevice : public Device {
 public:
  CDevice(const DeviceRow& row, const DeviceOptions& options) : Device(row), own_(options.get<COptions>()), options_(options) {}

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

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    std::string why;
    if (!available(&why)) throw DeviceError("C device", why, "install gcc or clang");
    return make_compiled(program, CCompiler(own_, options_.timeout_s, *find()).compile(program), {.align = own_.arena_align}, options_);
  }

  std::optional<std::filesystem::path> find() const { return find_c_compiler(own_); }

  COptions own_;
  DeviceOptions options_;
};

}  // namespace

constinit const DeviceRow kCDevice{
    .name = "c",
    .language = &kC,
    .make = make_of<CDevice>,
    .runs_external = true,
};

}  // namespace etch
