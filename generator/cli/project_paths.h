// Where the tool finds its own data files: target descriptions and toolchain files.
#pragma once

#include <filesystem>
#include <vector>

namespace etch {

/// targets/ and toolchains/ of the source tree the tool was built from.
std::filesystem::path default_targets_dir();
/// Folders in which targets are looked for: `own` (--targets-dir; empty: none), then default_targets_dir().
std::vector<std::filesystem::path> target_dirs(const std::filesystem::path& own);
std::filesystem::path default_toolchains_dir();

}  // namespace etch
