// Internal to emit/: kernels that are functions in C, in projects whose other kernels run on a device. The processor calls them: their
// text is in NAME.c, and the program's tables number them behind the kernels of the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/device_sizes.h"
#include "emit/project.h"

namespace etch {

/// Who computes a kernel: the device, or the processor.
bool on_device(const ProgramKernel& kernel);
bool on_host(const ProgramKernel& kernel);
/// The kernels of the device, and those of the processor, each in the program's order.
std::vector<const ProgramKernel*> device_kernels(const Project& project);
std::vector<const ProgramKernel*> host_kernels(const Project& project);
/// By kernel of the program: its number in the tables.
std::vector<std::size_t> kernel_numbers(const Project& project);

/// Arguments of a function in C at most, variables included; 0 where there is none.
std::size_t host_arguments(const Project& project);
/// Bytes of the buffers of one call of such a function at most, each at a multiple of the plan's alignment; 0 where there is none.
std::int64_t staging_bytes(const Project& project);

/// In NAME.c, all empty where there is no such kernel: what the functions' declarations need; the declarations, and a function for each
/// kernel; the tables and the value `host_program`, which ends with `more` of its fields.
std::string host_includes(const Project& project);
std::string host_functions(const Project& project);
std::string host_tables(const Project& project, SizeTable& sizes, const std::string& more = "");
/// "&host_program" or "NULL".
std::string host_pointer(const Project& project);

/// "leaky(), crop()": the functions, each once.
std::string host_names(const Project& project);
/// For the report, behind where the kernels are: " The processor runs leaky()."
std::string host_note(const Project& project);

}  // namespace etch
