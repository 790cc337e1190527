// From the graph to kernels: which values get memory, what is computed together, and in which order. Everything that
// depends on constants alone is computed here and becomes a constant with data.
#pragma once

#include <string>
#include <vector>

#include "lazy/graph.h"
#include "lazy/tensor.h"

namespace etch {

/// A result that the caller wants in memory, under that name.
struct OutputSpec {
  std::string name;
  Tensor value;
};

/// One kernel. Argument 0 is `out`, argument i + 1 is inputs[i]; each is an Input, a Data or the `out` of an earlier item.
struct ScheduleItem {
  const LazyOp* ast = nullptr;  // a Store
  const LazyBuffer* out = nullptr;
  std::vector<const LazyBuffer*> inputs;
  std::vector<std::string> nodes;  // what it computes, as the graph's origins say, in the order of the graph
  std::string main_node;           // the one of them that its reduction belongs to, else the last; empty without origins
};

struct ScheduledOutput {
  std::string name;
  const LazyBuffer* buffer = nullptr;  // the `out` of an item; of no item if it has no elements
  std::vector<Sint> shape;             // may differ from the buffer's: the same elements in the same order
};

struct Schedule {
  std::vector<ScheduleItem> items;        // in execution order
  std::vector<const LazyBuffer*> inputs;  // every Input that an item reads, in the order in which they were made
  std::vector<ScheduledOutput> outputs;   // as asked for; no buffer stands for two of them
  std::vector<std::string> folded;        // origins that no item computes: known before the model runs, mere names of values, unused
};

struct ScheduleOptions {
  int max_inputs = 15;  // buffers that one kernel may read
  int max_nodes = 256;  // operations and leaves of one kernel
};

/// Fuses elementwise operations into their consumers and behind the reduction that feeds them; each kernel has at most one
/// reduction and one output. Constants are folded first (see fold.h).
Schedule create_schedule(LazyGraph& graph, const std::vector<OutputSpec>& outputs, const ScheduleOptions& options = {});

/// Checks that every input of an item is there before the item runs and that the ASTs match the buffers; throws InternalError.
void verify(const Schedule& schedule);
/// One kernel after the other: what it writes and reads, the nodes it computes, its AST.
std::string to_text(const Schedule& schedule);

}  // namespace etch
