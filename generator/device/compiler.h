// Compiles the texts of a program to functions in this process.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/allocator.h"
#include "device/device.h"
#include "device/replay.h"
#include "memory/plan.h"

namespace etch {

/// A compiled kernel of any language: arg[i] is the i-th buffer, output first; after the buffers come pointers to int32_t variables in
/// the order of ProgramKernel::variables.
using KernelFunction = void (*)(void* const* arg);

/// Compiled kernels.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  /// Runs a kernel to its end; `arg` as for KernelFunction. Throws DeviceError.
  virtual void run(int kernel, void* const* arg, const LaunchSize& size) const = 0;
  /// Where the kernels' buffers have to lie; null: anywhere in this process. It lives as long as the library.
  virtual Allocator* memory() const { return nullptr; }
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Throws DeviceError with the first lines of what the compiler said.
  virtual std::unique_ptr<KernelLibrary> compile(const Program& program) const = 0;
};

/// Kernels that follow each other, in parts of about the same amount of text: one part if there are less than `least` bytes, else at
/// most `jobs`; 0 is one per processor.
std::vector<std::span<const ProgramKernel>> parts_of(std::span<const ProgramKernel> kernels, std::size_t least, int jobs);

/// A program whose kernels are functions of this process and whose memory is planned with `plan`. `program` must outlive the
/// result.
std::unique_ptr<LoadedProgram> make_compiled(const Program& program, std::unique_ptr<KernelLibrary> library, const PlanOptions& plan,
                                             const DeviceOptions& options);

}  // namespace etch
