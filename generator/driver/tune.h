// Searches the OptOps of a model's kernels for a target, by what they cost in its emulator, and keeps what is better than the heuristics.
#pragma once

#include <functional>

#include "codegen/opt_table.h"
#include "driver/compile.h"
#include "search/beam.h"

namespace etch {

struct TuneOptions {
  CompileOptions compile;
  int jobs = 1;                     // projects that are built and run side by side
  int width = 3;                    // lists of steps that the search keeps
  int most_rounds = 8;              // of changes
  bool by_model = false;            // a static model says which lists are measured
  std::vector<std::string> only{};  // the tasks to search for; empty: all
  /// Called with each task, what was found for it, and the table so far, in the order of the model.
  std::function<void(const Task& task, const SearchResult& result, const OptTable& table)> found{};
};

/// UserError if nothing tells what the model's kernels cost: its sizes are open, or they run on a device.
void require_tunable(const Frontend& frontend, const CompileOptions& options);

/// The tasks of a model: each distinct kernel of fixed sizes with what it reads and writes in a run on the self-test's input. Kernels that
/// become one function (Sharing::All) are one task.
std::vector<Task> tasks_of(const Frontend& frontend, const CompileOptions& options);

/// A row with these steps for each kernel of the task.
OptTable rows_of(const Task& task, const std::vector<Opt>& opts);

/// `table` with the rows of this model's kernels replaced: one for each that has better steps than the heuristics'. Those of
/// kernels that can't be measured stay.
OptTable tune(const std::vector<Task>& tasks, const TuneOptions& options, const MeasureVariants& measure, OptTable table);

}  // namespace etch
