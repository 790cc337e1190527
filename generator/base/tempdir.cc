#include "base/tempdir.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"

namespace etch {
namespace {

std::filesystem::path make_unique(const std::filesystem::path& parent, std::string_view prefix) {
  const auto held = hold_interrupts();
  std::string name = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    throw UserError(parent.string(), std::string("a temporary folder cannot be made here: ") + std::strerror(errno),
                    "check that the folder exists, is writable and has space; TMPDIR names another one");
  register_temporary(name);
  return name;
}

/// An environment variable. Outside cli/ the environment decides only where programs and temporary folders are.
std::optional<std::string> environment(std::string_view name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    const std::string_view text(*entry);
    if (text.starts_with(name) && text.substr(name.size()).starts_with('=')) return std::string(text.substr(name.size() + 1));
  }
  return std::nullopt;
}

bool is_executable(const std::filesystem::path& path) {
  std::error_code bad;
  return std::filesystem::is_regular_file(path, bad) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::filesystem::path system_temp() {
  const std::filesystem::path path = environment("TMPDIR").value_or("");
  if (path.empty()) return "/tmp";
  std::error_code bad;
  if (!std::filesystem::is_directory(path, bad))
    throw UserError("TMPDIR=" + path.string(), "is not a folder", "let TMPDIR name a folder that is there, or unset it");
  return path;
}

TempDir::TempDir(std::string_view prefix) : path_(make_unique(system_temp(), prefix)) {}

TempDir::TempDir(const std::filesystem::path& parent, std::string_view prefix) : path_(make_unique(parent, prefix)) {}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  forget_temporary(path_);
}

TempDir TempDir::adopt(const std::filesystem::path& path) {
  register_temporary(path);
  return TempDir(Adopted{path});
}

std::filesystem::path TempDir::release() {
  if (!path_.empty()) forget_temporary(path_);
  return std::exchange(path_, {});
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path(name);
    return is_executable(path) ? std::optional(path) : std::nullopt;
  }
  const std::string path_variable = environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::string_view rest = path_variable;
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
