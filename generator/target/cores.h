// Internal to target/: the names of cores that compilers accept.
#pragma once

#include <string>
#include <vector>

namespace etch {

/// The cores of the architecture of `triple` ("thumbv7em-none-eabihf"), as -mcpu or -march takes them. Empty without a triple, and for
/// architectures other than x86, Arm, AArch64 and RISC-V, whose cores are not known here.
std::vector<std::string> known_cores(const std::string& triple);
/// Whether compilers support the architecture of `triple`.
bool is_known_triple(const std::string& triple);

}  // namespace etch
