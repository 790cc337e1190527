#include "base/tempdir.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace etch {
namespace {

std::filesystem::path make_unique(const std::filesystem::path& parent, std::string_view prefix) {
  std::string name = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    throw UserError(parent.string(), std::string("a temporary folder cannot be made here: ") + std::strerror(errno),
                    "check that the folder exists, is writable and has space; TMPDIR names another one");
  return name;
}

std::filesystem::path system_temp() {
  std::error_code bad;
  std::filesystem::path path = std::filesystem::temp_directory_path(bad);
  return bad ? std::filesystem::path("/tmp") : path;
}

bool is_executable(const std::filesystem::path& path) {
  std::error_code bad;
  return std::filesystem::is_regular_file(path, bad) && access(path.c_str(), X_OK) == 0;
}

/// The value of PATH. Where programs are is the one thing that the environment decides below cli/.
std::string_view search_path() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with("PATH=")) return std::string_view(*entry).substr(5);
  return "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

TempDir::TempDir(std::string_view prefix) : path_(make_unique(system_temp(), prefix)) {}

TempDir::TempDir(const std::filesystem::path& parent, std::string_view prefix) : path_(make_unique(parent, prefix)) {}

TempDir::TempDir(TempDir&& other) noexcept : path_(other.release()) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDir::release() { return std::exchange(path_, {}); }

std::optional<std::filesystem::path> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path(name);
    return is_executable(path) ? std::optional(path) : std::nullopt;
  }
  std::string_view rest = search_path();
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    std::filesystem::path path = (folder.empty() ? std::filesystem::path(".") : std::filesystem::path(folder)) / name;
    if (is_executable(path)) return path;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace etch
