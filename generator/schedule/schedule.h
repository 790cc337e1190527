// From the graph to kernels: decides which values are stored in memory, which operations one kernel computes, and the order of the
// kernels. Everything that depends on constants alone is computed here and becomes a constant with data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lazy/graph.h"
#include "lazy/tensor.h"

namespace etch {

/// A result that the caller wants in memory, and its name.
struct OutputSpec {
  std::string name;
  Tensor value;
};

/// One kernel. Argument 0 is `out`, argument i + 1 is inputs[i]; each is an Input, a Data or the `out` of an earlier item. An item in a
/// loop may also write a carried value, after all items that read what it was before, or one element of a LoopResult, a list; its AST then
/// stores through a view. Instead of an AST it may have a function in C, which reads and writes whole buffers.
struct ScheduleItem {
  const LazyOp* ast = nullptr;  // a Store
  const LazyBuffer* out = nullptr;
  std::vector<const LazyBuffer*> inputs;
  std::vector<std::string> nodes;           // the nodes (LazyBuffer::origins) that it computes, in the order of the graph
  std::string main_node;                    // the one of `nodes` that its reduction belongs to, else the last; empty without origins
  std::vector<const LazyLoop*> loops = {};  // that it is in, outermost first
  std::shared_ptr<const ExternalKernel> external = {};  // if there is no AST
};

/// The items [first, end) are repeated. Loops lie in each other or apart.
struct ScheduledLoop {
  const LazyLoop* loop = nullptr;
  int first = 0, end = 0;
};

struct ScheduledOutput {
  std::string name;
  const LazyBuffer* buffer = nullptr;  // the `out` of an item, except if it has no elements: then no item computes it
  std::vector<Sint> shape;             // may differ from the buffer's: the same elements in the same order
};

struct Schedule {
  std::vector<ScheduleItem> items;        // in execution order
  std::vector<ScheduledLoop> loops;       // by first item, outer ones first
  std::vector<const LazyBuffer*> inputs;  // every Input that an item reads, in the order in which they were made
  std::vector<ScheduledOutput> outputs;   // in the order of the OutputSpecs, each with a buffer of its own
  std::vector<std::string> folded;        // origins that no item computes: constant, a mere renaming of a value, or unused
};

struct ScheduleOptions {
  int max_inputs = 15;  // buffers that one kernel may read
  int max_nodes = 256;  // operations and leaves of one kernel
  /// A kernel of several stages has at least so many rows, or short ones: on a grid one work-item computes a row.
  std::int64_t min_rows = 0;
};

/// Fuses elementwise operations into the kernels that consume them, and into the kernel of the reduction before them. Each kernel has
/// exactly one output, and at most one reduction or several over the same axes, of which one reads what another gave (softmax). Constants
/// are folded first (see fold.h).
Schedule create_schedule(LazyGraph& graph, const std::vector<OutputSpec>& outputs, const ScheduleOptions& options = {});

/// Throws InternalError unless every input of an item is computed before the item runs and the ASTs match the buffers.
void verify(const Schedule& schedule);
/// For each kernel: the buffers that it writes and reads, the nodes that it computes, and its AST.
std::string to_text(const Schedule& schedule);

}  // namespace etch
