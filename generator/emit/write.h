// Putting a project on the disk: all of it, or nothing. Everything is written to a folder beside the target, which then takes
// its place by renaming.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/files.h"
#include "emit/emit.h"

namespace etch {

/// Writes `files` as folder `dir`. A folder that etch wrote before (it holds a report.json) or an empty one is replaced; any
/// other is a UserError, as are a full disk and missing rights; then nothing is left behind and what was there is unchanged.
/// `inspect`, if given, sees the complete temporary folder before it is renamed: it may add to it (audit results), and an
/// exception from it ends the work like an error of writing.
void write_project(const std::filesystem::path& dir, const std::vector<EmittedFile>& files,
                   const std::function<void(const std::filesystem::path&)>& inspect = {});

}  // namespace etch
