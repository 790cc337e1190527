// The optimisation steps that the code generator may apply to one kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/workers.h"
#include "target/caches.h"
#include "target/instruction.h"

namespace etch {

class OptTable;

/// One step of the optimiser: UPCAST axis by amount (0 = the whole axis).
enum class OptOp : std::uint8_t {
  Upcast,     // copies of the arithmetic for elements that are not reduced
  Overlap,    // the same for an amount that does not divide the size: the last copies begin at size - amount, some of them done before
  Unroll,     // copies of the arithmetic for elements of a reduced axis
  Local,      // the work-items of a group share an axis: the innermost of those that they share
  LastLocal,  // the same, but the outermost of them
  Group,      // the work-items of a group share a reduced axis; each one's elements are far from each other
  GroupTop,   // the same, each one's elements are close to each other
  UpcastMid,  // in a grouped reduction: work-items share an axis while they reduce; the one that goes on alone has copies for it
  NoLocals,   // the driver chooses the work-groups; axis and amount are 0
  PadTo,      // rounds an axis up to a multiple of amount
  Vector,     // lanes of vectors
  Interior,   // a body without masks for the tiles where no mask hides anything; axis and amount are 0
  Outermost,  // the loop over an axis goes around all other loops; the amount is 0
  Block,  // the loop over an axis becomes two: one over blocks of `amount` turns, which goes around all other loops, and one in the block
  Prefetch,  // constants (of several stages: rows) are asked for one turn of the loop over an axis ahead of their sums; the amount is 0
  Pipeline,  // the first stage of the next turn of the innermost loop that is not reduced goes beside the second; axis and amount are 0
  PrefetchWrite,  // PREFETCHW: the lines of a cache that a tile stores into are asked for before its sums; axis and amount are 0
  Roll,           // windows of rows roll: each row is added to all windows that it is in, and read once; axis and amount are 0
  Zigzag,         // all loops run from the last turn to the first in every second turn of the loop around the kernel; axis and amount are 0
  Backwards,      // all loops that are not reduced run from their last element to the first; axis and amount are 0
  Tensor          // TC: instruction `amount` of the target, on choice `axis` of axes (Kernel::tensor_choices)
};
struct Opt {
  OptOp op{};
  int axis = 0;
  std::int64_t amount = 0;
  bool operator==(const Opt&) const = default;
};
std::string to_text(const Opt& opt);                // "UPCAST 0 4"
std::string to_text(const std::vector<Opt>& opts);  // joined by commas
/// The steps that such a text names; nullopt if it is none. An empty text has no steps.
std::optional<std::vector<Opt>> opts_of(std::string_view text);

/// How many work-items the heuristics let share a row of `size` elements in a kernel of several stages; 1: one computes it alone. Each of
/// them adds up the sums of all, which is little work beside its own part.
std::int64_t items_of_row(std::int64_t size);

/// What the language and the target can do; filled from a Target by the caller, the defaults are plain scalar C.
struct CodegenOptions {
  int vector_bits = 0;                           // GNU vector extensions of this width; 0 = scalar code only
  bool integer_vectors = false;                  // those of int32 too, loaded from and stored as smaller integers
  bool scalar_factors = false;                   // a number that multiplies a vector takes none of the registers for vectors
  int float_registers = 16;                      // accumulators that fit; bounds the heuristics' tiles
  int integer_registers = 11;                    // the same for sums of integers, beside what indices take
  std::int64_t cache_bytes = 0;                  // of the cache from which a core reads again what it uses often; 0: there is none
  std::int64_t first_cache_bytes = kFirstCache;  // of the one before it, where there is one
  bool in_order = false;                         // the number of instructions counts, more than what they wait for
  bool register_tiles = false;                   // scalar code gets register tiles as vector code does; else tinygrad's heuristics
  bool small_code = false;                       // kernels of one kind take the same steps whatever their sizes, with one body
  bool has_local = false;                        // work-groups and local memory (OpenCL, CUDA)
  bool native_math = false;                     // the C library's exp2f, log2f, powf, logf ... compute in float: call them, not runtime_c's
  std::vector<std::string> library_math;        // functions that the C library computes, as it calls them; else see codegen/math.h
  std::vector<TargetInstruction> instructions;  // dot products and matrix products that the language can write for the target
  std::optional<std::vector<Opt>> opts;         // if given, applied instead of the heuristics
  std::shared_ptr<const OptTable> tuned{};      // else, if given, what a search found for kernels goes before the heuristics
  bool hides_equal = false;                     // compilers must not see that a vector of floats that is compared has equal lanes
  bool no_rint = false;                         // it has no rintf: call runtime_c's
  bool narrow_int = false;                      // C's int has 16 bits
  std::string constant_space{};                 // qualifier of pointers to constants, see ConstantSpace; empty: they need none
  std::int64_t largest_object = 0;              // bytes up to which such a pointer takes an index; 0: any
  bool optimize = true;                         // false: no OptOps at all
  bool overlap = false;    // an output may lie over a part of an input: loops follow the output's order in memory, and the text keeps it
  bool backwards = false;  // with overlap: from the last element to the first
  std::string counter{};   // the variable that counts the turns of the loop around the kernel, if there is one
  Workers workers{};       // that share the outer loops, in languages without a grid
};

}  // namespace etch
