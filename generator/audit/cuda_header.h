// CUDA's declarations as far as emitted projects use them, so that their files can be parsed on a machine that has no CUDA toolkit (and by
// a Clang that does not know the toolkit's version).
#pragma once

#include <string_view>

namespace etch {

/// The text of a cuda_runtime_api.h, for the host's C.
std::string_view cuda_header();
/// Definitions in front of a .cu file, with which it is C++: the words of CUDA, and the numbers of threads and blocks.
std::string_view cuda_words();
/// The annotation that __global__ is there.
inline constexpr std::string_view kGpuKernel = "gpu kernel";

}  // namespace etch
