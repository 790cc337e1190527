// Searches the ways in which a model's values lie in memory for a target, by what whole programs cost in its emulator.
#pragma once

#include "codegen/opt_table.h"
#include "driver/compile.h"
#include "search/emulated.h"
#include "search/layouts.h"

namespace etch {

/// What projects cost; the results are in their order.
using MeasureProjects = std::function<std::vector<Measured>(const std::vector<MeasuredProject>& projects)>;

/// Of a model with these options, and the steps of `table`; its ways are where the search begins. The self-test of each program compares
/// its outputs with the reference's. UserError if sizes of the model are open.
LayoutResult tune_layouts(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table);

/// `table`, where the ways of the choices of `result` are those that were found.
OptTable with_layouts(OptTable table, const LayoutResult& result);

}  // namespace etch
