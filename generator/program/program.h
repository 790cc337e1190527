// Program: the recording of one run (as tinygrad's TinyJit makes it): kernels, their calls in order, buffers, constants, variables. It
// has everything that a device needs to run it and emit needs to print it, and depends on no device and no file format.
#pragma once

#include <cstdint>
#include <memory>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/argument.h"
#include "codegen/overlap.h"
#include "codegen/workers.h"
#include "ir/array.h"
#include "ir/external.h"
#include "ir/lazyop.h"
#include "ir/uop.h"
#include "renderer/language.h"
#include "target/target.h"

namespace etch {

/// A State outlives a run: a call reads what the run before left in it.
enum class BufferKind : std::uint8_t { Input, Output, Intermediate, Constant, State };

struct ProgramBuffer {
  std::string name;  // ONNX name of the value or weight; unique within the program
  BufferKind kind{};
  DType dtype{};
  std::vector<Sint> shape;        // may hold Variables; empty for a scalar
  std::int64_t max_elements = 0;  // of the largest shape that the variables allow
  Array data;                     // Constant only
  bool laid_out = false;          // Constant: data is in the order in which its kernels read it, not in that of shape
  bool in_words = false;          // Constant: some kernel loads it in whole words
  bool of_companion = false;      // Constant: no call reads it, but one of a program beside this one (share_constants)
  int inner_axis = -1;            // of an intermediate that lies in another order than that of shape: the axis that is innermost,
  std::int64_t block = 0;         // and of how many of its elements in blocks; 0: all
  std::int64_t below = 0;         // Input of integers: a run checks that each is one of [0, below); 0: any may be
  bool by_value = false;          // Input of one element: the run function takes it by value

  std::int64_t max_bytes() const { return max_elements * bytes_of(dtype); }
};

/// Where what a search found stands.
struct TableRow {
  std::string file;
  int line = 0;
  auto operator<=>(const TableRow&) const = default;
};

/// One function of emitted code. Equal kernels are stored once and called several times.
struct ProgramKernel {
  std::string name;                                // C identifier without prefix: "conv_relu", unique within the program
  std::string shape_name;                          // tinygrad's: "r_4_8_8_3_3" after optimisation
  std::string opts;                                // "UPCAST 0 4, UNROLL 1 3": what the optimiser did, empty if nothing
  const LazyOp* ast = nullptr;                     // owned by the program's graph; what INTERP evaluates
  std::vector<KernelArgument> arguments;           // the buffers, as each call passes them
  std::string uops;                                // printed, for --dump
  UOpList code;                                    // the steps themselves, in the language's kernels
  Rendered text;                                   // the function in the program's language, named `name`; empty if there is no language
  std::vector<std::string> variables;              // names, in the order in which the kernel takes them after the buffers
  std::vector<Sint> global_size, local_size;       // launch dimensions, empty for C
  std::shared_ptr<const ExternalKernel> external;  // instead of an AST and a text: a function in C
  bool driver_groups = false;                      // global_size is in work-items, the driver chooses the work-groups (NOLOCALS)
  std::vector<ArgumentDistance> distances;         // arguments that may share memory in part; none if the kernel was not made for that
  bool backwards = false;                          // its loops were made to run from the last element to the first
  bool takes_sizes = false;                        // its last argument: what share_kernels found to differ from call to call
  std::string note{};                              // why it has not the steps that a search found; empty if it has, or if none searched
  std::vector<TableRow> rows{};                    // of such steps, taken or not; two where it has the loops of two products
  std::string shared{};                            // the loop that workers share; empty: one of them does it all
  std::int64_t indices_proved = 0;                 // LOAD and STORE indices of the linearised kernel, each proved in bounds

