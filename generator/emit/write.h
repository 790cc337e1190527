// Writes files to disk, all of them or none: they are written to a temporary folder on the same file system, which is then renamed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "emit/emit.h"

namespace etch {

/// Writes `files` as folder `dir` (if that is a symbolic link: as the folder that it names). An existing folder is replaced, file by
/// file, if it is empty or the list "files" of its own report.json names every file in it. Any other file in it is a UserError that
/// names that file. A full disk and missing permissions are UserErrors too. After an error nothing is left behind, and what was there
/// is unchanged.
/// `inspect`, if given, gets the complete temporary folder before it is renamed: it may add files (audit results), and an exception
/// from it has the same effect as an error of writing.
void write_project(const std::filesystem::path& dir, const std::vector<EmittedFile>& files,
                   const std::function<void(const std::filesystem::path&)>& inspect = {});

/// UserError where write_project would refuse `dir` for what it is or holds now.
void require_replaceable(const std::filesystem::path& dir);

/// Files that lie complete in a temporary folder below theirs until commit() moves them there. What was not committed leaves nothing,
/// nor does an error.
class WaitingFiles {
 public:
  /// With a `mark`, a text in the first lines of each of `files`, only files that have it too are replaced: another one of the same name
  /// is a UserError. commit() then also removes the files of the folder that have the mark and are none of `files`.
  WaitingFiles(const std::filesystem::path& dir, const std::vector<EmittedFile>& files, std::string_view mark = {});
  ~WaitingFiles();
  WaitingFiles(const WaitingFiles&) = delete;
  WaitingFiles& operator=(const WaitingFiles&) = delete;
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes `files` into folder `dir`, which is made if it does not exist; other files in it stay. On a UserError none of `files` is
/// there, and a folder that was made is removed.
void write_into(const std::filesystem::path& dir, const std::vector<EmittedFile>& files);

}  // namespace etch
