#include "device/cuda_driver.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "device/cuda_libraries.h"
#include "device/device_error.h"

namespace etch {
namespace {

// Numbers of CUdevice_attribute and of flags in cuda.h.
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76, kManagedMemory = 83;
constexpr unsigned kAttachGlobal = 1, kNonBlocking = 1;
// Warnings of what texts mean, which would stand before an error: an unused function (of etch_math.h), a division by the constant 0.
constexpr const char* kMeant = "--diag-suppress=177,39";
constexpr int kPtxSizeBytes = 8;
constexpr std::size_t kShownLog = 2000;  // bytes of the compiler's message

// The machine's first GPU.
class Gpu : public CudaGpu, public std::enable_shared_from_this<Gpu> {
 public:
  /// Throws DeviceError, whose problem says in one line why there is no GPU.
  Gpu();
  ~Gpu() override {
    if (stream_ != nullptr && try_use()) driver_.stream_destroy(stream_);
    if (context_ != nullptr) driver_.context_release(device_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::string description() const override;
  std::shared_ptr<const Compiler> compiler(bool contract, CacheOptions cache) const override;
  std::shared_ptr<const KernelLibrary> load(const std::string& binary, std::span<const ProgramKernel> kernels) const override;
  std::shared_ptr<Allocator> memory() const override;
  std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const override;
  void wait() const override {
    use();
    ok(driver_.stream_wait(stream_), "waiting for the kernels");
  }

  const CudaDriver& driver() const { return driver_; }
  /// All kernels are started in it, so they run one after the other.
  void* stream() const { return stream_; }
  /// Makes this GPU the one that the thread's calls are for.
  void use() const { ok(driver_.context_set(context_), "context"); }
  /// The same in destructors, which have nobody to report to: after a crash of a kernel everything fails.
  bool try_use() const { return driver_.context_set(context_) == 0; }
  void ok(int result, const std::string& doing) const;

 private:
  CudaDriver driver_;
  int device_ = 0, capability_ = 0, version_ = 0;
  std::string name_;
  void *context_ = nullptr, *stream_ = nullptr;
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
  try {
    use();
    ok(driver_.stream_create(&stream_, kNonBlocking), "stream");
  } catch (const DeviceError&) {
    driver_.context_release(device_);
    throw;
  }
}

std::string Gpu::description() const {
  return name_ + " (sm_" + std::to_string(capability_) + ", CUDA " + std::to_string(version_ / 1000) + "." +
         std::to_string(version_ % 1000 / 10) + ")";
}

class ManagedMemory : public Allocator {
 public:
  explicit ManagedMemory(std::shared_ptr<const Gpu> gpu) : gpu_(std::move(gpu)) {}
  void copyin(void* memory, std::span<const std::byte> from) override {
    gpu_->wait();
    Allocator::copyin(memory, from);
  }
  void copyout(std::span<std::byte> to, void* memory) override {
    gpu_->wait();
    Allocator::copyout(to, memory);
  }
  std::byte* host_address(void* memory) const override { return static_cast<std::byte*>(memory); }

 protected:
  void* alloc_own(std::int64_t bytes) override {
    unsigned long long address = 0;
    gpu_->use();
    if (gpu_->driver().memory_managed(&address, static_cast<std::size_t>(bytes), kAttachGlobal) != 0) return nullptr;
    return reinterpret_cast<void*>(address);
  }
  void free_own(void* memory, std::int64_t) override {
    if (gpu_->try_use()) gpu_->driver().memory_free(reinterpret_cast<unsigned long long>(memory));
  }

 private:
  std::shared_ptr<const Gpu> gpu_;
};

class GpuLibrary : public KernelLibrary {
 public:
  GpuLibrary(std::shared_ptr<const Gpu> gpu, const std::string& code, std::span<const ProgramKernel> kernels) : gpu_(std::move(gpu)) {
    gpu_->use();
    gpu_->ok(driver().module_load(&module_, code.data()), "loading the kernels");
    for (const ProgramKernel& k : kernels) {
      functions_.push_back({k.name, nullptr});
      gpu_->ok(driver().module_function(&functions_.back().address, module_, k.name.c_str()), "kernel '" + k.name + "'");
    }
  }
  ~GpuLibrary() override {
    if (module_ != nullptr && gpu_->try_use()) driver().module_unload(module_);
  }
  GpuLibrary(const GpuLibrary&) = delete;
  GpuLibrary& operator=(const GpuLibrary&) = delete;

  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& wanted) const override {
    const Function& f = functions_.at(static_cast<std::size_t>(kernel));
    const LaunchSize size = in_groups(wanted);
    const std::string where = "kernel '" + f.name + "'";
    check_size(size, kCuda.limits, where);
    last_ = &f;
    if (std::ranges::find(size.groups, 0) != size.groups.end()) return;  // an empty grid
    // The driver takes the address of each argument.
    std::vector<const void*> addresses;
    for (void* const& buffer : buffers) addresses.push_back(&buffer);
    for (const std::int32_t& value : values) addresses.push_back(&value);
    const auto part = [](std::int64_t n) { return static_cast<unsigned>(n); };
    const auto &g = size.groups, &l = size.local;
    gpu_->use();
    gpu_->ok(driver().launch(f.address, part(g[0]), part(g[1]), part(g[2]), part(l[0]), part(l[1]), part(l[2]), 0, gpu_->stream(),
                             const_cast<void**>(addresses.data()), nullptr),
             where);
  }
  void* address(int kernel) const { return functions_.at(static_cast<std::size_t>(kernel)).address; }
  const std::string& name(int kernel) const { return functions_.at(static_cast<std::size_t>(kernel)).name; }
  // An error is said to be that of the kernel that was started last.
  void wait() const override {
    if (last_ == nullptr) return;
    gpu_->use();
    gpu_->ok(driver().stream_wait(gpu_->stream()), "kernel '" + last_.load()->name + "'");
  }

 private:
  struct Function {
    std::string name;
    void* address = nullptr;
  };
  const CudaDriver& driver() const { return gpu_->driver(); }

  std::shared_ptr<const Gpu> gpu_;
  void* module_ = nullptr;
  std::vector<Function> functions_;
  mutable std::atomic<const Function*> last_ = nullptr;
};

// Runs that follow each other as a graph of the driver, which starts them without the processor.
class GpuGraph : public KernelGraph {
 public:
  GpuGraph(std::shared_ptr<const Gpu> gpu, std::vector<GraphNode> nodes) : gpu_(std::move(gpu)), nodes_(std::move(nodes)) {
    if (!driver_.library.missing().empty()) throw GraphException("CUDA, graphs", driver_.library.missing());
    gpu_->use();
    try {
      build();
    } catch (const DeviceError& e) {
      destroy();
      throw GraphException(e.where(), e.problem());
    }
  }
  ~GpuGraph() override {
    if (gpu_->try_use()) destroy();
  }
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;

