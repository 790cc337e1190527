// Internal to target/: the cores that compilers know by name.
#pragma once

#include <string>
#include <vector>

namespace etch {

/// The cores of the architecture that `triple` ("thumbv7em-none-eabihf") names, as -mcpu or -march takes them. Empty without a triple and
/// for others than x86, Arm, AArch64 and RISC-V: nothing is known of their cores.
std::vector<std::string> known_cores(const std::string& triple);
/// Whether the compilers have code for what `triple` names.
bool is_known_triple(const std::string& triple);

}  // namespace etch
