// Whether code that is built for a target of this machine's kind runs on this machine.
#pragma once

#include <string>
#include <vector>

#include "target/target.h"

namespace etch {

/// The instruction sets that the target's flags tell its compiler to use and that this machine's processor lacks, by the compiler's
/// macros: "__AVX512F__". Empty where it has all of them, where the flags choose none, or where there is no compiler to ask.
std::vector<std::string> features_missing_here(const Target& target);

/// Whether programs for the target can be run here, in its emulator or on this processor; else `why` says what is absent.
bool can_run_here(const Target& target, std::string* why);
/// What to do where they can't.
std::string help_to_run(const Target& target);

}  // namespace etch
