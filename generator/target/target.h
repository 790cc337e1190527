// Target: the board or machine that C is generated for, as a value: core, registers, memories, toolchain, emulator. Each target is
// read from an XML file (targets/*.xml); no code depends on a target's name, only on its properties.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "target/caches.h"
#include "target/instruction.h"

namespace etch {

/// Floating point in hardware: none at all, float only (double is a library call), or both.
enum class Fpu { None, Single, Double };
std::string_view text(Fpu fpu);  // "none", "single", "double"

enum class MemoryKind { Ram, Flash };
std::string_view text(MemoryKind kind);  // "ram", "flash"

/// One memory region of the board.
struct Memory {
  std::string name;  // as link flags name it: {ram.origin}
  MemoryKind kind = MemoryKind::Ram;
  std::int64_t origin = 0;  // address of the first byte; 0 where the system chooses (host)
  std::int64_t size = 0;    // bytes
};

/// What may lie in a pool. Inputs and outputs are the caller's unless the arena was asked to have room for them.
enum class PoolContent { All, Intermediates, Io };
std::string_view text(PoolContent content);  // "all", "intermediates", "io"

/// A part of a memory that the model's tensors may take: each pool is an arena of its own. Targets list the fastest one first.
struct Pool {
  std::string name;       // lower-case letters and digits: of parameters and macros in C
  std::string memory;     // of kind ram, in which it is
  std::int64_t size = 0;  // bytes
  PoolContent holds = PoolContent::All;
  std::int64_t address = -1;  // where the self-test has this pool, if no linker uses that memory; -1: in a variable
};

/// Where a compiler keeps constants that would otherwise be copied into RAM at start-up: in an address space of its own, whose name
/// qualifies types in C.
struct ConstantSpace {
  std::string name;          // "__memx"; empty: constants are in the one space that there is
  std::string integer;       // an integer type as wide as its addresses: "__uint24"
  std::int64_t largest = 0;  // bytes of the largest object that the compiler accepts; 0: no limit

  explicit operator bool() const { return !name.empty(); }
};

/// About how many cycles a core takes: a sum over what it does, for cores whose manual says so.
struct CycleWeights {
  std::int64_t instruction = 0, load = 0, store = 0, taken = 0;  // cycles of each; the last three on top, `taken` of a taken branch
  std::string source;                                            // of the weights; empty: none are known

  explicit operator bool() const { return !source.empty(); }
  std::int64_t estimate(std::int64_t instructions, std::int64_t loads, std::int64_t stores, std::int64_t taken_branches) const {
    return instruction * instructions + load * loads + store * stores + taken * taken_branches;
  }
};
/// "1 an instruction, 1 more a load, 1 more a store, 2 more a taken branch (SOURCE)"
std::string text(const CycleWeights& weights);

/// The vectors that kernels may use: of floats, and of integers of 32 bits if `integers` says so.
struct Vector {
  std::int64_t bits = 0;       // width of one register; 0: scalar code only
  bool extensions = false;     // the compiler has GNU vector extensions (vector_size) and makes good code of them
  std::int64_t registers = 0;  // architectural vector registers; a tile keeps a few of them free for operands
  bool integers = false;       // it makes good code of vectors of integers too: bytes widened when they are loaded, narrowed when stored
  bool scalars = false;        // a vector is multiplied by a number where that is, in a register for scalars
  bool hides_equal = false;    // its compiler gets comparisons of floats wrong where it sees that all lanes are equal
};

/// What a compiler flag decides, and therefore where it is given when a user builds the project.
///   Code   how the model's own code is made: instruction set, vector width, scheduling, contraction of a*b+c. The emitted
///          CMakeLists.txt gives it to the model's library alone; objects with and without it may be linked together
///   Abi    what all objects of a program must agree on: how arguments are passed, which C library. Given by the toolchain file
///   Build  what a build type or the user's project decides: optimisation level, sections, macros of the C library
enum class FlagKind { Code, Abi, Build };
std::string_view text(FlagKind kind);  // "code", "abi", "build"

/// How emitted C becomes a program. `compilers` are command names, best first.
struct Toolchain {
  std::string package;                 // Debian's packages of all that it needs, with spaces between; may be empty
  std::string file;                    // in toolchains/, for CMAKE_TOOLCHAIN_FILE
  std::vector<std::string> compilers;  // use the first that is installed
  std::string linker;                  // the command that links where the compiler can't: with `link` but not `flags`; mostly empty
  std::vector<std::string> flags;      // of every compilation, and of linking by the compiler; all kinds, in the order of the file
  std::vector<FlagKind> flag_kinds;    // of each of `flags`
  std::vector<std::string> link;       // of linking only, before the libraries; memories are filled in already
  std::vector<std::string> libraries;  // last on the link line
  std::string triple;                  // as clang names the target; empty: the host's own
  std::string include;                 // folder of the C library's headers; empty: the host's own

