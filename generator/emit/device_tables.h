// Internal to emit/: the parts of NAME.c that are the same for all forms whose kernels run on a device: tables of constants, states,
// kernels, calls, inputs and outputs, and the functions around them. Names of types and functions hold the form's device_tag.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emit/device_sizes.h"
#include "emit/project.h"
#include "emit/sections.h"

namespace etch {

/// "etch_cl", with which the names of the form's runtime begin, and "ETCH_CL" of its macros.
std::string device_prefix(const Project& project);
std::string device_macro(const Project& project);

/// Throws UserError where a buffer or a grid is too large for the tables, which use the upper half of the 32-bit range for sizes that
/// are expressions, or a grid is larger than its language allows. `api`: "OpenCL".
void check_device_sizes(const Program& program, const EmitOptions& options, const std::string& api);

/// Names of the constants, "at_fc1_weight", and where each is.
std::string device_constants(const Project& project);
/// "{1, SIZE(0), 1}"
std::string device_dimensions(const std::vector<Sint>& sizes, SizeTable& table);

/// What differs in the value `program`: pointers besides those that all have, and numbers with their comments.
struct DeviceProgram {
  std::string pointers;
  std::vector<std::pair<std::int64_t, std::string>> first, last;  // before and after the numbers that all have
};
/// Macros, tables and the value `program`. `macros` defines ARENA; `regions` stands before the kernels; `kernels` is their table,
/// whose sizes are in `sizes`.
std::string device_program(const Project& project, const ArgTable& args, const std::string& macros, const std::string& regions,
                           const std::string& kernels, SizeTable& sizes, const DeviceProgram& own);

/// NAME_open; `setup`: statements that fill in `setup` from the other parameters.
std::string device_open(const Project& project, const std::string& parameters, const std::string& setup);
/// NAME_run, NAME_state_init, NAME_close and, with ETCH_PROFILE, NAME_profile.
std::string device_functions(const Project& project);

/// In NAME.h.
std::string device_close_declaration(const Project& project);
std::string device_state_declaration(const Project& project);

}  // namespace etch
