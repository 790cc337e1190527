// Internal to emit/: the files of a project whose kernels are CUDA. NAME.c holds the tables and functions, NAME.cu the kernels and the
// table of their addresses.
#pragma once

#include <string>

#include "emit/device_tables.h"
#include "emit/project.h"

namespace etch {

/// NAME.cu
std::string cuda_kernels(const Project& project);
/// NAME.c
std::string cuda_source(const Project& project);
/// Of NAME.h and NAME_open.
DeviceSession cuda_session(const Project& project);

}  // namespace etch
