// OpenCL's declarations as far as emitted projects use them, so that their C can be parsed on a machine that has no OpenCL
// headers. An installed <CL/cl.h> is used instead of this text.
#pragma once

#include <string_view>

namespace etch {

/// The text of a CL/cl.h.
std::string_view opencl_header();

}  // namespace etch