  void update(std::size_t node, const GraphNode& changed) override {
    nodes_.at(node) = changed;
    if (is_empty(changed)) return;  // launch() then starts the kernels one by one
    Arguments arguments(nodes_[node]);
    gpu_->use();
    gpu_->ok(driver_.set_kernel(executable_, handles_.at(node), &arguments.kernel), "arguments of " + where(nodes_[node]));
  }
  void launch() override {
    if (std::ranges::any_of(nodes_, is_empty)) {
      for (const GraphNode& n : nodes_) n.library->launch(n.kernel, n.buffers, n.values, n.size);
      return;
    }
    gpu_->use();
    gpu_->ok(driver_.launch(executable_, gpu_->stream()), "graph from " + where(nodes_.front()) + " to " + where(nodes_.back()));
  }
  void wait() override { gpu_->wait(); }

 private:
  // A kernel with the addresses of its arguments, as the driver takes it; it lives no longer than the node.
  struct Arguments {
    explicit Arguments(const GraphNode& node) {
      const LaunchSize size = in_groups(node.size);
      check_size(size, kCuda.limits, where(node));
      for (void* const& buffer : node.buffers) addresses.push_back(&buffer);
      for (const std::int32_t& value : node.values) addresses.push_back(&value);
      const auto part = [](std::int64_t n) { return static_cast<unsigned>(n); };
      const auto &g = size.groups, &l = size.local;
      kernel = {library(node).address(node.kernel),   part(g[0]), part(g[1]), part(g[2]), part(l[0]), part(l[1]), part(l[2]), 0,
                const_cast<void**>(addresses.data()), nullptr};
    }
    std::vector<const void*> addresses;
    CudaGraphs::KernelNode kernel{};
  };

