// All that stands in the way of one model, as one error. Internal to onnx/.
#pragma once

#include <string>
#include <vector>

#include "onnx/import.h"

namespace etch {

/// Whether `problems` has one of the same place and text.
bool contains(const std::vector<ImportProblem>& problems, const ImportProblem& problem);

/// A single problem as the error that it is; several as one error that lists them: every open size, every operator or feature
/// that is not supported (once, with the number of its nodes). An UnsupportedError if something is not supported.
[[noreturn]] void throw_problems(const std::vector<ImportProblem>& problems, const std::string& place);

}  // namespace etch
