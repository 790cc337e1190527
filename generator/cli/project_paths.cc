#include "cli/project_paths.h"

namespace etch {

std::filesystem::path default_targets_dir() { return ETCH_SOURCE_DIR "/targets"; }
std::vector<std::filesystem::path> target_dirs(const std::filesystem::path& own) {
  if (own.empty()) return {default_targets_dir()};
  return {own, default_targets_dir()};
}
std::filesystem::path default_toolchains_dir() { return ETCH_SOURCE_DIR "/toolchains"; }

}  // namespace etch
