// A GPU through CUDA's driver. Its libraries are looked for when they are wanted, so etch is built and runs without them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/allocator.h"
#include "device/compiler.h"
#include "device/kernel_graph.h"
#include "device/loaded_kernel.h"

namespace etch {

class CudaGpu {
 public:
  virtual ~CudaGpu() = default;
  /// "NVIDIA H100 (sm_90, CUDA 13.0)"
  virtual std::string description() const = 0;
  /// What compiles for this GPU; with `contract` a * b + c may be rounded once.
  virtual std::shared_ptr<const Compiler> compiler(bool contract, CacheOptions cache) const = 0;
  /// Kernels of a binary of that compiler, ready to run. Throws DeviceError.
  virtual std::shared_ptr<const KernelLibrary> load(const std::string& binary, std::span<const ProgramKernel> kernels) const = 0;
  /// Memory that the GPU and the processor both use; it moves to where it is touched.
  virtual std::shared_ptr<Allocator> memory() const = 0;
  /// A graph of the driver, of kernels that load() made. Throws GraphException if the driver has no graphs or refuses this one.
  virtual std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const = 0;
  /// Waits for all kernels that were started. Throws DeviceError.
  virtual void wait() const = 0;
};

/// The first GPU; null, and why in one line, if there is none that can be used.
std::shared_ptr<CudaGpu> open_cuda(std::string* why);

/// What NVRTC, CUDA's compiler as a library, makes of `text` for a GPU of `capability` (90 is 9.0): its machine code, or PTX if it knows
/// no GPU that new; behind it the PTX to read, for ptx_of. Throws DeviceError with the first lines of what it said, or that it is not
/// there.
std::string compile_cuda(const std::string& text, int capability, bool contract);
/// The PTX of such a binary.
std::string ptx_of(const std::string& binary);

}  // namespace etch
