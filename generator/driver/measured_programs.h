// What whole programs of a model cost, each made with a table of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "codegen/opt_table.h"
#include "driver/compile.h"
#include "search/layouts.h"
#include "search/measure.h"

namespace etch {

/// What projects cost; the results are in their order.
using MeasureProjects = std::function<std::vector<Measured>(const std::vector<MeasuredProject>& projects)>;

class MeasuredPrograms {
 public:
  /// Of the model and for the target of `options`, without the tables that these name. `most_bytes`: of the files of programs that are
  /// measured at once.
  MeasuredPrograms(const CompileOptions& options, const MeasureProjects& measure, std::int64_t most_bytes = kMostBytesAtOnce);

  /// The self-test of each program compares its outputs with the reference's; programs of equal text are measured once. UserError if sizes
  /// of the model are open.
  std::vector<MeasuredProgram> measured(const std::vector<OptTable>& tables);

 private:
  CompiledProject compiled(const OptTable& table, std::vector<MeasuredProgram>& result);

  CompileOptions options_;
  const MeasureProjects& measure_;
  std::int64_t most_bytes_;
  Step step_;
  std::optional<SelfTest> selftest_;  // the same for all: the reference takes its time
  std::map<std::uint64_t, Measured> costs_;
};

}  // namespace etch
