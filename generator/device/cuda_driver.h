// A GPU through CUDA's driver. Its libraries are looked for when they are wanted, so etch is built and runs without them.
#pragma once

#include <memory>
#include <string>

#include "device/compiler.h"

namespace etch {

class CudaGpu {
 public:
  virtual ~CudaGpu() = default;
  /// "NVIDIA H100 (sm_90, CUDA 13.0)"
  virtual std::string description() const = 0;
  /// Kernels of `program`, whose whole text is `text`, ready to run; with `contract` a * b + c may be rounded once. Throws DeviceError.
  virtual std::unique_ptr<KernelLibrary> compile(const Program& program, const std::string& text, bool contract) = 0;
};

/// The first GPU; null, and why in one line, if there is none that can be used.
std::shared_ptr<CudaGpu> open_cuda(std::string* why);

/// What NVRTC, CUDA's compiler as a library, makes of `text` for a GPU of `capability` (90 is 9.0): its machine code, or PTX if it knows
/// no GPU that new. Throws DeviceError with the first lines of what it said, or that it is not there.
std::string compile_cuda(const std::string& text, int capability, bool contract);

}  // namespace etch
