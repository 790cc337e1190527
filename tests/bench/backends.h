// Times of one network's kernels on two backends of this process.
#pragma once

#include <filesystem>
#include <string>

#include "figure.h"
#include "target/target.h"

namespace etch::bench {

/// LLVM against C by clang-19 with the target's flags: the same kernels, in turns, one thread. The figure is time by C / time by LLVM,
/// each the sum of every call's fastest run; the note names the call of at least a hundredth of the time where LLVM is slowest beside C.
/// Throws UserError if clang-19 is absent.
Figure llvm_beside_c(const std::string& name, const std::filesystem::path& model, const Target& target);

}  // namespace etch::bench
