// Runs a model on a backend and compares it with what it should give; where it differs, finds the first kernel that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "program/program.h"
#include "validate/compare.h"
#include "validate/data_set.h"

namespace etch {

/// The kernel that computes something else than its AST says.
struct Culprit {
  int call = 0;
  std::string kernel;              // function in the program's language
  std::vector<std::string> nodes;  // ONNX nodes
  std::string problem;
};

struct BackendResult {
  std::string name;  // "c"
  bool ok = true;
  Comparison comparison;  // worst over all sets and outputs
  double seconds = 0;     // of all runs
  std::string problem;    // where it is not ok: which set and output and what, or why it did not run
  std::optional<Culprit> culprit;
};

/// What the reference gives for each set (a set with expected outputs is compared with those, one without with this).
std::vector<std::vector<Array>> reference_outputs(const Program& reference, const Device& interp, const std::vector<DataSet>& sets);

/// Loads `program` on `device`, runs every set, compares. A device that fails is a result, not an exception.
BackendResult validate_backend(const Program& program, const Program& reference, const Device& device, const std::vector<DataSet>& sets,
                               const std::vector<std::vector<Array>>& outputs, const Tolerance& tolerance);

/// Each call of `program` computes its output from what it read; the first whose output differs from its AST evaluated on
/// the same inputs by INTERP. Nothing if every call is right (the difference is accumulated rounding).
std::optional<Culprit> find_culprit(const Program& program, const Program& reference, LoadedProgram& loaded, const DataSet& set,
                                    const Tolerance& tolerance);

/// "kernel 3 conv2_relu (nodes conv2, relu2): element ..."
std::string to_text(const Culprit& culprit);

}  // namespace etch
