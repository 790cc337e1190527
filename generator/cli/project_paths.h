// Where the tool finds the data that belongs to it: target descriptions, toolchain files, the runtime's sources.
#pragma once

#include <filesystem>

namespace etch {

/// targets/, runtime_c/ and toolchains/ of the source tree the tool was built from.
std::filesystem::path default_targets_dir();
std::filesystem::path default_runtime_dir();
std::filesystem::path default_toolchains_dir();

}  // namespace etch
