// A temporary folder that is removed with its object, so that no half-made files are left behind, however the work ends (also
// by an interrupt: base/interrupt.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace etch {

/// Creates a new, empty, private folder; removes it with all that it holds in the destructor. Movable, not copyable.
class TempDir {
 public:
  /// Below system_temp(). Throws UserError if no folder can be made (full disk, no permission).
  explicit TempDir(std::string_view prefix = "etch");
  /// Below `parent`, so that its contents can be renamed into place on the same file system.
  TempDir(const std::filesystem::path& parent, std::string_view prefix);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  /// Takes over a folder that exists already: it is removed like one made here.
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

/// The folder of temporary files: $TMPDIR or its like (std::filesystem::temp_directory_path()), else /tmp. Throws UserError if that
/// is no folder.
std::filesystem::path system_temp();

/// Makes the folder `dir` where there is none. Why nothing can be made in it; empty: it can.
std::string why_not_writable(const std::filesystem::path& dir);

}  // namespace etch
