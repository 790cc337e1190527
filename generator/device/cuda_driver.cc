#include "device/cuda_driver.h"

#include <algorithm>

#include "device/cuda_libraries.h"

namespace etch {
namespace {

// Numbers of CUdevice_attribute and of flags in cuda.h.
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76, kManagedMemory = 83;
constexpr unsigned kAttachGlobal = 1, kNonBlocking = 1;
// Warnings of what texts mean, which would stand before an error: an unused function (of etch_math.h), a division by the constant 0.
constexpr const char* kMeant = "--diag-suppress=177,39";
constexpr std::size_t kShownLog = 2000;  // bytes of the compiler's message

// The machine's first GPU.
class Gpu : public CudaGpu, public std::enable_shared_from_this<Gpu> {
 public:
  /// Throws DeviceError, whose problem says in one line why there is no GPU.
  Gpu();
  ~Gpu() override {
    if (context_ != nullptr) driver_.context_release(device_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::string description() const override;
  std::unique_ptr<KernelLibrary> compile(const Program& program, const std::string& text, bool contract) override;

  const CudaDriver& driver() const { return driver_; }
  /// Makes this GPU the one that the thread's calls are for.
  void use() const { ok(driver_.context_set(context_), "context"); }
  /// The same in destructors, which have nobody to report to: after a crash of a kernel everything fails.
  bool try_use() const { return driver_.context_set(context_) == 0; }
  void ok(int result, const std::string& doing) const;

 private:
  CudaDriver driver_;
  int device_ = 0, capability_ = 0, version_ = 0;
  std::string name_;
  void* context_ = nullptr;
};

void Gpu::ok(int result, const std::string& doing) const {
  if (result == 0) return;
  const char* text = nullptr;
  const bool known = driver_.error_string(result, &text) == 0 && text != nullptr;
  throw DeviceError("CUDA, " + doing, "error " + std::to_string(result) + (known ? std::string(": ") + text : ""));
}

Gpu::Gpu() {
  if (!driver_.library.missing().empty()) throw DeviceError("CUDA", "no driver: " + driver_.library.missing());
  if (const Nvrtc nvrtc; !nvrtc.library.missing().empty()) throw DeviceError("CUDA", "no NVRTC: " + nvrtc.library.missing());
  int count = 0, major = 0, minor = 0, managed = 0;
  ok(driver_.init(0), "start");
  ok(driver_.driver_version(&version_), "version");
  ok(driver_.device_count(&count), "number of devices");
  if (count == 0) throw DeviceError("CUDA", "the driver has no device");
  ok(driver_.device_get(&device_, 0), "device");
  char name[256] = "";
  ok(driver_.device_name(name, sizeof name, device_), "device's name");
  name_ = name;
  ok(driver_.device_attribute(&major, kCapabilityMajor, device_), "capability");
  ok(driver_.device_attribute(&minor, kCapabilityMinor, device_), "capability");
  ok(driver_.device_attribute(&managed, kManagedMemory, device_), "memory");
  if (managed == 0) throw DeviceError("CUDA", name_ + " has no memory that it shares with the processor");
  capability_ = 10 * major + minor;
  ok(driver_.context_retain(&context_, device_), "context");
}

std::string Gpu::description() const {
  return name_ + " (sm_" + std::to_string(capability_) + ", CUDA " + std::to_string(version_ / 1000) + "." +
         std::to_string(version_ % 1000 / 10) + ")";
}

/// Memory that the GPU and the processor both use; it moves to where it is touched.
class ManagedMemory : public Allocator {
 public:
  explicit ManagedMemory(const Gpu& gpu) : gpu_(&gpu) {}
  void* allocate(std::int64_t bytes) override {
    unsigned long long address = 0;
    gpu_->use();
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    if (gpu_->driver().memory_managed(&address, size, kAttachGlobal) != 0) return nullptr;
    return reinterpret_cast<void*>(address);
  }
  void release(void* memory, std::int64_t) override {
    if (gpu_->try_use()) gpu_->driver().memory_free(reinterpret_cast<unsigned long long>(memory));
  }

 private:
  const Gpu* gpu_;
};

class GpuLibrary : public KernelLibrary {
 public:
  GpuLibrary(std::shared_ptr<const Gpu> gpu, const Program& program, const std::string& code)
      : gpu_(std::move(gpu)), program_(&program), memory_(*gpu_) {
    gpu_->use();
    gpu_->ok(driver().module_load(&module_, code.data()), "loading the kernels");
    for (const ProgramKernel& k : program.kernels) {
      functions_.emplace_back();
      gpu_->ok(driver().module_function(&functions_.back(), module_, k.name.c_str()), "kernel '" + k.name + "'");
    }
    gpu_->ok(driver().stream_create(&stream_, kNonBlocking), "stream");
  }
  ~GpuLibrary() override {
    if (!gpu_->try_use()) return;
    if (stream_ != nullptr) driver().stream_destroy(stream_);
    if (module_ != nullptr) driver().module_unload(module_);
  }
  GpuLibrary(const GpuLibrary&) = delete;
  GpuLibrary& operator=(const GpuLibrary&) = delete;

  // Waits for the kernel's end: the host may read the memory then, and an error is this kernel's.
  void run(int kernel, void* const* arg, const LaunchSize& wanted) const override {
    const ProgramKernel& k = program_->kernels[static_cast<std::size_t>(kernel)];
    const LaunchSize size = in_groups(wanted);
    const std::string where = "kernel '" + k.name + "'";
    check_size(size, program_->language->limits, where);
    if (std::ranges::find(size.groups, 0) != size.groups.end()) return;  // an empty grid
    // The driver takes the address of each argument: that of a buffer's pointer, and of a variable what `arg` holds.
    std::vector<const void*> addresses;
    for (std::size_t i = 0; i < k.arguments.size(); i++) addresses.push_back(&arg[i]);
    for (std::size_t v = 0; v < k.variables.size(); v++) addresses.push_back(arg[k.arguments.size() + v]);
    const auto part = [](std::int64_t n) { return static_cast<unsigned>(n); };
    const auto &g = size.groups, &l = size.local;
    gpu_->use();
    gpu_->ok(driver().launch(functions_.at(static_cast<std::size_t>(kernel)), part(g[0]), part(g[1]), part(g[2]), part(l[0]), part(l[1]),
                             part(l[2]), 0, stream_, const_cast<void**>(addresses.data()), nullptr),
             where);
    gpu_->ok(driver().stream_wait(stream_), where);
  }
  Allocator* memory() const override { return &memory_; }

 private:
  const CudaDriver& driver() const { return gpu_->driver(); }

  std::shared_ptr<const Gpu> gpu_;
  const Program* program_;
  mutable ManagedMemory memory_;
  void *module_ = nullptr, *stream_ = nullptr;
  std::vector<void*> functions_;
};

std::unique_ptr<KernelLibrary> Gpu::compile(const Program& program, const std::string& text, bool contract) {
  return std::make_unique<GpuLibrary>(shared_from_this(), program, compile_cuda(text, capability_, contract));
}

void nvrtc_ok(const Nvrtc& nvrtc, int result) {
  if (result != 0) throw DeviceError("NVRTC", nvrtc.error_string(result));
}

/// What NVRTC makes code for.
struct Architecture {
  std::string name;
  bool is_real = false;  // machine code comes out, else PTX
};

// "sm_90" if NVRTC knows that GPU, else the newest before it as "compute_89".
Architecture architecture_for(const Nvrtc& nvrtc, int capability) {
  int count = 0;
  nvrtc_ok(nvrtc, nvrtc.architecture_count(&count));
  std::vector<int> known(static_cast<std::size_t>(count));
  nvrtc_ok(nvrtc, nvrtc.architectures(known.data()));
  if (std::ranges::find(known, capability) != known.end()) return {"sm_" + std::to_string(capability), true};
  std::erase_if(known, [&](int k) { return k > capability; });
  if (known.empty()) throw DeviceError("NVRTC", "it is too new for a GPU of capability " + std::to_string(capability));
  return {"compute_" + std::to_string(*std::ranges::max_element(known)), false};
}

std::string log_of(const Nvrtc& nvrtc, void* program) {
  std::size_t bytes = 0;
  nvrtc_ok(nvrtc, nvrtc.log_size(program, &bytes));
  std::string log(bytes, '\0');
  if (bytes > 0) nvrtc_ok(nvrtc, nvrtc.log(program, log.data()));
  return std::string(log.c_str()).substr(0, kShownLog);
}

}  // namespace

std::shared_ptr<CudaGpu> open_cuda(std::string* why) {
  try {
    return std::make_shared<Gpu>();
  } catch (const DeviceError& e) {
    *why = e.problem();
    return nullptr;
  }
}

std::string compile_cuda(const std::string& text, int capability, bool contract) {
  const Nvrtc nvrtc;
  if (!nvrtc.library.missing().empty()) throw DeviceError("NVRTC", nvrtc.library.missing(), "install CUDA's toolkit");
  const Architecture architecture = architecture_for(nvrtc, capability);
  const std::string flag = "--gpu-architecture=" + architecture.name;
  const char* options[] = {flag.c_str(), "--std=c++17", contract ? "--fmad=true" : "--fmad=false", kMeant};
  void* made = nullptr;
  nvrtc_ok(nvrtc, nvrtc.create(&made, text.c_str(), "kernels.cu", 0, nullptr, nullptr));
  const auto destroy = [&](void* program) { nvrtc.destroy(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(made, destroy);
  if (const int result = nvrtc.compile(made, static_cast<int>(std::size(options)), options); result != 0)
    throw DeviceError("NVRTC", nvrtc.error_string(result) + std::string("\n") + log_of(nvrtc, made),
                      "if the text is CUDA, this is a bug of etch");
  std::size_t bytes = 0;
  nvrtc_ok(nvrtc, (architecture.is_real ? nvrtc.code_size : nvrtc.ptx_size)(made, &bytes));
  std::string code(bytes, '\0');
  nvrtc_ok(nvrtc, (architecture.is_real ? nvrtc.code : nvrtc.ptx)(made, code.data()));
  return code;
}

}  // namespace etch
