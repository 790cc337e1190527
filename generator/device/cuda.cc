// CUDA: on a GPU if the machine has one. Else the same texts are compiled as C++ and run in this process, one work-item after the other:
// the way to check kernels, not to be fast.
#include <algorithm>

#include "base/runtime_text.h"
#include "device/cuda_driver.h"
#include "device/cuda_shim.h"
#include "device/host_compiler.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr std::size_t kSplitBytes = 24'000;  // of text: below it a second compiler process costs more than it saves
constexpr PlanOptions kPlan{.align = 256};   // no two buffers share a line of a GPU's cache

class ShimLibrary : public KernelLibrary {
 public:
  ShimLibrary(const Program& program, std::unique_ptr<SharedObject> object, const std::vector<std::size_t>& kernels_of_unit)
      : program_(&program), object_(std::move(object)) {
    for (std::size_t unit = 0; unit < kernels_of_unit.size(); unit++) {
      const auto* table = static_cast<const CudaShimFunction*>(object_->symbol("etch_kernels_" + std::to_string(unit)));
      functions_.insert(functions_.end(), table, table + kernels_of_unit[unit]);
    }
  }

  void run(int kernel, void* const* arg, const LaunchSize& size) const override {
    const auto k = static_cast<std::size_t>(kernel);
    const auto &g = size.groups, &l = size.local;
    const long long sizes[] = {g[0], g[1], g[2], l[0], l[1], l[2]};
    const char* problem = functions_.at(k)(arg, sizes);
    if (problem != nullptr)
      throw DeviceError("kernel '" + program_->kernels[k].name + "'", problem, "this is a bug of etch: please report it with the model");
  }

 private:
  const Program* program_;
  std::unique_ptr<SharedObject> object_;
  std::vector<CudaShimFunction> functions_;
};

std::string text_of(std::span<const ProgramKernel> kernels) {
  std::string text;
  for (const ProgramKernel& k : kernels) text += k.text.source + "\n";
  return text;
}

// The kernels of a unit as C++, and a table of the functions that run them.
std::string unit_text(const std::string& head, std::span<const ProgramKernel> kernels, std::size_t unit) {
  const std::string name = "etch_kernels_" + std::to_string(unit),
                    type = "const char *(*const " + name + "[])(void *const *, const long long *)";
  std::string table;
  for (const ProgramKernel& k : kernels) table += "  etch_shim::run<" + k.name + ", " + (k.text.has_barrier ? "true" : "false") + ">,\n";
  if (table.empty()) table = "  nullptr\n";
  return head + text_of(kernels) + "extern \"C\" " + type + ";\n" + type + " = {\n" + table + "};\n";
}

std::unique_ptr<KernelLibrary> compile_for_processor(const Program& program, const CudaOptions& options, const HostCompiler& compiler) {
  const bool masked = std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return k.text.loads_masked; });
  const std::string head =
      std::string(masked ? kMaskedLoadPragma : "") + "#include \"cuda_shim.h\"\n" + program.language->prelude(helpers_of(program)) + "\n";
  auto parts = parts_of(program.kernels, kSplitBytes, options.compile_jobs);
  if (parts.empty()) parts.emplace_back();
  std::vector<HostFile> units;
  std::vector<std::size_t> kernels;
  for (const std::span<const ProgramKernel> part : parts) {
    units.push_back({"unit" + std::to_string(units.size()) + ".cc", unit_text(head, part, units.size())});
    kernels.push_back(part.size());
  }
  auto object = compile_on_host(compiler, {{"cuda_shim.h", std::string(cuda_shim())}}, units);
  return std::make_unique<ShimLibrary>(program, std::move(object), kernels);
}

class CudaDevice : public Device {
 public:
  CudaDevice(const DeviceRow& row, const DeviceOptions& options) : Device(row), own_(options.get<CudaOptions>()), options_(options) {
    for (const char* known : {"", "gpu", "cpu"}) known_ = known_ || own_.device == known;
    if (own_.device != "cpu") gpu_ = open_cuda(&no_gpu_);
  }

  bool available(std::string* why) const override {
    const std::string problem = missing();
    if (why != nullptr) *why = problem;
    return problem.empty();
  }

  std::string description() const override {
    if (gpu_) return gpu_->description();
    const auto program = find();
    return "kernels run on the processor (" + (no_gpu_.empty() ? "as asked" : no_gpu_) + "), compiled by " +
           (program ? describe_compiler(*program) : "");
  }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    if (const std::string why = missing(); !why.empty()) throw DeviceError("CUDA device", why, "install a GPU's driver, or g++ or clang++");
    if (gpu_) {
      const std::string text = program.language->prelude(helpers_of(program)) + "\n" + text_of(program.kernels);
      return make_compiled(program, gpu_->compile(program, text, own_.contract), kPlan, options_);
    }
    HostCompiler compiler{.what = "C++ compiler", .program = *find(), .flags = own_.flags, .timeout_s = options_.timeout_s};
    compiler.flags.push_back(own_.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
    return make_compiled(program, compile_for_processor(program, own_, compiler), kPlan, options_);
  }

  // Why there is nothing to run kernels on; empty if there is.
  std::string missing() const {
    if (!known_) return "the device is '" + own_.device + "', accepted are gpu and cpu";
    if (gpu_) return "";
    if (own_.device == "gpu") return "no GPU: " + no_gpu_;
    if (find()) return "";
    const std::string no_compiler =
        own_.cxx.empty() ? "none of g++, clang++, clang++-19, c++ is on PATH" : "'" + own_.cxx + "' is not found";
    return (no_gpu_.empty() ? "" : "no GPU: " + no_gpu_ + "; ") + "no C++ compiler to run kernels on the processor: " + no_compiler;
  }

  std::optional<std::filesystem::path> find() const { return find_compiler(own_.cxx, {"g++", "clang++", "clang++-19", "c++"}); }

  CudaOptions own_;
  DeviceOptions options_;
  bool known_ = false;
  std::string no_gpu_;  // why
  std::shared_ptr<CudaGpu> gpu_;
};

}  // namespace

constinit const DeviceRow kCudaDevice{
    .name = "cuda",
    .language = &kCuda,
    .make = make_of<CudaDevice>,
};

}  // namespace etch
