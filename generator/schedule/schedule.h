// From the graph to kernels: decides which values are stored in memory, which operations one kernel computes, and the order of the
// kernels. Everything that depends on constants alone is computed here and becomes a constant with data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "schedule/layout_choice.h"
#include "target/caches.h"

namespace etch {

/// A result that the caller wants in memory, and its name.
struct OutputSpec {
  std::string name;
  Tensor value;
};

/// What a state becomes at the end of a run: a value of its shape and type. The state itself: it stays as it is.
struct StateSpec {
  Tensor state;  // as Tensor::state made it
  Tensor next;
};

/// One kernel. Its arguments are `out`, the buffers of `more`, then `inputs`, each an Input, a State, a Data or what an earlier item
/// writes. A State is written after all items that read what it was before. An item in a loop may also write a carried value, after all
/// items that read what it was before, or one element of a LoopResult, a list; its AST then stores through a view. Instead of an AST it may
/// have a function in C, which reads and writes whole buffers.
struct ScheduleItem {
  const LazyOp* ast = nullptr;  // a Store
  const LazyBuffer* out = nullptr;
  std::vector<const LazyBuffer*> inputs;
  std::vector<std::string> nodes;            // the nodes (LazyBuffer::origins) that it computes, in the order of the graph
  std::string main_node;                     // the one of `nodes` that its reduction belongs to, else the last; empty without origins
  std::vector<const LazyLoop*> loops = {};   // that it is in, outermost first
  std::vector<const LazyBuffer*> more = {};  // further outputs
  std::shared_ptr<const ExternalKernel> external = {};  // if there is no AST

  std::vector<const LazyBuffer*> outs() const {
    std::vector<const LazyBuffer*> all{out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// The buffer that a Load of the AST reads.
  const LazyBuffer* input_of(const LazyOp* load) const { return inputs.at(static_cast<std::size_t>(load->mem().index) - 1 - more.size()); }
  bool writes(const LazyBuffer* buffer) const {
    if (buffer == out) return true;
    for (const LazyBuffer* other : more)
      if (buffer == other) return true;
    return false;
  }
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

/// How an intermediate lies in memory where that is not the order of its axes: one of them innermost, whole or in blocks.
struct StoredOrder {
  const LazyBuffer* buffer = nullptr;
  int axis = 0;
  std::int64_t block = 0;  // elements; 0: the whole axis
};

struct Schedule {
  std::vector<ScheduleItem> items;        // in execution order
  std::vector<ScheduledLoop> loops;       // by first item, outer ones first
  std::vector<const LazyBuffer*> inputs;  // every Input that an item reads, in the order in which they were made
  std::vector<const LazyBuffer*> states;  // in the order of the StateSpecs
  std::vector<ScheduledOutput> outputs;   // in the order of the OutputSpecs, each with a buffer of its own
  std::vector<std::string> folded;        // origins that no item computes: constant, a mere renaming of a value, or unused
  std::vector<StoredOrder> orders;        // in the order in which the buffers were given them
  std::vector<LayoutChoice> choices;      // in the order in which they came up; empty unless LayoutChoices::lists
  std::int64_t widened_bytes = 0;         // that weights which were combined for speed take more than those of the model
  std::vector<LayoutChoice> refused;      // those that can't be taken in the way that a search found
  std::vector<std::string> found;         // keys of all for which there is one, taken or not
};

/// Whether convolutions take fewer products than their sums have, see winograd.h: of a kernel of 3 x 3 along one axis half of them, with
/// twice the weights, along two a quarter, with four times the weights.
enum class Winograd : std::uint8_t { Off, OneAxis, TwoAxes };

struct ScheduleOptions {
  int max_inputs = 15;  // buffers that one kernel may read
  int max_nodes = 256;  // operations and leaves of one kernel
  /// A kernel of several stages has at least so many rows, short ones, or ones that work-items can share: else, on a grid, one work-item
  /// computes a row.
  std::int64_t min_rows = 0;
  bool (*shares_row)(std::int64_t elements) = nullptr;
  int max_outputs = 4;  // buffers that one kernel may write
  /// Intermediates lie in the order in which kernels write what follows them: an output may then lie over a part of an input.
  bool orders_alike = false;
  /// The same for integers of one or two bytes alone: kernels then have vectors of them.
  bool integer_orders_alike = false;
  /// The same for floats, in blocks of vector_bytes where these divide an axis: kernels then have vectors of them. Not with orders_alike.
  bool float_orders_alike = false;
  /// int8 or uint8: what dot products with weights of int8 take. Bytes of the other type change where they are copied for such sums.
  std::optional<DType> stored_bytes = {};
  std::int64_t dot_elements = 0;  // of bytes that the longest dot product takes, for which windows are laid side by side; 0: they are not
  Winograd winograd = Winograd::Off;
  bool fuses_horizontally = false;               // kernels may have the loops of two products, see horizontal.h
  std::int64_t first_cache_bytes = kFirstCache;  // a product waits for its weights where these are larger
  std::int64_t vector_bytes = 0;                 // of blocks for orders in memory, and what channels are to fill; 0: none
  LayoutChoices layouts = {};                    // those of one context are of equal figures above
};

/// Fuses elementwise operations into the kernels that consume them, and into the kernel of the reduction before them. A kernel has at most
/// one reduction or several over the same axes, of which one may read what another gave (softmax). Kernels that read the same, or one what
/// the other writes, become one with several outputs (see join.h). Constants are folded first (see fold.h).
/// Each state of the graph that is read has one StateSpec, else it is an InternalError.
Schedule create_schedule(LazyGraph& graph, const std::vector<OutputSpec>& outputs, const ScheduleOptions& options = {},
                         const std::vector<StateSpec>& states = {});

/// Throws InternalError unless every input of an item is computed before the item runs and the ASTs match the buffers.
void verify(const Schedule& schedule);
/// For each kernel: the buffers that it writes and reads, the nodes that it computes, and its AST.
std::string to_text(const Schedule& schedule);

}  // namespace etch
