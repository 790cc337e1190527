// A LoadedKernel: one kernel that is ready to run on a device (tinygrad's Program; in etch a Program is a recorded run of many).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

/// The grid of a call in a language that has one: work-groups, and work-items in each.
struct LaunchSize {
  std::array<std::int64_t, 3> groups{1, 1, 1}, local{1, 1, 1};
  bool driver_groups = false;  // the driver may put the groups, which are of one work-item, together
};
/// The grid of `kernel` for these values of its variables.
LaunchSize launch_size(const ProgramKernel& kernel, const VarValues& vars);
/// The same work-items in groups of at most kDriverItems: dimension after dimension by the largest number that divides its size, in the
/// third at most 64.
LaunchSize in_groups(const LaunchSize& size);
/// Throws DeviceError, which names `where`, for more work-groups or work-items than the limits.
void check_size(const LaunchSize& size, const GridLimits& limits, const std::string& where);

/// Throws DeviceError unless each of `variables`, which are of the kind `what` ("dimension"), has a value in its range.
void check_values(const std::string& what, const std::vector<ProgramVariable>& variables, const VarValues& values);

/// Kernels that were compiled together.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  /// Starts kernel number `kernel`: `buffers` are what the device's allocator hands out, in the order of the arguments, `values` those of
  /// its variables. Kernels of a device run in the order in which they are started. Throws DeviceError.
  virtual void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize& size) const = 0;
  /// Waits for the end of all that was started. Throws DeviceError for what went wrong since.
  virtual void wait() const {}
};

class LoadedKernel {
 public:
  LoadedKernel(std::shared_ptr<const KernelLibrary> library, int kernel) : library_(std::move(library)), kernel_(kernel) {}
  /// Runs it, arguments as for KernelLibrary::launch. With `wait` the seconds until its end; else it may still be running.
  std::optional<double> operator()(std::span<void* const> buffers, const LaunchSize& size, std::span<const std::int32_t> values,
                                   bool wait) const;
  const std::shared_ptr<const KernelLibrary>& library() const { return library_; }
  /// Its number in the library.
  int number() const { return kernel_; }

 private:
  std::shared_ptr<const KernelLibrary> library_;
  int kernel_;
};

/// A kernel that is a function of this process: arg[i] is the i-th buffer, what it writes first; after the buffers come pointers to
/// int32_t variables in the order of ProgramKernel::variables.
using KernelFunction = void (*)(void* const* arg);
/// Arguments as such a function takes them.
class KernelArguments {
 public:
  KernelArguments(std::span<void* const> buffers, std::span<const std::int32_t> values);
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;
  void* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::int32_t> values_;
  std::vector<void*> pointers_;
};

}  // namespace etch
