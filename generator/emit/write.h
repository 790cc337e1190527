// Putting files on the disk: all of them, or none. Everything is written to a temporary folder on the same file system and then
// takes its place by renaming.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/files.h"
#include "emit/emit.h"

namespace etch {

/// Writes `files` as folder `dir` (a symbolic link: as the folder that it names). An empty folder, or one in which every file is
/// named by the list "files" of its own report.json, is replaced, file by file; anything else in it is a UserError that names it,
/// as are a full disk and missing rights; then nothing is left behind and what was there is unchanged.
/// `inspect`, if given, sees the complete temporary folder before it is renamed: it may add to it (audit results), and an
/// exception from it ends the work like an error of writing.
void write_project(const std::filesystem::path& dir, const std::vector<EmittedFile>& files,
                   const std::function<void(const std::filesystem::path&)>& inspect = {});

/// Puts `files` into folder `dir`, which is made if it is not there; other files in it stay. All are there in the end, or on a
/// UserError none of them, and a folder that was made is gone.
void write_into(const std::filesystem::path& dir, const std::vector<EmittedFile>& files);

}  // namespace etch
