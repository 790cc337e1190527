// CUDA: on a GPU if the machine has one. Else the same texts are compiled as C++ and run in this process, one work-item after the other:
// the way to check kernels, not to be fast.
#include <algorithm>

#include "device/compiled.h"
#include "device/cuda_driver.h"
#include "device/cuda_shim.h"
#include "device/host_compiler.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr std::size_t kCudaSplitBytes = 24'000;  // of text: below it a second compiler process costs more than it saves

constexpr const char* kShimTable = "etch_kernels";

class ShimLibrary : public KernelLibrary {
 public:
  ShimLibrary(const std::vector<std::string>& binaries, std::span<const ProgramKernel> kernels) {
    for (const ProgramKernel& k : kernels) names_.push_back(k.name);
    for (const std::string& binary : binaries) {
      objects_.push_back(std::make_unique<SharedObject>(binary));
      for (const auto* f = static_cast<const CudaShimFunction*>(objects_.back()->symbol(kShimTable)); *f != nullptr; f++)
        functions_.push_back(*f);
    }
  }

  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& wanted) const override {
    const auto k = static_cast<std::size_t>(kernel);
    const LaunchSize size = in_groups(wanted);
    check_size(size, kCuda.limits, "kernel '" + names_[k] + "'");
    const auto &g = size.groups, &l = size.local;
    const long long sizes[] = {g[0], g[1], g[2], l[0], l[1], l[2]};
    const char* problem = functions_.at(k)(KernelArguments(buffers, values).get(), sizes);
    if (problem != nullptr)
      throw DeviceError("kernel '" + names_[k] + "'", problem, "this is a bug of etch: please report it with the model");
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<SharedObject>> objects_;
  std::vector<CudaShimFunction> functions_;
};

std::string text_of(std::span<const ProgramKernel> kernels) {
  std::string text;
  for (const ProgramKernel& k : kernels) text += k.text.source + "\n";
  return text;
}

// The kernels of a unit as C++, and a table of the functions that run them, which ends with nullptr.
std::string cuda_unit_text(const std::string& head, std::span<const ProgramKernel> kernels) {
  const std::string type = std::string("const char *(*const ") + kShimTable + "[])(void *const *, const long long *)";
  std::string table;
  for (const ProgramKernel& k : kernels) table += "  etch_shim::run<" + k.name + ", " + (k.text.has_barrier ? "true" : "false") + ">,\n";
  return head + text_of(kernels) + "extern \"C\" " + type + ";\n" + type + " = {\n" + table + "  nullptr\n};\n";
}

class CudaDevice : public Compiled {
 public:
  CudaDevice(const DeviceRow& row, const DeviceOptions& options) : Compiled(row, options), own_(options.get<CudaOptions>()) {
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

  void synchronize() const override {
    if (gpu_) gpu_->wait();
  }

  std::shared_ptr<const Compiler> compiler() const override {
    if (const std::string why = missing(); !why.empty()) throw DeviceError("CUDA device", why, "install a GPU's driver, or g++ or clang++");
    if (gpu_) return gpu_->compiler(own_.contract, options().cache);
    HostCompilerOptions host{.what = "C++ compiler",
                             .program = *find(),
                             .flags = own_.flags,
                             .timeout_s = options().timeout_s,
                             .extension = ".cc",
                             .files = {{"cuda_shim.h", std::string(cuda_shim())}}};
    host.flags.push_back(own_.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
    return std::make_shared<HostCompiler>(std::move(host), options().cache);
  }

  std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const override {
    const std::string prelude = language()->prelude(helpers_of(kernels)) + definitions_of(kernels) + "\n";
    if (gpu_) return {prelude + text_of(kernels)};
    const std::string head = pragmas_for(kernels) + "#include \"cuda_shim.h\"\n" + prelude;
    std::vector<std::string> units;
    for (const std::span<const ProgramKernel> part : parts_of(kernels, kCudaSplitBytes, own_.compile_jobs))
      units.push_back(cuda_unit_text(head, part));
    return units;
  }

  std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                     std::span<const ProgramKernel> kernels) const override {
    if (gpu_) return gpu_->load(binaries.at(0), kernels);
    return std::make_shared<ShimLibrary>(binaries, kernels);
  }
  std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const override {
    return gpu_ ? gpu_->make_graph(std::move(nodes)) : Compiled::make_graph(std::move(nodes));
  }

 private:
  // No two buffers share a line of a GPU's cache, and work-items run in no order: what one reads no other one writes.
  PlanOptions plan_options() const override { return {.align = 256, .parts = false}; }
  std::shared_ptr<Allocator> make_allocator() const override { return gpu_ ? gpu_->memory() : Compiled::make_allocator(); }

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
