// Internal to onnx/: one error for all problems of one model.
#pragma once

#include <string>
#include <vector>

#include "onnx/import.h"

namespace etch {

/// Whether `problems` has one with the same place and text.
bool contains(const std::vector<ImportProblem>& problems, const ImportProblem& problem);

/// Throws a single problem as its own error, and several as one error that lists them: every open size, and every operator or feature
/// that is not supported (once, with the number of its nodes). It is an UnsupportedError if something is not supported.
[[noreturn]] void throw_problems(const std::vector<ImportProblem>& problems, const std::string& place);

}  // namespace etch
