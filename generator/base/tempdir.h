// A folder of its own under the system's temporary folder, gone when the object goes: what is half made is never left
// behind, whichever way the work ends (an interrupt too: base/interrupt.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace etch {

/// Creates a new, empty, private folder; removes it with all that it holds in the destructor. Movable, not copyable.
class TempDir {
 public:
  /// Below system_temp(). Throws UserError where no folder can be made (full disk, no right).
  explicit TempDir(std::string_view prefix = "etch");
  /// Below `parent`, so that its contents can be renamed into place on the same file system.
  TempDir(const std::filesystem::path& parent, std::string_view prefix);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  /// A folder that is there already, from now on as temporary as one made here.
  static TempDir adopt(const std::filesystem::path& path);
  /// Gives the folder away: the destructor no longer removes it.
  std::filesystem::path release();

 private:
  struct Adopted {
    std::filesystem::path path;
  };
  explicit TempDir(Adopted adopted) : path_(std::move(adopted.path)) {}
  std::filesystem::path path_;
};

/// $TMPDIR, else /tmp. Throws UserError where TMPDIR names no folder.
std::filesystem::path system_temp();

/// Where `name` is found: as a path when it contains a slash, else along PATH. Nothing when there is no such executable.
std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace etch
