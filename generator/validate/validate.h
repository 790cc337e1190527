// Runs a model on a backend and compares the outputs with the expected ones; if they differ, finds the first kernel that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "program/program.h"
#include "validate/compare.h"
#include "validate/data_set.h"

namespace etch {

/// The call whose kernel does not compute what its AST says.
struct Culprit {
  int call = 0;
  std::string kernel;              // function in the program's language
  std::vector<std::string> nodes;  // ONNX nodes
  std::string problem;
};

struct BackendResult {
  std::string name;  // "c"
  bool ok = true;
  Comparison comparison;  // the worst over all sets and outputs
  double seconds = 0;     // of all runs
  bool differs = false;   // it ran, and an output is not as expected
  std::string problem;    // if not ok: which set and output differ and how, or why it did not run
  std::optional<Culprit> culprit;
};

/// How often the program runs on a set, from its first state on, before its outputs are compared: once, unless it has a state.
int runs_on(const Program& program, const DataSet& set);

/// The reference's outputs for each set. Only sets without expected outputs are compared with them.
std::vector<std::vector<Array>> reference_outputs(const Program& reference, const Device& interp, const std::vector<DataSet>& sets);

/// Loads `program` on `device`, runs every set, compares. A device that fails is a result, not an exception.
BackendResult validate_backend(const Program& program, const Program& reference, const Device& device, const std::vector<DataSet>& sets,
                               const std::vector<std::vector<Array>>& outputs, const Tolerance& tolerance);

/// Runs the program again and compares what each call wrote with INTERP's evaluation of the call's AST on the same inputs. Returns the
/// first call that differs, or nullopt if every call is right (the difference of the outputs is then accumulated rounding).
std::optional<Culprit> find_culprit(const Program& program, const Program& reference, LoadedProgram& loaded, const DataSet& set,
                                    const Tolerance& tolerance);

/// "kernel 3 conv2_relu (nodes conv2, relu2): element ..."
std::string to_text(const Culprit& culprit);

}  // namespace etch
