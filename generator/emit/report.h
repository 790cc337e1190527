// The report for the engineer who integrates the model: memory, work per kernel, and what was proved. Figures that need a compiler
// for the target are absent until `etch validate --target` has measured them, and the report says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace etch {

/// What a call cost in the emulator, with the library's functions that it calls.
struct ReportCost {
  std::int64_t instructions = 0, loads = 0, stores = 0, taken_branches = 0;
  std::optional<std::int64_t> cycles_estimated;  // absent where the target says no weights
  std::optional<std::int64_t> stack_bytes;       // deepest use
  std::int64_t code_bytes = 0;                   // of flash, of the function alone; calls of one function share it
};

/// One call of the program.
struct ReportKernel {
  std::string name;                // of the emitted function
  std::vector<std::string> nodes;  // ONNX nodes
  std::string shape;               // "r_4_8_8_3_3"
  std::int64_t macs = 0;
  std::int64_t bytes = 0;  // read and written at least once
  /// Of all turns where the call is in a loop; then the first call of a function has all that its calls cost, and others nothing.
  std::optional<ReportCost> cost = std::nullopt;
  std::string shared{};  // the loop that workers share; empty: none
};

struct ReportBuffer {
  std::string name;
  std::int64_t offset = 0, bytes = 0;
  int first = 0, last = 0;  // first and last call that needs it
  int inner_axis = -1;      // which lies innermost, if that is another order than that of its axes
  std::int64_t block = 0;   // of how many elements in blocks; 0: the whole axis
  // With pools: which one, what kernels read and write there in a run, and why it is in no faster one.
  std::string pool{};
  std::int64_t accessed_bytes = 0;
  std::string why{};
};

/// An arena of a target with several pools.
struct ReportPool {
  std::string name, memory;
  std::int64_t bytes = 0, limit_bytes = 0, lower_bound_bytes = 0, accessed_bytes = 0;
  int tensors = 0;
  std::string unused{};  // why no tensor lies there; empty if one does
};

/// Channels of a node that are the same for every input, and are not computed.
struct ReportDeadChannels {
  std::vector<std::string> nodes;
  std::int64_t removed = 0, total = 0;
};

/// What the audit of the emitted C found.
struct ReportAudit {
  int functions = 0;
  std::int64_t bounded_loops = 0;
  std::vector<std::string> findings;
};

/// Workers that run the program together.
struct ReportWorkers {
  int most = 1;
  int shared_calls = 0;  // of which each does a part; worker 0 does the others alone
  int barriers = 0;      // calls before which all wait for each other
};

struct Report {
  std::string name, tool_version, model_file, model_sha256, target, options;
  std::string build_command;  // one line that compiles the folder
  std::string language;       // of the kernels, "c"
  bool on_device = false;     // they run on a device beside the processor
  std::string files_note;     // one line that says where the kernels are, or empty if they are in NAME.c
  std::int64_t arena_bytes = 0, arena_lower_bound_bytes = 0, arena_align = 1;
  bool arena_is_smallest = false;      // it is proved that no placing of these buffers takes less
  std::int64_t arena_apart_bytes = 0;  // if outputs lie over parts of inputs: what the arena would take if they did not
  std::int64_t input_bytes = 0, output_bytes = 0;
  std::vector<std::int64_t> inputs, outputs;                            // bytes of each
  std::int64_t step_arena_bytes = 0, step_arena_lower_bound_bytes = 0;  // of a training step in the same folder; 0: there is none
  std::vector<std::string> trained;                                     // what the step changes
  std::int64_t state_bytes = 0;                                         // kept from run to run
  std::int64_t device_bytes = 0;                      // if on_device: arena, inputs, outputs, states and weights, each buffer rounded up
  std::int64_t weights_bytes = 0, widened_bytes = 0;  // the second is the part of the first that speed costs
  std::string weights_form;                           // "c", "incbin", "blob", "none"
  std::int64_t macs = 0;
  std::int64_t indices_proved = 0;
  int functions = 0;  // distinct kernels
  std::vector<ReportKernel> kernels;
  std::vector<std::string> folded;            // nodes of the model that no kernel computes
  std::vector<ReportDeadChannels> dead;       // in the order of computation
  std::vector<std::string> float_nodes;       // of the model, computed in float between quantised values
  std::vector<std::string> tuning_notes;      // of tables: rows that can't be taken, and of files what they are for
  std::vector<std::string> custom_functions;  // of the user's files, which kernels call
  std::vector<ReportBuffer> buffers;
  ReportWorkers workers;
  std::vector<ReportPool> pools;  // of the target, the fastest first
  bool pools_are_best = true;     // it is proved that no placing gives the faster ones more accesses
  std::optional<ReportAudit> audit;
  std::vector<std::string> files;  // of the folder; empty before it is written
  // measured
  std::optional<std::int64_t> code_bytes, stack_bytes, stack_bound_bytes, instructions, loads, stores, taken_branches, cycles_estimated;
  std::string cycles_rule;  // of cycles_estimated: "1 an instruction, ..."
};

/// One object, keys in fixed order, absent figures null.
std::string to_json(const Report& report);
/// "conv1, relu1" in texts for people; of many nodes only the first ones and the number of the others.
std::string nodes_text(const std::vector<std::string>& nodes);
/// For people to read.
std::string to_text(const Report& report);
/// What each call costs, a line each; empty if nothing is measured.
std::string costs_text(const std::vector<ReportKernel>& kernels);

}  // namespace etch
