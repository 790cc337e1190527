// A unit of work of a search: a project that is built with the target's compiler and run. In an emulator the instructions of each
// function are counted; what runs on this machine is timed, see timer.h. Compilers and programs that crash or hang are results too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tempdir.h"
#include "emit/emit.h"
#include "emit/printed.h"
#include "emulator/cross_build.h"
#include "search/cost.h"
#include "target/target.h"

namespace etch {

struct Unit {
  std::span<const EmittedFile> files;  // of the project, which are the caller's
  std::vector<std::string> functions;  // that are measured: of each call of the program, in order
  bool is_whole = false;               // the one function is that which runs the model, and the self-test says whether it is right
  std::size_t things = 1;              // function i is a way to compute thing i % things
  std::int64_t other_bytes = 0;        // that a network's other kernels leave in the caches, where time is measured
};

/// What building and running a unit gave.
struct UnitRun {
  std::string problem{};                             // why the rest means nothing; empty: all went well
  bool was_stopped = false;                          // by a signal or the time limit: another time it may go otherwise
  std::map<std::string, std::vector<Cost>> calls{};  // of each function, in order; without bytes of code
  std::map<std::string, std::int64_t> code_bytes{};  // of each function
  std::map<std::string, PrintedOutput> outputs{};    // what the program printed of each, by its name
  std::int64_t program_bytes = 0;                    // code and weights of the project

  bool operator==(const UnitRun&) const = default;
};

/// A unit's program, or why it could not be built.
struct BuiltUnit {
  std::unique_ptr<TempDir> work;  // has the folders "project" and "build"
  std::optional<CrossBuild> build;
  std::string problem;
  bool was_stopped = false;
};

/// `limit_s`: of each run of the compiler, in seconds.
BuiltUnit build_unit(const Target& target, const Unit& unit, double limit_s);
/// `limit_s`: of the program, in seconds. `elsewhere`: the least that each of the unit's things took in other units, see run_timed.
UnitRun run_unit(const Target& target, const Unit& unit, const BuiltUnit& built, double limit_s, std::span<const double> elsewhere = {});

/// Gets the results of units in any order, one at a time, each as soon as it is known.
using UnitDone = std::function<void(std::size_t unit, const UnitRun& run)>;
/// Runs all units. Throws what keeps it from running any further; results that were handed over before stay good.
using RunUnits = std::function<void(const std::vector<Unit>& units, const UnitDone& done)>;

/// On this machine, `jobs` units at a time; those of one call are whole programs, or ways to compute the same things. What is timed runs
/// alone, in turns with the other units, three times if it is among the best; the least time counts. What the result throws: UserError if
/// compiler or emulator are absent.
RunUnits run_here(const Target& target, int jobs, double limit_s);

/// UserError if compiler or emulator are absent.
void require_tools(const Target& target);

}  // namespace etch
