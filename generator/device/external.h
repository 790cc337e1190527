// Kernels that are functions in C (ExternalKernel), as a device of any kind runs them: on this machine, each call in a process of its own,
// which sees the buffers in memory with guards around them. A function that crashes, hangs or writes outside of its outputs is an
// error that names it, and changes nothing here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/loaded_kernel.h"
#include "device/runner.h"

namespace etch {

class SharedObject;

/// Its buffers are addresses in this process, each for as many elements as the kernel's argument has.
class ExternalLibrary : public KernelLibrary {
 public:
  /// Compiles the functions of `kernels` by the C compiler of COptions, or finds them in the cache. DeviceError if there is no compiler, or
  /// it refuses a file.
  ExternalLibrary(std::span<const ProgramKernel> kernels, const DeviceOptions& options);
  ~ExternalLibrary() override;
  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& size) const override;

 private:
  struct Function {
    std::string place;  // "custom function leaky() of leaky.c"
    std::vector<KernelArgument> arguments;
    std::vector<std::string> variables;
  };
  std::vector<Function> functions_;
  double timeout_s_;
  std::unique_ptr<SharedObject> object_;
};

/// For each kernel of a program what runs it: of `generated` those that have a text, by their order among these. The others are functions
/// in C, of a library of their own.
std::vector<LoadedKernel> with_external(std::span<const ProgramKernel> kernels, const std::shared_ptr<const KernelLibrary>& generated,
                                        const DeviceOptions& options);
/// The kernels of a program that a device's own compiler makes: those that have a text, or an AST for the reference.
std::vector<ProgramKernel> without_external(std::span<const ProgramKernel> kernels);

/// Throws an error of a kernel that is a function in C again, with the nodes that `call` computes; any other one as it is.
[[noreturn]] void throw_with_nodes(const Program& program, const ProgramCall& call, const DeviceError& error);

/// What runs the function on Buffers of the device, for Device::get_runner. They are copied to memory of this process and back.
std::shared_ptr<JITRunner> make_external_runner(const Device& device, ProgramKernel kernel, const DeviceOptions& options,
                                                std::shared_ptr<const void> owner);

}  // namespace etch