  static const GpuLibrary& library(const GraphNode& node) { return dynamic_cast<const GpuLibrary&>(*node.library); }
  static std::string where(const GraphNode& node) { return "kernel '" + library(node).name(node.kernel) + "'"; }
  static bool is_empty(const GraphNode& node) { return std::ranges::find(node.size.groups, 0) != node.size.groups.end(); }

  void build() {
    gpu_->ok(driver_.create(&graph_, 0), "graph");
    for (const GraphNode& n : nodes_) {
      if (is_empty(n)) throw DeviceError("CUDA, " + where(n), "has no work-items");
      const Arguments arguments(n);
      void* const after = handles_.empty() ? nullptr : handles_.back();
      gpu_->ok(driver_.add_kernel(&handles_.emplace_back(), graph_, &after, after == nullptr ? 0 : 1, &arguments.kernel), where(n));
    }
    gpu_->ok(driver_.instantiate(&executable_, graph_, 0), "graph");
  }
  void destroy() {
    if (executable_ != nullptr) driver_.executable_destroy(executable_);
    if (graph_ != nullptr) driver_.destroy(graph_);
    executable_ = graph_ = nullptr;
  }

  std::shared_ptr<const Gpu> gpu_;
  CudaGraphs driver_;
  std::vector<GraphNode> nodes_;
  std::vector<void*> handles_;  // of the graph's nodes
  void *graph_ = nullptr, *executable_ = nullptr;
};

std::unique_ptr<KernelGraph> Gpu::make_graph(std::vector<GraphNode> nodes) const {
  return std::make_unique<GpuGraph>(shared_from_this(), std::move(nodes));
}

class CudaCompiler : public Compiler {
 public:
  CudaCompiler(int capability, bool contract, CacheOptions cache)
      : Compiler(std::move(cache)), capability_(capability), contract_(contract) {}
  std::string cachekey() const override {
    const Nvrtc nvrtc;
    int major = 0, minor = 0;
    if (nvrtc.library.missing().empty()) nvrtc.version(&major, &minor);
    return "NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " " + std::to_string(capability_) +
           (contract_ ? " contract" : "");
  }
  std::string compile(const std::string& text) const override { return compile_cuda(text, capability_, contract_); }
  std::string disassemble(const std::string& binary) const override { return ptx_of(binary); }

 private:
  int capability_;
  bool contract_;
};

std::shared_ptr<const Compiler> Gpu::compiler(bool contract, CacheOptions cache) const {
  return std::make_shared<CudaCompiler>(capability_, contract, std::move(cache));
}

std::shared_ptr<const KernelLibrary> Gpu::load(const std::string& binary, std::span<const ProgramKernel> kernels) const {
  return std::make_shared<GpuLibrary>(shared_from_this(), binary, kernels);
}

std::shared_ptr<Allocator> Gpu::memory() const { return std::make_shared<ManagedMemory>(shared_from_this()); }

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
  std::size_t code_bytes = 0, ptx_bytes = 0;
  nvrtc_ok(nvrtc, nvrtc.ptx_size(made, &ptx_bytes));
  if (architecture.is_real) nvrtc_ok(nvrtc, nvrtc.code_size(made, &code_bytes));
  std::string binary(code_bytes + ptx_bytes, '\0');
  if (architecture.is_real) nvrtc_ok(nvrtc, nvrtc.code(made, binary.data()));
  nvrtc_ok(nvrtc, nvrtc.ptx(made, binary.data() + code_bytes));
  // Its number of bytes at the very end tells where the PTX begins. A driver reads machine code up to its end, PTX up to a 0.
  for (int i = 0; i < kPtxSizeBytes; i++) binary += static_cast<char>(ptx_bytes >> (8 * i) & 0xFF);
  return binary;
}

std::string ptx_of(const std::string& binary) {
  std::size_t bytes = 0;
  const std::size_t tail = static_cast<std::size_t>(kPtxSizeBytes);
  check(binary.size() >= tail, "a binary of NVRTC says how much PTX it has");
  for (std::size_t i = tail; i-- > 0;) bytes = bytes << 8 | static_cast<unsigned char>(binary[binary.size() - tail + i]);
  check(bytes <= binary.size() - tail, "a binary of NVRTC holds its PTX");
  return binary.substr(binary.size() - tail - bytes, bytes).c_str();
}

}  // namespace etch
