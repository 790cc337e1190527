// Internal to emit/: the parts of NAME.c that are the same for all forms whose kernels run on a device: tables of constants, states,
// kernels, calls, inputs and outputs, and the functions around them. Names of types and functions hold the form's device_tag.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emit/device_sizes.h"
#include "emit/form.h"
#include "emit/project.h"
#include "emit/sections.h"

namespace etch {

/// What a self test ends with where there is no device: CTest takes it for a test that is skipped.
inline constexpr int kNoDeviceStatus = 77;

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
  std::string host{};                                             // more fields of `host_program`: ", 512"
  std::vector<std::pair<std::int64_t, std::string>> first, last;  // before and after the numbers that all have
};
/// Macros, tables and the value `program`. `macros` defines ARENA; `regions` stands before the kernels; `kernels` is their table,
/// whose sizes are in `sizes`.
std::string device_program(const Project& project, const ArgTable& args, const std::string& macros, const std::string& regions,
                           const std::string& kernels, SizeTable& sizes, const DeviceProgram& own);

/// What differs in NAME_open and in the session that it opens.
struct DeviceSession {
  std::string api;              // "OpenCL"
  std::string place;            // where the memory is: "the device"
  std::string kernels;          // declaration of NAME_kernels
  std::string members;          // of NAME_session, behind those of the runtime
  std::string open_note;        // the comment on NAME_open, from its first word on
  std::string open_parameters;  // besides the session and the weights
};
/// What NAME.h has.
HeaderParts device_header(const Project& project, const DeviceSession& own);
/// The pointers to memory that a session keeps.
std::size_t device_buffer_count(const Project& project);

/// NAME.c around `program`, the text of device_program: NAME_open, NAME_run, NAME_state_init, NAME_close and, with ETCH_PROFILE,
/// NAME_profile. `kernels`: the files of the kernels, in words. `setup`: statements that fill in `setup` from the parameters of NAME_open.
std::string device_source(const Project& project, const std::string& kernels, const std::string& program, const DeviceSession& own,
                          const std::string& setup);

/// As in ProjectForm.
std::string device_state_place(const Project& project, std::size_t number);
std::vector<std::string> device_selftest_arguments(const Project& project);
/// The statement of a self test that runs the model `runs` times, for as long as `status` is ETCH_OK; a variable `run` counts.
std::string device_runs(const Project& project, const std::string& run_arguments, int runs);

}  // namespace etch
