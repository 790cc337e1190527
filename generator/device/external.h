// Runs kernels that are functions in C (ExternalKernel) on this machine, for any device that calls functions of the processor. Each call
// is a process of its own, which sees the buffers in memory with guards around them: a function that crashes, hangs or writes
// outside of its output is an error that names it, and changes nothing here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "program/program.h"

namespace etch {

class SharedObject;

class ExternalKernels {
 public:
  /// Compiles the functions by the C compiler of COptions; does nothing if the program has none. `program` must outlive it. DeviceError
  /// if there is no compiler, or it refuses a file.
  ExternalKernels(const Program& program, const DeviceOptions& options);
  ~ExternalKernels();

  /// The bytes that a call of an external kernel writes, `output_bytes` of them. `inputs`: in the order of the call's reads(). Throws
  /// DeviceError.
  std::vector<std::byte> run(const ProgramCall& call, const std::vector<std::span<const std::byte>>& inputs, std::int64_t output_bytes,
                             const VarValues& values) const;

 private:
  const Program* program_;
  double timeout_s_;
  std::unique_ptr<SharedObject> object_;
};

}  // namespace etch
