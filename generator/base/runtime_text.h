// The files of runtime_c/ as text: etch writes them beside an emitted model and compiles host kernels with them.
#pragma once

#include <span>
#include <string_view>

namespace etch {

struct RuntimeFile {
  std::string_view name;  // "etch_runtime.h"
  std::string_view text;
};

/// All of them, sorted by name.
std::span<const RuntimeFile> runtime_files();
/// The one with that name; an unknown name is an InternalError.
std::string_view runtime_text(std::string_view name);

/// For files with tiles of integer sums: on small cores, GCC's first scheduling, its order of additions and of values that are used once
/// stretch the lives of values, so that the sums of a tile do not stay in registers.
inline constexpr std::string_view kTilesPragma =
    "/* GCC would add in an order of its own, in which values live longer, and sums of tiles would go to memory and back. */\n"
    "#if defined(__GNUC__) && !defined(__clang__) && (defined(__arm__) || defined(__riscv)) && !defined(__ARM_NEON)\n"
    "#pragma GCC optimize(\"no-schedule-insns\", \"no-tree-ter\", \"no-tree-reassoc\")\n"
    "#if defined(__ARM_ARCH_6M__) /* eight registers: fewer values are moved if those that are used most choose first */\n"
    "#pragma GCC optimize(\"ira-algorithm=priority\")\n"
    "#endif\n"
    "#endif\n";

/// For files with tiles of sums that are vectors. Predictive commoning keeps what the next turns of a loop read, too.
inline constexpr std::string_view kVectorTilesPragma =
    "/* GCC would keep elements for the next turns of a loop, for which sums leave no registers: it is cheaper to read them again. */\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"no-predictive-commoning\")\n"
    "#endif\n";

/// Text in front of C kernels that load under a mask, or sum up what was converted to integers.
inline constexpr std::string_view kBranchesPragma =
    "/* GCC 12 makes wrong vector code of some branches where it has AVX: let it keep them. */\n"
    "#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)\n"
    "#pragma GCC optimize(\"no-tree-loop-if-convert\")\n"
    "#endif\n";

/// Text in front of C kernels that round doubles to float.
inline constexpr std::string_view kRoundingsPragma =
    "/* GCC 12 leaves (double)(float)x out where it makes one vector of neighbours: let it make none. */\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"no-tree-slp-vectorize\")\n"
    "#endif\n";

}  // namespace etch
