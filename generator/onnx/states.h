// Internal to onnx/: inputs and outputs of a graph that become memory which outlives a run.
#pragma once

#include <vector>

#include "onnx/import.h"

namespace etch {

/// Turns the inputs into states, and takes the outputs that they become out of the model's. Throws UserError for a name that is none,
/// one that is bound twice, shapes or types that differ, and sizes that stay open.
void bind_states(ImportedModel& model, const std::vector<StateBinding>& bindings);

}  // namespace etch