  /// The flags of this kind, in their order.
  std::vector<std::string> flags_of(FlagKind kind) const;
};

/// What an emulator is given.
///   Board    an image for a machine without operating system: console, files and exit status go through semihosting
///   Process  a program for Linux: its system calls are those of the host
///   Avr      an image for an AVR, run by etch_avr with the library of simavr: the console is UART 0, and the program ends where it sleeps
///            with interrupts off, its exit status in GPIOR0
enum class EmulatorKind { Board, Process, Avr };

/// The program that stands in for the board. If `program` is empty, what is built runs on the host itself.
struct Emulator {
  EmulatorKind kind = EmulatorKind::Board;
  std::string package;            // Debian's package that has it; may be empty
  std::string program;            // "qemu-system-arm"
  std::vector<std::string> args;  // machine and devices; the caller adds what concerns the run
};

struct Target {
  std::string name;            // "cortex-m4f": the file's name without .xml
  std::string description;     // one line for `etch targets`
  std::string language = "c";  // of the kernels; renderer/language.h has the table of languages
  std::filesystem::path file;  // the file that it was read from and its line with <language>, for errors
  int language_line = 0;
  std::string core;  // as -mcpu or -march takes it
  Fpu fpu = Fpu::Double;
  bool fma = false;                              // a*b+c in one instruction
  std::int64_t cache_bytes = 0;                  // of the second-level cache, or of that part which one core has; 0: none is known
  std::int64_t first_cache_bytes = kFirstCache;  // of the one before it
  bool in_order = false;                         // the core starts instructions one after the other, so that their number counts
  std::int64_t parallelism = 1;                  // hardware threads that one run may use
  std::int64_t pointer_bits = 64;
  std::int64_t int_bits = 32;     // of C's int
  std::int64_t product_bits = 0;  // of the product of two int32, by which quantised values are rescaled; 0: that is done in float
  bool unsigned_bytes = false;    // are loaded in fewer instructions than signed ones
  ConstantSpace constants;
  Vector vector;
  std::int64_t integer_registers = 11;  // core registers that a loop's indices and pointers leave to a tile of integers
  std::int64_t float_registers = 16;    // of 32 bits, for scalars: the FPU's; without FPU the core registers that a call keeps
  std::int64_t arena_align = 16;        // bytes: the widest aligned access of a kernel
  CycleWeights cycles;
  std::vector<Memory> memories;       // empty: no limits are known
  std::vector<Pool> pools;            // empty: all tensors are in one arena
  std::vector<std::string> features;  // macros that a compiler with the Code flags predefines ("__AVX2__"); NAME.c checks for them
  std::vector<TargetInstruction> instructions;  // dot products and matrix products, best first
  std::vector<std::string> double_math;         // float functions that its C library computes in double: "exp2f", "log2f"
  std::vector<std::string> no_math;             // float functions that it does not have
  std::vector<std::string> library_math;        // float functions that are left to it, though etch has its own: "expf"
  Toolchain toolchain;
  Emulator emulator;
  std::filesystem::path tuning;  // table of what etch tune found for its kernels; empty: it names none

  /// Whether the C library's `function` ("exp2f") computes in double on this target, so that the runtime's own must be called.
  bool computes_in_double(std::string_view function) const;
  /// Whether the C library has no `function` ("erff").
  bool lacks(std::string_view function) const { return std::ranges::find(no_math, function) != no_math.end(); }
  /// Sum of the sizes of all memories of this kind; 0 where the target names none.
  std::int64_t bytes(MemoryKind kind) const;
  /// Whether programs for this target run on the machine that runs etch.
  bool is_host() const { return emulator.program.empty(); }
  /// Floats in one vector register; 1 where there are none.
  std::int64_t float_lanes() const { return vector.bits == 0 ? 1 : vector.bits / 32; }
};

/// Reads one target. Throws UserError ("targets/x.xml:12: ...") for an unknown element or attribute, for a value out of range, and
/// for an element that is missing or given twice.
Target read_target(const std::filesystem::path& file);

/// A description that was found. `hides` is the file of the same name in a later folder; empty where there is none.
struct TargetFile {
  std::string name;
  std::filesystem::path file, hides;
};

/// The targets of all folders: those of the first folder come first, sorted by name, and take precedence over later ones of the same
/// name.
std::vector<TargetFile> target_files(const std::vector<std::filesystem::path>& dirs);

/// The folder of the descriptions that come with etch.
std::filesystem::path own_targets_dir();
/// Where targets are looked for: in `dir`, if it is not empty, then in own_targets_dir().
std::vector<std::filesystem::path> target_dirs(const std::filesystem::path& dir = {});

/// Reads `name`.xml from the first of `dirs` that has it. An unknown name is a UserError that lists the known ones, and so is a
/// first folder without any description.
Target find_target(std::string_view name, const std::vector<std::filesystem::path>& dirs);
inline Target find_target(std::string_view name, const std::filesystem::path& dir) { return find_target(name, std::vector{dir}); }

/// The names of all targets in `dir`, sorted.
std::vector<std::string> target_names(const std::filesystem::path& dir);

}  // namespace etch
