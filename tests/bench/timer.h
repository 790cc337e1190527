// Programs that time an emitted project.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "target/target.h"

namespace etch::bench {

/// Builds `text`, a main(), with the project in `dir` by the target's compiler and flags, and `more` of these; returns the program.
std::filesystem::path build_timer(const std::filesystem::path& dir, const std::string& text, const Target& target,
                                  const std::vector<std::string>& more = {});

}  // namespace etch::bench
