// The cost of variants of a kernel on the target: a project whose program calls one after the other is built with the target's compiler and
// run. In an emulator the instructions of each function are counted; what runs on this machine is timed, see timer.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "search/beam.h"
#include "target/target.h"

namespace etch {

/// Measures on `target`, `jobs` projects at a time; what is timed runs alone. What the result throws: UserError if compiler or emulator are
/// absent.
MeasureVariants measure_variants(const Target& target, const Language& language, int jobs);

/// A whole project and the function that runs its model, "kws_run".
struct MeasuredProject {
  std::vector<EmittedFile> files;
  std::string entry;
};

/// What the first call of each project's function costs, with the constants among the bytes of code, `jobs` projects at a time. There is no
/// cost where the self-test fails. Throws as above.
std::vector<Measured> measure_projects(const Target& target, const std::vector<MeasuredProject>& projects, int jobs);

/// The program that calls all variants: inputs, constants in the order that each wants, and outputs of their own. For tests.
Program program_of(const Task& task, std::span<const Variant> variants, const Language& language);

}  // namespace etch
