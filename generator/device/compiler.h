// From the texts of a program to functions in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "memory/plan.h"

namespace etch {

/// A kernel as every compiled language gives it: arg[i] is the i-th buffer, output first, then pointers to int32_t
/// variables in the order of ProgramKernel::variables.
using KernelFunction = void (*)(void* const* arg);

/// Compiled kernels; the functions are valid as long as it lives.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  virtual KernelFunction function(int kernel) const = 0;
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Throws DeviceError with the first lines of what the compiler said.
  virtual std::unique_ptr<KernelLibrary> compile(const Program& program) const = 0;
};

/// A program whose kernels are functions of this process, in memory as `plan` has it. The program must outlive it.
std::unique_ptr<LoadedProgram> make_compiled(const Program& program, std::unique_ptr<KernelLibrary> library, const PlanOptions& plan,
                                             bool guards);

}  // namespace etch
