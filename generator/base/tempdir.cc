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

}  // namespace

std::filesystem::path system_temp() {
  std::error_code bad;
  const std::filesystem::path path = std::filesystem::temp_directory_path(bad);
  if (bad) throw UserError("the folder of temporary files", bad.message(), "let TMPDIR name a folder that is there, or unset it");
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

std::string why_not_writable(const std::filesystem::path& dir) {
  std::error_code bad;
  std::filesystem::create_directories(dir, bad);
  if (bad) return bad.message();
  try {
    const TempDir trial(dir, ".etch");
    return "";
  } catch (const UserError& error) {
    return error.problem().substr(error.problem().rfind(": ") + 2);
  }
}

}  // namespace etch
