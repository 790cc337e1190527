// Internal to emit/: the parameters of the run function, on which header, source and self-test must agree.
#pragma once

#include <string>

#include "emit/project.h"

namespace etch {

/// "void *arena, size_t arena_bytes, const float *image, float *scores"; with `profile` also the callback's parameters.
std::string parameters(const Project& project, bool profile);
/// "KWS_IMAGE_COUNT"
std::string count_macro(const Project& project, int buffer);

}  // namespace etch
