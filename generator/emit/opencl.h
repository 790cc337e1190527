// Internal to emit/: the files of a project whose kernels are OpenCL C. NAME.c holds the tables and functions, NAME.cl the kernels,
// and NAME_kernels.c the text of NAME.cl as strings.
#pragma once

#include <string>

#include "emit/device_tables.h"
#include "emit/project.h"

namespace etch {

/// NAME.cl
std::string opencl_text(const Project& project);
/// NAME_kernels.c: `text`, that of NAME.cl, as several strings, each short enough for every C compiler.
std::string opencl_text_source(const Project& project, const std::string& text);
/// Into how many strings opencl_text_source splits `text`.
std::size_t opencl_text_pieces(const std::string& text);
/// NAME.c
std::string opencl_source(const Project& project);
/// Of NAME.h and NAME_open.
DeviceSession opencl_session(const Project& project);
/// In selftest.c: OpenCL's header.
std::string opencl_include();
/// In selftest.c: choose_device(), and run_on(device). `run`: the arguments of NAME_run.
std::string opencl_selftest(const Project& project, const std::string& run, int runs);

}  // namespace etch
