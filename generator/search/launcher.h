// Hands units of work to an engine that exists already (GNU parallel, Slurm, xargs, a shell), so that several machines measure for one
// search: a unit is one command line over a folder that all of them see.
//
//   SHARED/etch-units.../0/unit.json     what to measure with which tools
//                          project/      the files to build
//                       /results/0.json  what `etch measure .../0` found, written as a whole
//                                0.error why it could not: a machine without the compiler, for example
#pragma once

#include <filesystem>
#include <string>

#include "search/unit.h"

namespace etch {

struct LauncherOptions {
  std::string command;           // of the shell; reads one command line per line on standard input, and ends when all have ended
  std::filesystem::path shared;  // folder that all machines see at this path; it is made if it does not exist
  std::string etch;              // the tool that they run: its path
  double limit_s = 120;          // of a compiler's or a program's run
};

/// Starts the command once for each batch, and once more for those units that have no result then. What the result throws: UserError that
/// names the units that were lost twice, with what the command and the machines said, or the tools that this machine lacks, which needs
/// them too: only what it would measure itself is accepted. UserError if the folder can't be written, or if the
/// target's programs are timed, which has to happen on this machine alone.
RunUnits run_by_launcher(const Target& target, const LauncherOptions& options);

/// `etch measure FOLDER`: builds and runs one unit and writes its result. UserError, which is also written where the search finds it, if
/// this machine can't or if the folder holds no unit.
void measure_unit(const std::filesystem::path& folder);

}  // namespace etch
