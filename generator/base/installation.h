// Where etch's own files are while it runs: target descriptions, the program that talks to OpenCL, what an emulator loads. An
// installation may be moved: its files are found from the program that runs, or from where find_package(etch) found them.
#pragma once

#include <filesystem>
#include <string_view>

namespace etch {

/// `prefix` holds an installation (bin/, lib/etch/, share/etch/). etch.h says so for programs that find_package(etch) builds.
void use_installation(const std::filesystem::path& prefix);

/// The file or folder `name` ("share/etch/targets"): that of the installation which the running program is in, else of one that
/// use_installation named, else `in_build`, where the build has it, else of the installation whose `etch` is on PATH. If it is in none
/// of these, the path at which it would be in the first.
std::filesystem::path own_file(std::string_view name, const std::filesystem::path& in_build = {});

}  // namespace etch
