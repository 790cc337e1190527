// From a schedule to a Program: one kernel for each distinct AST, one call for each item, constants in the order in which their kernels
// read them. Devices and emit both use this lowering, so a device runs what emit prints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/options.h"
#include "program/program.h"
#include "program/share.h"
#include "shape/open_sizes.h"

namespace etch {

class LazyGraph;
struct LazyBuffer;
struct Schedule;
struct Target;

struct LowerOptions {
  const Language* language = nullptr;  // null: ASTs alone
  CodegenOptions codegen;
  /// Kernels that differ in sizes alone and are one function: less code, more instructions. Not for grids, open sizes and outputs that
  /// lie over parts of inputs.
  Sharing sharing = Sharing::None;
  /// The model's inputs in its order, also those that no kernel reads. Empty: those of the schedule.
  std::vector<const LazyBuffer*> inputs;
  /// For errors: the model's file, and the user's names of the variables.
  std::string place;
  SizeNames size_names;
};

/// "kernel 3 of 54: k3_conv2_relu"
using LowerProgress = std::function<void(int done, int total, const std::string& kernel)>;

/// The result keeps alive what it refers to (the graph). Calls `progress` before each kernel that is generated. Throws InternalError
/// if an index can't be proved inside its buffer.
Program lower(std::shared_ptr<LazyGraph> graph, const Schedule& schedule, const LowerOptions& options, const LowerProgress& progress = {});

/// The options of the code generator for a target. A grid language that is not the target's own runs on another device: the target's
/// properties are ignored then.
CodegenOptions codegen_options(const Target& target, const Language& language);

}  // namespace etch
