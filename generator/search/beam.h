// BEAM over OptOps: from the steps of the heuristics to those that cost least. What a list of steps costs is measured by a function that
// is given: in an emulator, or by a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/options.h"
#include "emit/printed.h"
#include "ir/array.h"
#include "program/program.h"
#include "renderer/language.h"
#include "search/cost.h"
#include "search/model.h"

namespace etch {

/// A kernel of a program, with the content that its arguments have in a run: of those that it writes, what the reference computes.
struct Subject {
  const LazyOp* ast = nullptr;
  std::vector<KernelArgument> arguments;
  std::vector<Array> data;
  CodegenOptions options;  // without steps and without a table
  int calls = 1;           // in a run of the program
};

/// Kernels that take the same steps: one, or those that become one function (Sharing::All).
struct Task {
  std::string name;  // "k3_conv_op2"
  std::vector<Subject> subjects;
  bool share = false;
  std::vector<std::vector<Opt>> known;  // lists to begin with, beside that of the heuristics
  std::int64_t other_bytes = 0;         // that the program's other kernels leave in the caches before one of these runs
};

/// The kernels of a task with one list of steps.
struct Variant {
  std::vector<Opt> opts;
  std::vector<ProgramKernel> kernels;  // one for each subject
};

/// Of one variant: what it costs, or why that is not known.
struct Measured {
  std::optional<Cost> cost;
  std::string problem;
  std::vector<PrintedOutput> outputs;  // of each kernel, in order; empty: nothing is compared
  bool was_stopped = false;            // compiler or program ended by a signal or the time limit: another time they may not

  bool operator==(const Measured&) const = default;
};

/// The results are those of `variants`, in their order.
using MeasureVariants = std::function<std::vector<Measured>(const Task& task, const std::vector<Variant>& variants)>;

struct SearchOptions {
  const Language* language = nullptr;
  int width = 3;                   // lists that are kept; with one alone the search ends in the first round without gain
  int most_rounds = 8;             // of changes
  bool by_model = false;           // a static model (model.h), fitted to what was measured, says which lists are measured
  double byte_price = 0;           // instructions and cycles that a byte of code has to save
  std::int64_t stack_bytes = 320;  // of a kernel; beside what the table's executor takes kProgramStack are promised
  /// Called after each round: variants measured so far, and the score of the best as a part of that of the heuristics' (1: none is better).
  std::function<void(int measured, double ratio)> step{};
};

struct SearchResult {
  std::vector<Opt> before, best;  // of the heuristics, and found; the same where nothing is better
  Cost cost_before, cost;
  int measured = 0;
  int left_to_model = 0;              // variants that it took for too slow to measure
  std::optional<ModelFit> fit;        // of the model, if there is one
  int other_floats = 0;               // variants left out because floats alone differ, by more than how they are rounded
  std::vector<std::string> problems;  // variants that compute other integers, which are bugs, or could not be made or run
};

/// Takes fewer instructions and cycles than the heuristics' list, or is that list, and computes the same (judge.h): integers as the
/// reference does, floats but for how they are rounded, as where sums are in another order. The same task and costs give the same result.
SearchResult search_opts(const Task& task, const MeasureVariants& measure, const SearchOptions& options);

/// What the heuristics' kernels of a task cost; nullopt if they can't be measured.
std::optional<Cost> cost_of_heuristics(const Task& task, const MeasureVariants& measure, const Language& language);

}  // namespace etch
