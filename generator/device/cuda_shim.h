// CUDA on a processor: the text that makes C++17 of generated kernels, and runs them. It is compiled in front of the kernels of a unit.
#pragma once

#include <string_view>

namespace etch {

/// Defines the words of CUDA that kernels use, and etch_shim::run<kernel, has_barrier>, a function of that type:
///   const char *run(void *const *arg, const long long *size)
/// `size`: work-groups x, y, z and work-items x, y, z. It returns null, or what the kernel did wrong.
///
/// Work-groups run one after the other. The work-items of a group run one after the other too, each up to the next barrier, first to
/// last or last to first: the order turns at every barrier and from group to group, so that where a barrier is missing one of the two
/// orders shows it. Before each launch shared memory is filled with NaN.
std::string_view cuda_shim();

/// The type of run().
using CudaShimFunction = const char* (*)(void* const* arg, const long long* size);

}  // namespace etch