  /// Number of buffers and variables.
  std::size_t argument_count() const { return arguments.size() + variables.size(); }
};

/// The buffer that a call passes for one argument of its kernel.
struct CallArgument {
  int buffer = 0;
  Access access = Access::Read;
  /// read: bit k: what the call writes as its output k may lie over it (each element is read only at the position that is then written)
  std::uint32_t may_alias = 0;
  /// read: the element of the call's one output from which on all of the buffer's elements are copied as they are; -1: they are not.
  std::int64_t part = -1;
};

/// The buffers of the arguments with that access, in their order.
inline auto buffers_with(const std::vector<CallArgument>& arguments, Access access) {
  return arguments | std::views::filter([access](const CallArgument& a) { return a.access == access; }) |
         std::views::transform(&CallArgument::buffer);
}

struct ProgramCall {
  int kernel = 0;
  std::vector<CallArgument> arguments;
  std::vector<std::string> nodes;  // names of the ONNX nodes that the kernel computes, in graph order
  std::string short_name;          // C identifier of the main one: "conv_op2"
  Sint macs = 0, flops = 0;        // multiply-accumulates and operations, see Work in ir/lazyop.h
  Sint bytes = 0;                  // read and written at least once

  /// Buffers, in the order of the arguments; one that is passed for several arguments appears several times.
  auto buffers() const { return arguments | std::views::transform(&CallArgument::buffer); }
  auto reads() const { return buffers_with(arguments, Access::Read); }
  auto writes() const { return buffers_with(arguments, Access::Write); }
};

/// The calls [first, end) are repeated. Loops lie in each other or apart.
struct ProgramLoop {
  std::string counter;  // a variable that kernels in it take: 0, 1, ... count - 1
  Sint count;           // turns: a number or one of the program's variables
  int first = 0, end = 0;
};

struct ProgramVariable {
  std::string name;  // "batch"
  std::int64_t min = 0, max = 0;
};

/// Memory that outlives a run.
struct ProgramState {
  int buffer = 0;
  int first = -1;  // the Constant whose content the first run finds in it; -1: all bytes are 0
};

struct Program {
  const Language* language = nullptr;  // of the kernels' texts; null: the kernels have only ASTs
  std::vector<ProgramVariable> variables;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramCall> calls;
  std::vector<ProgramLoop> loops;    // by first call, outer ones first
  std::vector<int> inputs, outputs;  // buffers, in the model's order
  bool io_in_arena = false;          // the arena has room for these as well
  std::vector<Pool> pools;           // the arenas in which they may lie, the fastest first; empty: one of any size
  std::vector<ProgramState> states;
  Workers workers;                    // that run it together
  std::vector<std::string> folded;    // nodes that no call computes
  std::set<TableRow> rows;            // of its kernels, also of those that became one with others
  std::shared_ptr<const void> owner;  // keeps alive what the pointers point into
};

/// Whether two constants are the same bytes, read alike.
bool is_same_constant(const ProgramBuffer& a, const ProgramBuffer& b);
/// Gives `owner` the constants that `other` reads and it has not, so that both can read them in one place.
void share_constants(Program& owner, const Program& other);

/// Takes out the kernels that nothing calls.
void drop_unused_kernels(Program& program);

/// Whether a kernel of the program is a function in C.
bool has_external(const Program& program);
/// Functions and types of etch_math.h that the kernels use, sorted.
std::vector<std::string> helpers_of(std::span<const ProgramKernel> kernels);
inline std::vector<std::string> helpers_of(const Program& program) { return helpers_of(program.kernels); }
/// The functions for the target's instructions that the kernels call, as one text; empty if there are none.
std::string definitions_of(std::span<const ProgramKernel> kernels);
inline std::string definitions_of(const Program& program) { return definitions_of(program.kernels); }
/// What has to stand in front of kernels in C and CUDA, so that GCC makes of them what they say and keeps tiles in registers; empty if
/// they need nothing. An empty line ends each part.
std::string pragmas_for(std::span<const ProgramKernel> kernels);
/// Checks that every reference is in range, every buffer is written before it is read, constants have data, and names are
/// unique; throws InternalError.
void verify(const Program& program);
/// Buffers, kernels and calls, one per line.
std::string to_text(const Program& program);

}  // namespace etch
