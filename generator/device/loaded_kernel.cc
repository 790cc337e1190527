#include "device/loaded_kernel.h"

#include <chrono>

#include "base/error.h"

namespace etch {

LaunchSize launch_size(const ProgramKernel& kernel, const VarValues& vars) {
  LaunchSize size;
  check(kernel.global_size.size() <= size.groups.size() && kernel.local_size.size() <= size.local.size(),
        "a grid has at most three dimensions");
  for (std::size_t d = 0; d < kernel.global_size.size(); d++) size.groups[d] = evaluate(kernel.global_size[d], vars);
  for (std::size_t d = 0; d < kernel.local_size.size(); d++) size.local[d] = evaluate(kernel.local_size[d], vars);
  return size;
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
