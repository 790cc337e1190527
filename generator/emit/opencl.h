// Internal to emit/: what a project is made of whose kernels are OpenCL C. NAME.c holds the tables and functions, NAME.cl the
// kernels, NAME_kernels.c their text once more, as strings.
#pragma once

#include <string>

#include "emit/project.h"

namespace etch {

/// NAME.cl
std::string opencl_text(const Project& project);
/// NAME_kernels.c: that text in pieces that every compiler takes.
std::string opencl_text_source(const Project& project);
/// How many pieces.
std::size_t opencl_text_pieces(const std::string& text);
/// NAME.c
std::string opencl_source(const Project& project);
/// In NAME.h: the session, and the functions around NAME_run.
std::string opencl_session(const Project& project);
/// In NAME.h: "etch_status NAME_close(...)".
std::string opencl_close(const Project& project);
/// In selftest.c: OpenCL's header.
std::string opencl_include();
/// In selftest.c: choose_device(), and run_on(device). `run`: the arguments of NAME_run.
std::string opencl_selftest(const Project& project, const std::string& run);

}  // namespace etch
