#include "cli/project_paths.h"

namespace etch {

std::filesystem::path default_targets_dir() { return ETCH_SOURCE_DIR "/targets"; }
std::filesystem::path default_runtime_dir() { return ETCH_SOURCE_DIR "/runtime_c"; }
std::filesystem::path default_toolchains_dir() { return ETCH_SOURCE_DIR "/toolchains"; }

}  // namespace etch
