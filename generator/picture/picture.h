// Pictures of what the compiler makes, as SVG files that any browser shows (tinygrad's GRAPH and GRAPHUOPS). Nothing else is needed to
// draw them. Equal arguments give equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "ir/uop.h"
#include "program/program.h"

namespace etch {

/// In the second line of every picture.
inline constexpr std::string_view kPictureMark = "<!-- drawn by etch -->";

/// The schedule of a program: a box for each call, with its kernel, work, bytes, the constants that it reads and the values that it
/// writes; an edge for each value that it reads; a frame around each loop, with broken lines for what a turn leaves to the next.
std::string schedule_picture(const Program& program, std::string_view title);

/// The UOps of a kernel, with their numbers in to_text(uops): a box for each but End, an edge for each source, a frame around each Loop
/// and If.
std::string uops_picture(const UOpList& uops, std::string_view title);

}  // namespace etch
