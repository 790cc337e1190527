#include "base/installation.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/process.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

struct Prefixes {
  std::mutex mutex;
  std::vector<fs::path> named;
};
Prefixes& prefixes() {
  static Prefixes prefixes;
  return prefixes;
}

// The folder above that of a program: "/usr" of "/usr/bin/etch". Symbolic links are followed.
fs::path prefix_of(const fs::path& program) {
  std::error_code absent;
  return fs::canonical(program, absent).parent_path().parent_path();
}

}  // namespace

void use_installation(const fs::path& prefix) {
  Prefixes& all = prefixes();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.named, prefix) == all.named.end()) all.named.push_back(prefix);
}

fs::path own_file(std::string_view name, const fs::path& in_build) {
  std::vector<fs::path> files{prefix_of("/proc/self/exe") / name};
  {
    Prefixes& all = prefixes();
    const std::lock_guard lock(all.mutex);
    for (const fs::path& prefix : all.named) files.push_back(prefix / name);
  }
  if (!in_build.empty()) files.push_back(in_build);
  if (const auto tool = find_program("etch")) files.push_back(prefix_of(*tool) / name);
  const auto found = std::ranges::find_if(files, [](const fs::path& file) {
    std::error_code unreadable;
    return fs::exists(file, unreadable);
  });
  return found == files.end() ? files.front() : *found;
}

}  // namespace etch
