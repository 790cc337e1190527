// Whole files at once.
#pragma once

#include <filesystem>
#include <string>

namespace etch {

/// Writes one file whole; a UserError if that fails (no right, a full disk).
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace etch
