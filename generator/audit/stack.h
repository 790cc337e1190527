// Worst-case stack use, from the compiler's own figures: the deepest path through the call graph, each function with the bytes
// that the compiler reports for it. What is not known is listed, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/listing.h"

namespace etch {

struct StackFunction {
  std::optional<std::int64_t> bytes;  // nullopt: no figure, or one that depends on run-time values (a VLA)
  std::set<std::string> callees;      // keys of the StackGraph
  bool indirect = false;              // calls through a pointer
};

/// By the compiler's name: static functions carry their file in front ("net.c:k0"), as -fcallgraph-info writes them.
using StackGraph = std::map<std::string, StackFunction>;

/// gcc -fcallgraph-info=su: one .ci file, functions with bytes and calls.
StackGraph parse_callgraph_info(std::string_view text);

/// gcc or clang -fstack-usage: one .su file, functions with bytes, no calls.
StackGraph parse_stack_usage(std::string_view text);

/// Adds to the bytes of each function what clang's .su file leaves out because its size is a multiple of the vector registers': spilled
/// vectors, which `remarks` of -Rpass-analysis=stack-frame-layout list as "Size: vscale x 8". An upper bound, as frames may have up to 16
/// bytes more to align them. Where `vscale` is 0, not known, such functions lose their figure.
StackGraph add_scalable_frames(StackGraph graph, std::string_view remarks, std::int64_t vscale);

/// objdump -d --no-show-raw-insn, for library functions, which have no .ci or .su file. A function's bytes are the sum of everything
/// that its instructions subtract from the stack pointer: an upper bound.
StackGraph parse_disassembly(std::string_view text, const InstructionSet& set);
/// The same for code whose functions run into each other, of architectures that say what leaves and what skips.
StackGraph parse_regions(std::string_view listing, const InstructionSet& set);

/// The union of both graphs. A function has the callees of both, and the bytes that `first` gives, else those of `second`. A bare
/// name in `second` means the static function of that name in `first` if there is exactly one.
StackGraph merge(const StackGraph& first, const StackGraph& second);

/// Possible targets of calls through pointers: caller -> callees, as bare or full names ({"etch_run", {"k0_conv", "k1_pool"}}).
using IndirectCalls = std::map<std::string, std::vector<std::string>>;

struct StackBound {
  std::optional<std::int64_t> bytes;    // nullopt if `unresolved` is not empty
  std::vector<std::string> path;        // the deepest one, entry first: "etch_run 56"
  std::vector<std::string> unresolved;  // "f: calls through a pointer", "g: no figure", "h: calls itself", sorted
  /// If everything unresolved is a function without a figure (mostly of a library): the deepest path with 0 bytes for these
  /// functions, and their names.
  std::optional<std::int64_t> known_bytes;
  std::vector<std::string> without_figure;
};

/// The deepest path from `entry`, its own bytes included. A call through a pointer by a function that `indirect` does not
/// list is unresolved; so is recursion.
StackBound worst_case_stack(const StackGraph& graph, std::string_view entry, const IndirectCalls& indirect = {});

/// The names of all functions that a call of `entry` can reach, itself included, sorted.
std::vector<std::string> reachable(const StackGraph& graph, std::string_view entry, const IndirectCalls& indirect = {});

}  // namespace etch
