#include "device/loaded_kernel.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "device/device_error.h"

namespace etch {

LaunchSize launch_size(const ProgramKernel& kernel, const VarValues& vars) {
  LaunchSize size;
  check(kernel.global_size.size() <= size.groups.size() && kernel.local_size.size() <= size.local.size(),
        "a grid has at most three dimensions");
  for (std::size_t d = 0; d < kernel.global_size.size(); d++) size.groups[d] = evaluate(kernel.global_size[d], vars);
  for (std::size_t d = 0; d < kernel.local_size.size(); d++) size.local[d] = evaluate(kernel.local_size[d], vars);
  size.driver_groups = kernel.driver_groups;
  return size;
}

namespace {
constexpr std::int64_t kDeepestGroup = 64;  // items in the third dimension, says CUDA
}

LaunchSize in_groups(const LaunchSize& size) {
  LaunchSize result = size;
  result.driver_groups = false;
  std::int64_t most = kDriverItems;
  for (std::size_t d = 0; d < 3 && size.driver_groups; d++) {
    const std::int64_t allowed = d == 2 ? std::min(most, kDeepestGroup) : most;
    std::int64_t items = std::min(allowed, std::max<std::int64_t>(size.groups[d], 1));
    while (size.groups[d] % items != 0) items--;
    result.groups[d] = size.groups[d] / items;
    result.local[d] = items;
    most /= items;
  }
  return result;
}

void check_size(const LaunchSize& size, const GridLimits& limits, const std::string& where) {
  for (std::size_t d = 0; d < 3; d++) {
    if (size.groups[d] <= limits.groups[d] && size.local[d] <= limits.items[d]) continue;
    throw DeviceError(where, "dimension " + std::to_string(d) + " has " + std::to_string(size.groups[d]) + " work-groups of " +
                                 std::to_string(size.local[d]) + " items, CUDA takes at most " + std::to_string(limits.groups[d]) + " of " +
                                 std::to_string(limits.items[d]));
  }
}

void check_values(const std::string& what, const std::vector<ProgramVariable>& variables, const VarValues& values) {
  for (const ProgramVariable& v : variables) {
    const auto found = values.find(v.name);
    const std::string where = what + " '" + v.name + "'", range = std::to_string(v.min) + " to " + std::to_string(v.max);
    if (found == values.end()) throw DeviceError(where, "has no value", "give it one from " + range);
    if (found->second < v.min || found->second > v.max)
      throw DeviceError(where, "is " + std::to_string(found->second) + ", accepted is " + range);
  }
}

KernelArguments::KernelArguments(std::span<void* const> buffers, std::span<const std::int32_t> values)
    : values_(values.begin(), values.end()), pointers_(buffers.begin(), buffers.end()) {
  for (std::int32_t& v : values_) pointers_.push_back(&v);
}

std::optional<double> LoadedKernel::operator()(std::span<void* const> buffers, const LaunchSize& size, std::span<const std::int32_t> values,
                                               bool wait) const {
  const auto begin = std::chrono::steady_clock::now();
  library_->launch(kernel_, buffers, values, size);
  if (!wait) return std::nullopt;
  library_->wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace etch
