// C: kernels are compiled by the machine's C compiler into a shared object, which is loaded into this process.
#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <optional>

#include "base/process.h"
#include "base/runtime_text.h"
#include "base/tempdir.h"
#include "device/compiler.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr std::size_t kSplitBytes = 24'000;  // of text: below it a second compiler process costs more than it saves
constexpr std::size_t kShownLines = 12;      // of the compiler's message

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kShownLines && end < text.size(); line++) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end) + (end < text.size() ? "..." : "");
}

class SharedObject : public KernelLibrary {
 public:
  SharedObject(TempDir dir, const std::filesystem::path& file, const std::vector<std::size_t>& kernels_of_unit) : dir_(std::move(dir)) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw DeviceError("the compiled kernels", std::string("can't be loaded: ") + dlerror());
    for (std::size_t unit = 0; unit < kernels_of_unit.size(); unit++) {
      const auto* table = static_cast<const KernelFunction*>(dlsym(handle_, ("etch_kernels_" + std::to_string(unit)).c_str()));
      check(table != nullptr, "a unit of kernels exports its table");
      functions_.insert(functions_.end(), table, table + kernels_of_unit[unit]);
    }
  }
  ~SharedObject() override {
    if (handle_ != nullptr) dlclose(handle_);
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  KernelFunction function(int kernel) const override { return functions_.at(static_cast<std::size_t>(kernel)); }

 private:
  TempDir dir_;
  void* handle_ = nullptr;
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
    TempDir dir("etch-c");
    std::ofstream(dir.path() / "etch_math.h") << runtime_text("etch_math.h");
    std::vector<std::size_t> kernels;
    std::vector<std::string> files;
    for (std::size_t u = 0; u < units.size(); u++) {
      files.push_back("unit" + std::to_string(u) + ".c");
      std::ofstream(dir.path() / files.back()) << units[u].text;
      kernels.push_back(units[u].kernels);
    }
    if (units.size() > 1) compile_units(dir.path(), files);
    std::vector<std::string> link = files;
    link.insert(link.begin(), {"-shared", "-o", "kernels.so"});
    link.push_back("-lm");
    run_compiler(dir.path(), link);
    const std::filesystem::path file = dir.path() / "kernels.so";
    return std::make_unique<SharedObject>(std::move(dir), file, kernels);
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

  void compile_units(const std::filesystem::path& dir, std::vector<std::string>& files) const {
    std::vector<std::future<void>> running;
    for (std::string& file : files) {
      const std::string object = file.substr(0, file.size() - 2) + ".o";
      running.push_back(std::async(std::launch::async, [this, dir, file, object] { run_compiler(dir, {"-c", "-o", object, file}); }));
      file = object;
    }
    for (auto& r : running) r.wait();
    for (auto& r : running) r.get();
  }

  void run_compiler(const std::filesystem::path& dir, const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {program_.string(), "-fPIC", "-w"};
    command.insert(command.end(), options_.flags.begin(), options_.flags.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProcessOptions process;
    process.cwd = dir;
    process.timeout_s = timeout_s_;
    process.env = {{"TMPDIR", dir.string()}};  // so that files of a compiler that is stopped are removed with the folder
    const ProcessResult result = run_process(command, process);
    if (result.ok()) return;
    throw DeviceError("C compiler " + program_.string(), describe(result) + "\n" + first_lines(result.err),
                      "choose another compiler or other flags; if the text is not C, this is a bug of etch");
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
    if (!program) return "";
    const ProcessResult result = run_process({program->string(), "--version"});
    return result.out.substr(0, result.out.find('\n')) + " (" + program->string() + ")";
  }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    std::string why;
    if (!available(&why)) throw DeviceError("C device", why, "install gcc or clang");
    return make_compiled(program, CCompiler(own_, options_.timeout_s, *find()).compile(program), {.align = own_.arena_align},
                         options_.guards);
  }

  std::optional<std::filesystem::path> find() const {
    if (!own_.cc.empty()) return find_program(own_.cc);
    for (const char* name : {"gcc", "clang", "clang-19", "cc"})
      if (auto found = find_program(name)) return found;
    return std::nullopt;
  }

  COptions own_;
  DeviceOptions options_;
};

}  // namespace

constinit const DeviceRow kCDevice{
    .name = "c",
    .language = &kC,
    .make = [](const DeviceRow& row, const DeviceOptions& options) -> std::unique_ptr<Device> {
      return std::make_unique<CDevice>(row, options);
    },
};

}  // namespace etch
