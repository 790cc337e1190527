// Searches the ways in which a model's values lie in memory for a target, by what whole programs cost in its emulator.
#pragma once

#include "driver/measured_programs.h"

namespace etch {

/// Of changes of choices: whole programs take long to measure.
inline constexpr int kLayoutRounds = 3;

/// Bytes of flash that are worth as much as all the time of a run.
double flash_worth(const CompileOptions& options);

/// Of a model with these options, and the steps of `table`; its ways are where the search begins. UserError if sizes of the model are open.
/// `most_rounds`: of changes; with none only the ways of `table` are measured.
LayoutResult tune_layouts(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table,
                          int most_rounds = kLayoutRounds);

/// `table`, where the ways of the choices of `result` are those that were found.
OptTable with_layouts(OptTable table, const LayoutResult& result);

/// A row with the heuristics' way for each choice of `result`, but for those of one key that differ in that.
OptTable usual_ways(const LayoutResult& result);

}  // namespace etch
