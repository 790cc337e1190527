// Rows that a search found for kernels, tried in the whole program: a compiler may make other code of a kernel beside other kernels.
#pragma once

#include <string>
#include <vector>

#include "driver/measured_programs.h"
#include "driver/tune.h"

namespace etch {

/// A kernel's rows that do not stay, and why.
struct RowsLeftOut {
  std::string name, why;
};

/// `table` without those rows of the kernels of `tasks` that in the whole program save nothing, or take more stack than it has anyway and
/// more than 512 bytes. Rows of other kernels stay as they are. Nothing is left out if the program without them can't be measured.
OptTable confirmed(const CompileOptions& options, const MeasureProjects& measure, const std::vector<Task>& tasks, const OptTable& table,
                   std::vector<RowsLeftOut>& left_out);

}  // namespace etch
