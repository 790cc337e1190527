// Internal to emit/: the entry function's parameters, which header, source and self-test have to agree on.
#pragma once

#include <string>

#include "emit/project.h"

namespace etch {

/// "void *arena, size_t arena_bytes, const float *image, float *scores"; with `profile` also the callback.
std::string parameters(const Project& project, bool profile);
/// "KWS_IMAGE_COUNT"
std::string count_macro(const Project& project, int buffer);

}  // namespace etch
