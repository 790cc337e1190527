// Internal to emit/: the parameters of the run function, on which header, source and self-test must agree.
#pragma once

#include <string>
#include <vector>

#include "emit/project.h"

namespace etch {

/// "void *arena, size_t arena_bytes, const float *image, float *scores"; with `profile` also the callback's parameters.
std::string parameters(const Project& project, bool profile);
/// The names of the parameters of the run function.
std::vector<std::string> argument_names(const Project& project);
/// Parameters of NAME_state_init: "void *state", and the weights where a state starts with some of a blob.
std::string state_init_parameters(const Project& project);
/// "KWS_IMAGE_COUNT"
std::string count_macro(const Project& project, int buffer);
/// "KWS_IMAGE_OFFSET"
std::string offset_macro(const Project& project, int buffer);

}  // namespace etch
