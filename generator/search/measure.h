// The cost of variants of a kernel, and of whole projects, on the target: variants become programs that call one after the other, programs
// become units of work that are built and run here or elsewhere (unit.h, launcher.h), and what was measured before is not measured again
// (cache.h).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "search/beam.h"
#include "search/cache.h"
#include "search/unit.h"
#include "target/target.h"

namespace etch {

/// Of the files of what is measured at once, which are in memory and on the disk.
constexpr std::int64_t kMostBytesAtOnce = 256 << 20;

struct MeasureOptions {
  RunUnits run;
  std::shared_ptr<MeasureCache> cache{};  // may be null
  int least_units = 1;                    // so many units are made of many variants, so that they can run side by side
  std::int64_t most_bytes = kMostBytesAtOnce;
};

/// Throws what `run` throws. Where a unit fails, each of its variants is measured alone: one that crashes the compiler, or never ends, is
/// no loss for those beside it.
MeasureVariants measure_variants(const Target& target, const Language& language, const MeasureOptions& options);

/// A whole project and the function that runs its model, "kws_run".
struct MeasuredProject {
  std::vector<EmittedFile> files;
  std::string entry;
};

/// What the first call of each project's function costs, with the constants among the bytes of code. There is no cost where the self-test
/// fails. Throws as above.
std::vector<Measured> measure_projects(const std::vector<MeasuredProject>& projects, const MeasureOptions& options);

/// The program that calls all variants: what they read beside constants (as inputs, or as constants too), constants in the order that each
/// wants, and outputs of their own. For tests.
Program program_of(const Task& task, std::span<const Variant> variants, const Language& language, BufferKind read = BufferKind::Input);

}  // namespace etch
