// What a user is told of the rows that tables have for a model.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/opt_table.h"
#include "program/program.h"
#include "schedule/layout_choice.h"
#include "target/target.h"

namespace etch {

/// Rows whose way can't be taken, each once, though several choices of a network may have its key.
std::vector<std::string> notes_on_refused(const std::vector<LayoutChoice>& refused, const OptTable& table);

/// Of each file of `table`: that nothing of this model has a row there, or that what has one gets what was found for another target, or
/// with a compiler that the target does not name. `found`: keys of choices that have a row; `rows`: of kernels.
std::vector<std::string> notes_on_files(const OptTable& table, const std::vector<std::string>& found, const std::set<TableRow>& rows,
                                        const Target& target);

}  // namespace etch
