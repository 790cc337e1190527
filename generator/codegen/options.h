// What generating one kernel takes and gives; the steps are Kernel + OptOps, Linearizer, UOp passes, renderer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// One step of the optimiser: UPCAST axis by amount (0 = the whole axis).
enum class OptOp : std::uint8_t { Upcast, Unroll, Local, Group, GroupTop, PadTo, Vector };
struct Opt {
  OptOp op{};
  int axis = 0;
  std::int64_t amount = 0;
  bool operator==(const Opt&) const = default;
};
std::string to_text(const Opt& opt);  // "UPCAST 0 4"

/// What the language and the target can do; filled from a Target by the caller, the defaults are plain scalar C.
struct CodegenOptions {
  std::string language = "c";            // "c" or "opencl"
  int vector_bits = 0;                   // GNU vector extensions of this width; 0 = scalar code only
  int float_registers = 16;              // accumulators that fit; bounds the heuristics' tiles
  bool register_tiles = false;           // scalar code fills the registers with sums, as vectors do; else tinygrad's heuristics
  bool has_local = false;                // work-groups and local memory (OpenCL)
  bool native_math = false;              // the C library's exp2f, log2f, powf, logf ... compute in float: call them, not runtime_c's
  bool double_is_native = true;          // false: no double arithmetic in the text (single-precision FPU)
  std::optional<std::vector<Opt>> opts;  // given: applied instead of the heuristics
  bool optimize = true;                  // false: no OptOps at all
};

/// A constant whose elements are at most that large is known to stay finite in a few products and sums.
inline constexpr double kBounded = 0x1p30;

/// How one kernel is to be called in the text.
struct KernelNames {
  std::string function;           // C identifier
  std::vector<std::string> args;  // of the buffers, output first
};

struct GeneratedKernel {
  std::string shape_name;  // "r_4_8_8_3_3"
  std::vector<Opt> opts;   // applied
  std::string uops;        // printed
  std::string source;
  std::vector<std::string> variables;
  /// OpenCL: three dimensions, innermost first: work-groups, and work-items in each. Empty for C.
  std::vector<Sint> global_size, local_size;
  std::int64_t indices_proved = 0;
  std::vector<std::string> helpers;  // functions and types of etch_math.h that the source uses, sorted
  /// For each buffer: the order in which the text reads it, if that is not the buffer's own. Element j of the new layout is
  /// the element of the old one at relayout[i]->expr_node(j). Only for buffers named in `constants`.
  std::vector<std::optional<ShapeTracker>> relayout;
};

}  // namespace etch
